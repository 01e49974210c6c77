/** Fills an installation with one of everything that a release keeps, for test/releases/make.ts, and reads it
 * again. */
import { join } from "node:path";
import { joined, password } from "../people/support.ts";
import type { Server } from "../server.ts";

const organization = "Movers & Söhne";

const day = 86_400_000;

/** Everything that the test of a release needs to know of its installation. */
export interface Filled {
  readonly token: string;
  readonly revokedToken: string;
  readonly readKey: string;
  readonly owner: { readonly email: string; readonly password: string };
  /** The path of a webhook, with its token. */
  readonly webhook: string;
  /** Retention is asked for from this day on. */
  readonly from: string;
  /** The last day with a score. */
  readonly scoredOn: string;
}

/** Sends and sets everything. Afterwards all of it is in the warehouse. */
export async function fill(server: Server): Promise<Filled> {
  await server.ready();
  const token = await server.organization(organization, "--timezone", "Europe/Paris");
  const owner = await joined(server, organization, "owner", "Olga Owner");
  await joined(server, organization, "viewer", "Vera Viewer");
  const at = (path: string) => `${path}?organization=${owner.organization}`;
  const named = ["--organization", organization];

  const revokedToken = (await server.command("token", "create", ...named, "--name", "old")).trim();
  const { tokens } = await owner.json<{ tokens: { id: number; name: string }[] }>("GET", at("/api/tokens"));
  await owner.done("DELETE", at(`/api/tokens/${tokens.find(({ name }) => name === "old")?.id}`));
  const readKey = (await server.command("key", "create", ...named, "--right", "erase")).trim();
  await owner.json("PATCH", at("/api/settings"), {
    churnHorizonDays: 14,
    churnTargets: { user: { by: "event", event: "contract_ended" } },
    passiveEvents: ["mail_opened"],
    keyEvents: ["report_created"],
    eventWeights: { report_created: 3 },
    healthWeights: { engagement: 50, outlook: 30, momentum: 20, adoption: 0 },
  });
  await owner.json("POST", at("/api/views"), { page: "users", name: "Pro", query: "plan=pro" }, 201);
  await server.command("exclude", "add", ...named, "--email-domain", "vendor.example");
  const mapping = { userId: "person", event: { path: "what" }, timestamp: "when" };
  await owner.json("POST", at("/api/webhooks"), { name: "forms", mapping }, 201);
  await owner.json("PATCH", at("/api/stripe"), { signingSecrets: [`whsec_${"a".repeat(32)}`] });

  const todayMs = Math.floor(Date.now() / day) * day;
  await sendAll(server, token, [...people(todayMs), ...happenings(todayMs)]);
  await sendSources(server, token);
  await importEvents(server);
  await erase(server, readKey, "u58");
  await server.exported("events", organization);
  await server.command("score", ...named);
  return {
    token,
    revokedToken,
    readKey,
    owner: { email: owner.email, password },
    webhook: `/v1/webhooks/forms/${token}`,
    from: new Date(todayMs - 84 * day).toISOString().slice(0, 10),
    scoredOn: new Date(todayMs).toISOString().slice(0, 10),
  };
}

/** Items that reach the ledger while nothing is loaded. */
export async function sendUnloaded(server: Server, token: string): Promise<void> {
  const items = Array.from({ length: 40 }, (_, n) => [
    { type: "track", userId: `u${n}`, event: "unloaded", messageId: `unloaded-${n}`, properties: { n } },
    { type: "identify", userId: `late${n}`, email: `late${n}@example.com`, properties: { plan: "pro" } },
  ]);
  await sendAll(server, token, items.flat());
}

/** Everything about the organization that a later version has to show as it was. */
export async function shown(server: Server, { readKey, from, scoredOn }: Filled) {
  const sorted = (rows: readonly object[]) => rows.map((row) => JSON.stringify(withSortedKeys(row))).sort();
  const ask = async (path: string) => {
    const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${readKey}` } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const events = sorted(await server.exported("events", organization));
  const { cells } = await ask(`/api/retention?from=${from}&to=${scoredOn}&periods=12`);
  const history = async (userId: string) => {
    const { days } = await ask(`/api/users/${userId}/score/history?from=${scoredOn}&to=${scoredOn}`);
    return days;
  };
  return {
    events,
    users: sorted(await server.exported("users", organization)),
    accounts: sorted(await server.exported("accounts", organization)),
    settings: await ask("/api/settings"),
    retention: { cells: cells as object[] },
    scores: { u1: await history("u1"), u40: await history("u40") },
  };
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, withSortedKeys(inner)]),
  );
}

function people(todayMs: number): object[] {
  return Array.from({ length: 60 }, (_, n) => {
    const user = {
      type: "identify",
      userId: `u${n}`,
      email: n === 59 ? "probe@vendor.example" : `u${n}@example.com`,
      isAccountOwner: n < 7,
      account: { id: `a${n % 7}`, name: `Account ${n % 7}` },
    };
    const joinedAt = new Date(todayMs - (84 - (n % 40)) * day).toISOString();
    const changedAt = new Date(todayMs - 20 * day).toISOString();
    const properties = { plan: n % 3 === 0 ? "free" : "pro", odd: "\u0000\\'\n", n };
    return [
      { ...user, timestamp: joinedAt, properties },
      ...(n % 5 === 0 ? [{ ...user, timestamp: changedAt, properties: { plan: "enterprise" } }] : []),
    ];
  }).flat();
}

function happenings(todayMs: number): object[] {
  const names = ["report_created", "opened", "shared", "mail_sent", "exported"];
  return Array.from({ length: 2_500 }, (_, n) => {
    const user = n % 60;
    // From the day on which the user came, and for half of them until three weeks ago.
    const lastDay = user % 2 === 0 ? 1 : 21;
    const daysAgo = lastDay + ((n * 7) % (84 - (user % 40) - lastDay));
    return {
      type: "track",
      userId: `u${user}`,
      event: names[n % 5],
      messageId: `m${n}`,
      timestamp: new Date(todayMs - daysAgo * day + (n % 86_000) * 1_000).toISOString(),
      properties: { page: `p${n % 11}` },
    };
  });
}

async function sendAll(server: Server, token: string, items: readonly object[]): Promise<void> {
  for (let start = 0; start < items.length; start += 500) {
    const batch = items.slice(start, start + 500);
    await taken(await server.post("/batch", token, { batch }), 201);
  }
}

/** A visitor whose events are held for an identify, and one who is linked to a user. */
async function sendSources(server: Server, token: string): Promise<void> {
  const sent: readonly (readonly [string, object])[] = [
    ["/v1/track", { anonymousId: "visitor", event: "Held Event", messageId: "held" }],
    ["/v1/track", { anonymousId: "linked", event: "Linked Event", messageId: "linked" }],
    ["/v1/identify", { anonymousId: "linked", userId: "u2", messageId: "link" }],
  ];
  for (const [path, body] of sent) await taken(await server.post(path, token, body), 200);
}

/** Imports a file of 30 events. A second import of the same file changes nothing, because the ledger knows
 * the file. */
export async function importEvents(server: Server): Promise<string> {
  const file = join(import.meta.dir, "imported.csv");
  return server.command("import", file, "--organization", organization);
}

async function erase(server: Server, key: string, userId: string): Promise<void> {
  const headers = { Authorization: `Bearer ${key}` };
  await taken(await fetch(`${server.url}/api/users/${userId}`, { method: "DELETE", headers }), 200);
}

async function taken(response: Response, status: number): Promise<void> {
  if (response.status !== status) throw new Error(`${response.status}: ${await response.text()}`);
}
