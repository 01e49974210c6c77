/**
 * Which requests of many organizations share a commit on PostgreSQL: requests a second and their latency with
 * one organization and with many, in alternating rounds. Each sender waits for its answer and picks an
 * organization at random.
 *
 *   shared     organizations share commits, and a commit locks every organization whose people it changes (as the product does)
 *   apart      no two organizations share a commit
 *
 *   cli/with-bun bench/organizations.ts [seconds] [rounds] [senders]
 */

import { Zone } from "../server/calendar/zone.ts";
import { features } from "../server/features/features.ts";
import type { Admitted } from "../server/intake/decide/requests.ts";
import { GroupCommit } from "../server/intake/group-commit.ts";
import { settingUp } from "../server/ledger/audit.ts";
import { openPostgresLedger, type PostgresLedger } from "../server/ledger/postgres/ledger.ts";
import { PostgresServer } from "../test/postgres.ts";
import { median } from "./load/alternate.ts";
import { Histogram } from "./load/histogram.ts";

const seconds = Number(process.argv[2] ?? 3);
const rounds = Number(process.argv[3] ?? 3);
const senders = Number(process.argv[4] ?? 256);
const usersOfOrganization = 100;
const zone = new Zone("UTC");

type Kind = "track" | "identify";

function request(kind: Kind, organization: number, n: number): Admitted {
  const nowMs = Date.now();
  const userId = `user-${n % usersOfOrganization}`;
  const common = { organization, userId, messageId: crypto.randomUUID(), receivedAtMs: nowMs, zone };
  if (kind === "identify") {
    return {
      ...common,
      kind,
      email: `${userId}@example.com`,
      traits: { n },
      timestampMs: nowMs,
      isAccountOwner: undefined,
      account: undefined,
    };
  }
  const day = zone.dayOf(nowMs);
  return {
    ...common,
    kind,
    event: `event_${n % 60}`,
    timeMs: nowMs,
    day,
    properties: '{"page":"home"}',
    isOfPast: false,
  };
}

type Commits = (organization: number) => GroupCommit;

function policies(ledger: PostgresLedger): ReadonlyMap<string, Commits> {
  const transact: PostgresLedger["transact"] = (needs, decide) => ledger.transact(needs, decide);
  const { groupsAtOnce } = ledger;
  const made = () => new GroupCommit({ transact, groupsAtOnce, locksOrganizations: true }, Date.now);
  const shared = made();
  const apart = new Map<number, GroupCommit>();
  return new Map<string, Commits>([
    ["shared", () => shared],
    [
      "apart",
      (organization) => {
        const own = apart.get(organization) ?? made();
        apart.set(organization, own);
        return own;
      },
    ],
  ]);
}

async function measure(
  commits: Commits,
  organizations: readonly number[],
  kind: Kind,
): Promise<{ readonly perSecond: number; readonly p50Ms: number; readonly p99Ms: number }> {
  const histogram = new Histogram();
  const endMs = performance.now() + seconds * 1_000;
  const send = async () => {
    while (performance.now() < endMs) {
      const organization = organizations[Math.floor(Math.random() * organizations.length)] ?? 0;
      const begunMs = performance.now();
      const entry = request(kind, organization, Math.floor(Math.random() * 1e6));
      await commits(organization).submit(entry, 200);
      histogram.record((performance.now() - begunMs) * 1_000);
    }
  };
  await Promise.all(Array.from({ length: senders }, send));
  const [p50Ms, p99Ms] = [histogram.percentileMs(0.5), histogram.percentileMs(0.99)];
  return { perSecond: histogram.count / seconds, p50Ms, p99Ms };
}

async function compare(ledger: PostgresLedger, count: number): Promise<void> {
  const organizations: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const name = `${count} ${n}`;
    organizations.push(
      (await ledger.organizations.create({ name, timezone: "UTC", nowMs: 1 }, settingUp)).id,
    );
  }
  const all = policies(ledger);
  const commits = all.get("shared")?.(0);
  for (const organization of organizations) {
    const users = Array.from({ length: usersOfOrganization }, (_, n) => request("identify", organization, n));
    await commits?.submitAll(users, 1);
  }
  for (const kind of ["track", "identify"] as const) {
    const results = new Map(
      [...all.keys()].map((name) => [name, [] as Awaited<ReturnType<typeof measure>>[]]),
    );
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, policy] of all) results.get(name)?.push(await measure(policy, organizations, kind));
    }
    for (const [name, of] of results) {
      const figures = (["perSecond", "p50Ms", "p99Ms"] as const).map((key) =>
        median(of.map((one) => one[key])),
      );
      const [perSecond, p50Ms, p99Ms] = figures.map((figure) => figure.toFixed(0).padStart(6));
      console.log(
        `${String(count).padStart(4)} organizations, ${kind.padEnd(8)} ${name.padEnd(8)} ${perSecond}/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms`,
      );
    }
  }
}

const server = await PostgresServer.start();
const ledger = await openPostgresLedger({ features, url: await server.database() });
try {
  for (const count of [1, 100, 1_000]) await compare(ledger, count);
} finally {
  await ledger.close();
  await server.stop();
}
