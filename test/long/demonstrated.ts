/** What a demonstration of some start day shows whoever looks at it first. */
import type { RouteAnswer, RouteName } from "../../contract/api/routes.ts";
import { joined } from "../people/support.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";

const owner = "Ada Young";
const msPerDay = 86_400_000;

/** 30 days on which the demonstration may begin, in Unix days, each with 3 seeds. */
export const starts: readonly (readonly [day: number, seed: number])[] = Array.from(
  { length: 30 },
  (_, index) => [1, 2, 3].map((seed) => [Date.UTC(2026, 10, 26) / msPerDay + index, seed] as const),
).flat();

/** @param sent the query of the address, and the id in its path */
type Ask = <Name extends RouteName & `GET ${string}`>(
  name: Name,
  sent?: { readonly query?: string; readonly id?: string },
) => Promise<RouteAnswer<Name>>;

/** A server whose clock showed the morning of this day when the demonstration of the seed began. The caller
 * stops it. */
export async function demonstrated(day: number, seed: number) {
  const aheadMs = (day + 9 / 24) * msPerDay - Date.now();
  const server = await Server.start({ time: { aheadMs, scheduleMs: null } });
  await server.ready();
  await server.command("organization", "create", "Own");
  const { email } = await joined(server, "Own", "owner", owner);
  const printed = await server.command("demo", "--owner", email, "--seed", String(seed));
  const key = (await server.command("key", "create", "--organization", "Demo")).trim();
  const ask: Ask = async (name, { query = "", id = "" } = {}) => {
    const address = server.url + name.slice("GET ".length).replace(/:\w+/, id) + query;
    const response = await fetch(address, { headers: { Authorization: `Bearer ${key}` } });
    if (response.status !== 200) throw new Error(`${address}: ${await response.text()}`);
    return (await response.json()) as never;
  };
  return { server, printed, ask };
}

/** The counts of what has to be there on every start day. */
export async function shownBy(ask: Ask) {
  const card = await ask("GET /api/model", { query: "?kind=account" });
  const { expectedLoss } = await ask("GET /api/revenue/at-risk");
  const { rows } = await ask("GET /api/call-list", { query: "?limit=10" });
  const toCall = rows.flatMap(({ accountId, rankValue }) => (rankValue === null ? [] : (accountId ?? [])));
  const { rules } = await ask("GET /api/alert-rules");
  const segments = await until(
    "segments are counted",
    async () => (await ask("GET /api/segment-sizes")).segments,
    (all) => all.every(({ members }) => members !== null),
  );
  const { accounts } = await ask("GET /api/accounts", { query: "?limit=200&sort=mrr" });
  const { total: tasks } = await ask("GET /api/tasks");
  const { views } = await ask("GET /api/views");
  const worked = await Promise.all(
    toCall.slice(0, 4).map(async (id) => {
      const { notes } = await ask("GET /api/accounts/:accountId/notes", { id });
      const { contacts } = await ask("GET /api/accounts/:accountId/contacts", { id });
      const { pulses } = await ask("GET /api/accounts/:accountId/pulses", { id });
      return { notes: notes.length, contacts: contacts.length, pulses: pulses.length };
    }),
  );
  const sum = (of: "notes" | "contacts" | "pulses") => worked.reduce((all, each) => all + each[of], 0);
  return {
    departures: card.trainedOn?.churnedLabels ?? 0,
    model: card.model,
    mrrAtRisk: expectedLoss?.mrr ?? 0,
    toCall: toCall.length,
    segments: segments.map(({ members }) => members ?? 0),
    alerts: rules.map(({ openAlerts }) => openAlerts),
    owned: accounts.filter(({ owner: name }) => name === owner).length,
    views: views.length,
    tasks,
    notes: sum("notes"),
    contacts: sum("contacts"),
    pulses: sum("pulses"),
  };
}

/** What is missing of that. */
export function missingOf(shown: Awaited<ReturnType<typeof shownBy>>): string[] {
  const isThere: Record<keyof typeof shown, boolean> = {
    departures: shown.departures >= 400,
    model: shown.model !== null,
    mrrAtRisk: shown.mrrAtRisk > 0,
    toCall: shown.toCall === 10,
    segments: shown.segments.length === 2 && shown.segments.every((members) => members > 0),
    alerts: shown.alerts.length === 4 && shown.alerts.every((open) => open > 0),
    owned: shown.owned > 0,
    views: shown.views === 1,
    tasks: shown.tasks === 4,
    notes: shown.notes === 2,
    contacts: shown.contacts >= 3,
    pulses: shown.pulses === 2,
  };
  return Object.entries(isThere).flatMap(([what, there]) => (there ? [] : [what]));
}
