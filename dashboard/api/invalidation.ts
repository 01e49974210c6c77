/** Which answers are asked for again when something was changed. */
import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import type { Changes, Reads } from "./paths.ts";

const readsOfDestinations = ["/api/destinations", "/api/deliveries", "/api/audit-log"] as const;
const changesOfDestinations = {
  "POST /api/destinations": readsOfDestinations,
  "PATCH /api/destinations/:id": readsOfDestinations,
  "DELETE /api/destinations/:id": readsOfDestinations,
  "POST /api/destinations/:id/secret": readsOfDestinations,
  "POST /api/destinations/:id/test": readsOfDestinations,
  "POST /api/destinations/:id/held": readsOfDestinations,
  "POST /api/deliveries/:id/again": readsOfDestinations,
  // A member's digest is a destination.
  "PUT /api/own-digest": ["/api/own-digest", ...readsOfDestinations],
} as const;

const readsOfAlerts = [
  "/api/alerts",
  "/api/alert-rules",
  "/api/alert-rules/figures",
  "/api/audit-log",
  "/api/call-list",
  "/api/results",
  "/api/week-summary",
] as const;
const changesOfAlerts = {
  "PATCH /api/alerts/:id": readsOfAlerts,
  "PATCH /api/users/:userId/call": readsOfAlerts,
  "PATCH /api/accounts/:accountId/call": readsOfAlerts,
  "POST /api/alert-rules": readsOfAlerts,
  "PUT /api/alert-rules/:id": readsOfAlerts,
  "DELETE /api/alert-rules/:id": readsOfAlerts,
  "POST /api/alert-rules/:id/pause": readsOfAlerts,
  "POST /api/alert-rules/:id/resume": readsOfAlerts,
} as const;

const readsOfNotes = [
  "/api/users/:userId/notes",
  "/api/accounts/:accountId/notes",
  "/api/users/:userId/timeline",
  "/api/accounts/:accountId/timeline",
  "/api/audit-log",
] as const;
const changesOfNotes = {
  "POST /api/users/:userId/notes": readsOfNotes,
  "POST /api/accounts/:accountId/notes": readsOfNotes,
  "PATCH /api/notes/:id": readsOfNotes,
  "DELETE /api/notes/:id": readsOfNotes,
} as const;
const readsOfPulses = [
  "/api/accounts/:accountId/pulses",
  "/api/accounts/:accountId/timeline",
  "/api/audit-log",
] as const;
const changesOfPulses = {
  "POST /api/accounts/:accountId/pulses": readsOfPulses,
  "DELETE /api/pulses/:id": readsOfPulses,
} as const;
const readsOfTasks = [
  "/api/users/:userId/tasks",
  "/api/accounts/:accountId/tasks",
  "/api/tasks",
  "/api/call-list",
  "/api/results",
  "/api/users/:userId/timeline",
  "/api/accounts/:accountId/timeline",
  "/api/audit-log",
] as const;
const changesOfTasks = {
  "POST /api/users/:userId/tasks": readsOfTasks,
  "POST /api/accounts/:accountId/tasks": readsOfTasks,
  "PATCH /api/tasks/:id": readsOfTasks,
  "DELETE /api/tasks/:id": readsOfTasks,
} as const;

const readsOfSegments = ["/api/segments", "/api/segment-sizes", "/api/audit-log"] as const;

/** Changes after which only these paths say something else. After any other change all paths may. */
const concerned: Partial<Record<keyof Changes, readonly (keyof Reads)[]>> = {
  // The pages begin anew.
  "DELETE /api/organization": [],
  "POST /api/alert-rules/preview": [],
  "POST /api/settings/preview": [],
  "POST /api/views": ["/api/views"],
  "PATCH /api/views/:id": ["/api/views"],
  "DELETE /api/views/:id": ["/api/views"],
  "POST /api/tokens": ["/api/tokens", "/api/audit-log"],
  "DELETE /api/tokens/:id": ["/api/tokens", "/api/audit-log"],
  "POST /api/read-keys": ["/api/read-keys", "/api/audit-log"],
  "DELETE /api/read-keys/:id": ["/api/read-keys", "/api/audit-log"],
  "PATCH /api/members/:id": ["/api/members", "/api/audit-log"],
  "POST /api/invitations": ["/api/members", "/api/audit-log"],
  "DELETE /api/invitations/:id": ["/api/members", "/api/audit-log"],
  // A changed filter changes the figures of its segment as well.
  "POST /api/segments": readsOfSegments,
  "POST /api/retention/segment": readsOfSegments,
  "DELETE /api/segments/:id": readsOfSegments,
  "POST /api/imports": ["/api/imports", "/api/audit-log"],
  "POST /api/imports/:id/check": ["/api/imports", "/api/imports/:id"],
  "POST /api/imports/:id/run": ["/api/imports", "/api/imports/:id", "/api/audit-log"],
  "DELETE /api/imports/:id": ["/api/imports", "/api/audit-log"],
  ...changesOfAlerts,
  ...changesOfDestinations,
  ...changesOfNotes,
  ...changesOfPulses,
  ...changesOfTasks,
  "POST /api/webhooks": ["/api/webhooks", "/api/sources", "/api/audit-log"],
  "PATCH /api/webhooks/:id": ["/api/webhooks", "/api/sources", "/api/audit-log"],
  "DELETE /api/webhooks/:id": ["/api/webhooks", "/api/sources", "/api/audit-log"],
  "PATCH /api/stripe": ["/api/stripe", "/api/sources", "/api/audit-log"],
};

/** Changes that are stored as events or traits. Timelines, lists and accounts show them up to two seconds
 * later. */
const followed: readonly (keyof Changes)[] = [
  "POST /api/users/:userId/contacts",
  "PATCH /api/users/:userId/owner",
  "PATCH /api/accounts/:accountId/owner",
  "PATCH /api/users/:userId/churn-reason",
  "PATCH /api/accounts/:accountId/churn-reason",
];
const followedAfterMs = 3_000;

/** Asks again for what a change may have changed, and once more for what follows it. Lists that were read on
 * are read from their beginning: their pages would be asked for one after another. */
export async function invalidate(
  client: QueryClient,
  organization: number,
  route: keyof Changes,
): Promise<void> {
  const paths: readonly unknown[] | undefined = concerned[route];
  const filter = {
    queryKey: [organization],
    predicate: ({ queryKey }: { readonly queryKey: readonly unknown[] }) =>
      paths === undefined || paths.includes(queryKey[1]),
  };
  if (followed.includes(route)) setTimeout(() => void client.invalidateQueries(filter), followedAfterMs);
  client.setQueriesData<unknown>(filter, (data: unknown) => (isReadOn(data) ? firstPageOf(data) : data));
  await client.invalidateQueries(filter);
}

function isReadOn(data: unknown): data is InfiniteData<unknown> {
  const pages = typeof data === "object" && data !== null && "pages" in data ? data.pages : undefined;
  return Array.isArray(pages) && pages.length > 1;
}

function firstPageOf({ pages, pageParams }: InfiniteData<unknown>): InfiniteData<unknown> {
  return { pages: pages.slice(0, 1), pageParams: pageParams.slice(0, 1) };
}
