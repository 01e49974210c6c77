/** What the team of the demonstration's vendor has set up and done: segments, alert rules, a view, tasks, notes and contacts. */
import type { RouteBody } from "../../contract/api/routes.ts";
import { msPerDay } from "../../server/calendar/calendar.ts";
import type { Api } from "../actions/api.ts";

/** Segments of accounts. */
const segments = [
  { name: "Enterprise", filter: { subscriptionPlan: "enterprise" } },
  { name: "Renews within 60 days", filter: { renewsWithinDays: 60 } },
] as const;

/** Rules about accounts, two of them about those of the second segment. Who is inside at the first scores has an alert. */
const rules: readonly (Pick<RouteBody<"POST /api/alert-rules">, "name" | "condition"> & {
  readonly isOfRenewing?: true;
})[] = [
  { name: "High churn risk", condition: { kind: "riskBand", band: "high" } },
  {
    name: "Weak before a renewal",
    condition: { kind: "healthBelow", below: 40 },
    isOfRenewing: true,
  },
  {
    name: "No report in three weeks",
    condition: { kind: "keyEventUnseen", event: "report_created", days: 21 },
    isOfRenewing: true,
  },
];
/** How long the first alerts may take after the first scores. */
const alertPatienceMs = 60_000;

/** By the place of the account on the call list. */
const tasks = [
  { place: 0, title: "Ask what would make them stay", dueInDays: 1 },
  { place: 1, title: "Offer a yearly plan before they renew", dueInDays: 4 },
  { place: 2, title: "Find out who uses it now", dueInDays: -1 },
];
const notes = [
  { place: 0, text: "A new head of operations wants fewer tools. She decides at the end of the quarter." },
  { place: 3, text: "They asked for single sign-on twice. It is on our list for spring." },
];
const contacts = [
  { place: 1, daysAgo: 2, kind: "call", text: "No answer, tried twice." },
  { place: 2, daysAgo: 6, kind: "email", text: "Sent them a summary of last month." },
  { place: 3, daysAgo: 16, kind: "meeting", text: "Went through their reports. One team has stopped." },
] as const;

/** Sets up segments, alert rules and a view, once. @returns false when the organization has segments already */
export async function addRules({ ask }: Api): Promise<boolean> {
  if ((await ask("GET /api/segments")).segments.length > 0) return false;
  const ids: number[] = [];
  for (const { name, filter } of segments) {
    ids.push((await ask("POST /api/segments", { body: { kind: "accounts", name, filter } })).id);
  }
  for (const { isOfRenewing, ...rule } of rules) {
    const segment = isOfRenewing ? ids[1] : undefined;
    const scope = { kind: "accounts" as const, ...(segment !== undefined && { segment }) };
    await ask("POST /api/alert-rules", { body: { ...rule, scope, includeCurrent: true } });
  }
  await ask("POST /api/views", { body: { page: "accounts", name: "Largest first", query: "sort=mrr" } });
  return true;
}

/** What was done about the first accounts of the call list. @param owner the e-mail of who does the tasks, if a team member */
export async function addWork(
  { ask, installation, organization }: Api,
  owner: string | undefined,
  nowMs: number,
): Promise<void> {
  const { rows } = await ask("GET /api/call-list", { query: { limit: 10 } });
  const accounts = rows.flatMap(({ accountId }) => accountId ?? []);
  const members = await installation.ledger.members.list(organization.id);
  const assignee = members.find(({ email }) => email === owner)?.id ?? null;
  const inDays = (days: number) => new Date(nowMs + days * msPerDay).toISOString();
  const pathOf = (place: number) => {
    const accountId = accounts[place];
    return accountId === undefined ? [] : [{ accountId }];
  };
  for (const { place, title, dueInDays } of tasks) {
    const body = { title, due: inDays(dueInDays).slice(0, 10), assignee };
    for (const path of pathOf(place)) await ask("POST /api/accounts/:accountId/tasks", { path, body });
  }
  for (const { place, text } of notes) {
    for (const path of pathOf(place))
      await ask("POST /api/accounts/:accountId/notes", { path, body: { text } });
  }
  for (const { place, daysAgo, kind, text } of contacts) {
    for (const { accountId } of pathOf(place)) {
      const { users } = await ask("GET /api/users", { query: { account: accountId, limit: 1 } });
      const body = { kind, text, timestamp: inDays(-daysAgo) };
      for (const { userId } of users)
        await ask("POST /api/users/:userId/contacts", { path: { userId }, body });
    }
  }
}

/** Waits until the rules have seen the first scores. The server looks every few seconds. @returns false when they have not in time */
export async function untilDecided({ ask }: Api): Promise<boolean> {
  const endMs = performance.now() + alertPatienceMs;
  const isDecided = async () =>
    (await ask("GET /api/alert-rules")).rules.every(({ decidedThrough }) => decidedThrough !== null);
  while (!(await isDecided())) {
    if (performance.now() > endMs) return false;
    await Bun.sleep(200);
  }
  return true;
}
