/** The state that figures report about themselves: freshness, a rebuild after a new timezone, and the nightly
 * check. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rekindle, Server } from "../server.ts";
import { inLedger, openWarehouseOf, type RunInLedger } from "../stored.ts";
import { becomes, until } from "../until.ts";
import { answer, newKey } from "./operation-support.ts";
import { send, user } from "./support.ts";

export const runsOn = { postgres: true };

interface Freshness {
  readonly loadedUpto: string | null;
  readonly rebuilding: { readonly since: string; readonly progress: number } | null;
  readonly excludedUsers: number;
  readonly timezone: string;
  readonly silentSources: readonly object[];
  readonly earlierScores: object | null;
  readonly loading: object | null;
  readonly failures: readonly object[];
}

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-health-"));
/** Nothing scores, so that freshness says the same throughout. */
const time = { scheduleMs: null };
let server: Server;
let key: string;

beforeAll(async () => {
  server = await Server.start({ dataDir, time });
  const token = await server.organization("Acme");
  key = await newKey(server, "Acme");
  await server.ready();
  await send(server, "/identify", token, user("u", { properties: { plan: "a" } }));
  await send(server, "/identify", token, user("u", { isAccountOwner: true }));
  await send(server, "/identify", token, user("u", { properties: { plan: "b" } }));
  await send(server, "/track", token, { userId: "u", event: "e", timestamp: "2026-03-02T20:00:00Z" });
});
afterAll(async () => {
  await server.kill("SIGTERM");
  rmSync(dataDir, { recursive: true });
});

async function freshness(path = "/api/retention"): Promise<Freshness> {
  return (await answer<{ freshness: Freshness }>(server, key, path)).freshness;
}

/** Changes the ledger of a server that is stopped, and starts it again. */
async function restartedAfter(change: (run: RunInLedger) => Promise<unknown>): Promise<void> {
  await server.kill("SIGTERM");
  await inLedger(dataDir, change);
  server = await Server.start({ dataDir, time });
  await server.ready();
}

test("every figure says up to when it is complete, and of which timezone its days are", async () => {
  const beforeMs = Date.now();
  await server.exported("events", "Acme");
  for (const path of ["/api/retention", "/api/active-users?days=3"]) {
    const found = await freshness(path);
    expect(found).toEqual({
      loadedUpto: expect.any(String),
      rebuilding: null,
      excludedUsers: 0,
      timezone: "UTC",
      silentSources: [],
      earlierScores: null,
      loading: null,
      failures: [],
    });
    expect(Date.parse(found.loadedUpto ?? "")).toBeGreaterThanOrEqual(beforeMs);
  }
});

test("while a row waits, a figure does not claim to have what was acknowledged after it", async () => {
  const analysis = server.analysisPid() ?? 0;
  const token = (await server.command("token", "create", "--organization", "Acme")).trim();
  process.kill(analysis, "SIGSTOP");
  let waitingMs: number;
  try {
    await send(server, "/track", token, { userId: "u", event: "waits", timestamp: "2026-03-02T21:00:00Z" });
    waitingMs = Date.now();
    // A claim from after this instant is told from one before it.
    await Bun.sleep(50);
  } finally {
    // Its loader goes on with a freeze that it requested before or after. The figure comes before or after
    // that.
    process.kill(analysis, "SIGCONT");
  }
  // An event from before the claimed instant is there. Null claims nothing.
  for (let look = 0; look < 20; look += 1) {
    const { loadedUpto } = await freshness();
    const { events } = await answer<{ events: { event: string }[] }>(server, key, "/api/users/u/timeline");
    const isClaimed = loadedUpto !== null && Date.parse(loadedUpto) >= waitingMs;
    const names = events.map(({ event }) => event);
    expect({ loadedUpto, waitingMs, names }).toEqual({
      loadedUpto,
      waitingMs,
      names: isClaimed || names.length !== 1 ? ["waits", "e"] : ["e"],
    });
  }
  await becomes(async () => Date.parse((await freshness()).loadedUpto ?? "") >= waitingMs, true);
});

test("a new timezone is said at once, its rebuild too until it is done, and then days are the new ones", async () => {
  const beforeMs = Date.now();
  await server.command("organization", "set", "Acme", "--timezone", "Asia/Tokyo");
  const asked = await freshness();
  if (asked.rebuilding !== null) {
    expect(Date.parse(asked.rebuilding.since)).toBeWithin(beforeMs, Date.now() + 1);
    expect(asked.rebuilding.progress).toBeWithin(0, 1.01);
  }
  expect(asked.timezone).toBe("Asia/Tokyo");
  await becomes(async () => (await freshness()).rebuilding, null);
  const cohort = "/api/retention?from=2026-03-02&to=2026-03-02&periods=1";
  const { cells } = await answer<{ cells: { cohortDay: string }[] }>(server, key, cohort);
  expect(cells).toHaveLength(1);
  const user = await answer<{ firstSeenDay: string }>(server, key, "/api/users/u");
  expect(user.firstSeenDay).toBe("2026-03-03");
  expect(await server.command("organization", "list")).toMatch(/Acme .*Asia\/Tokyo .* up to date/);
});

test("a rebuild that is still to come is said by figures and by the list of organizations", async () => {
  const seen = new Set<string>();
  // A late look finds the rebuild finished, so the test repeats it.
  while (seen.size === 0) {
    await restartedAfter(
      (run) =>
        run`UPDATE organizations SET rebuild_pending = TRUE, rebuild_asked_at_ms = 1000 WHERE name = 'Acme'`,
    );
    await until(
      "the rebuild is done",
      async () => {
        const { rebuilding } = await freshness();
        if (rebuilding !== null) seen.add(rebuilding.since);
        return rebuilding;
      },
      (rebuilding) => rebuilding === null,
      { everyMs: 20 },
    );
  }
  expect([...seen]).toEqual(["1970-01-01T00:00:01.000Z"]);
  await server.kill("SIGTERM");
  await rekindle(dataDir, "organization", "set", "Acme", "--timezone", "UTC");
  expect((await rekindle(dataDir, "organization", "list")).stdout).toMatch(/Acme .*UTC .* to be rebuilt/);
  server = await Server.start({ dataDir, time });
  await server.ready();
  await becomes(async () => (await freshness()).rebuilding, null);
});

test("doctor finishes a rebuild that a crash cut off half-way, before it compares", async () => {
  // In a cluster the dead leader still counts as one for a while.
  await server.crash();
  const warehouse = await openWarehouseOf(dataDir);
  await warehouse.command("DELETE FROM user_event_days WHERE TRUE");
  await warehouse.close();
  await inLedger(dataDir, (run) => run`UPDATE organizations SET rebuild_pending = TRUE WHERE name = 'Acme'`);
  const { exitCode, stdout } = await rekindle(dataDir, "doctor");
  expect(stdout).toContain("Acme: ledger, events and rollups agree");
  expect(exitCode).toBe(0);
  expect((await rekindle(dataDir, "organization", "list")).stdout).toMatch(/Acme .* up to date/);
  server = await Server.start({ dataDir, time });
  await server.ready();
});

test("an organization that lived through a night was checked, and doctor and figures say so", async () => {
  expect(await answer<object>(server, key, "/api/health-check")).toEqual({ lastCheck: null });
  expect(await server.command("doctor")).toContain("last nightly check  none yet");
  await restartedAfter((run) => run`UPDATE organizations SET created_at_ms = 0 WHERE name = 'Acme'`);
  const differences = async () =>
    (await answer<{ lastCheck: { differences: number } | null }>(server, key, "/api/health-check")).lastCheck
      ?.differences;
  await becomes(differences, 0);
  expect(await server.command("doctor")).toMatch(/last nightly check {2}\S+Z, 0 differences/);
});

test("the night finds what doctor finds, and says it in the log, in metrics and in the API", async () => {
  await restartedAfter(async (run) => {
    const [{ id } = { id: 0 }] = await run<{ id: number }>`SELECT id FROM organizations WHERE name = 'Acme'`;
    await run`UPDATE day_counts SET events = events + 1 WHERE organization = ${id}`;
    await run`UPDATE populations SET version_rows = version_rows + 1 WHERE organization = ${id}`;
    await run`DELETE FROM checks WHERE organization = ${id}`;
  });
  const differences = [
    "events of 2026-03-02 (UTC): the ledger acknowledged 3, the warehouse has 2",
    "user_versions: the ledger acknowledged 3, the warehouse has 2",
  ];
  interface Checked {
    readonly lastCheck: { readonly differences: number; readonly examples: readonly string[] } | null;
  }
  const last = async () => (await answer<Checked>(server, key, "/api/health-check")).lastCheck?.examples;
  await becomes(last, differences);
  expect(server.output()).toContain("ledger, events and rollups differ");
  expect(await (await fetch(`${server.url}/metrics`)).text()).toContain("\nrekindle_check_differences 2\n");
  const { exitCode, stdout } = await rekindle(dataDir, "doctor");
  expect(exitCode).toBe(1);
  for (const difference of differences) expect(stdout).toContain(`  ${difference}\n`);
});
