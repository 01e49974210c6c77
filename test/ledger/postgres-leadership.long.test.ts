/** The leader on PostgreSQL, and when it changes. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { features } from "../../server/features/features.ts";
import { commandLine, settingUp } from "../../server/ledger/audit.ts";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { Leadership, type Term } from "../../server/ledger/postgres/leadership.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { LoaderLease } from "../../server/ledger/postgres/loader-lease.ts";
import { inTransaction } from "../../server/ledger/postgres/transaction.ts";
import { createLogger } from "../../server/process/log.ts";
import { systemTime } from "../../server/process/time.ts";
import { PostgresServer } from "../postgres.ts";
import { becomes, until } from "../until.ts";
import { alertRule, decision } from "./alert-decision.ts";
import { user, writePeople } from "./writes.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

test("a leader that cannot work gives the lease back, also while what is in hand hangs", async () => {
  const url = await server.database();
  await (await openPostgresLedger({ features, url })).close();
  const sql = openPool(url, { connections: 2 });
  // A lease that is not given back never ends.
  await sql.unsafe(`
    CREATE FUNCTION never_ends() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN IF NEW.until > clock_timestamp() THEN NEW.until = ''infinity''; END IF; RETURN NEW; END';
    CREATE TRIGGER never_ends BEFORE UPDATE ON loader_lease FOR EACH ROW EXECUTE FUNCTION never_ends()`);
  const log = createLogger("test", "error");
  const never = new Promise<void>(() => undefined);
  const terms: Term[] = [];
  let isAble = true;
  const lead = (term: Term) => {
    terms.push(term);
    return { stop: () => never };
  };
  const { nowMs } = systemTime;
  const first = new Leadership(
    { sql, outdated: undefined, nowMs },
    { canLead: () => isAble, lead },
    log,
    1_000,
  );
  const second = new Leadership({ sql, outdated: undefined, nowMs }, { canLead: () => true, lead }, log);
  first.start();
  await until("the first leads", () => terms.length >= 1);
  isAble = false;
  second.start();
  await until("the second leads", () => terms.length >= 2);
  expect(terms.map((term) => term.isHeld)).toEqual([false, true]);
  await Promise.all([first.stop(), second.stop()]);
  // A leader that stops waits a second for the commit of this, which a busy machine may make later.
  await becomes(async () => (await sql`SELECT FROM loader_lease WHERE until > clock_timestamp()`).length, 0);
  await sql.end();
});

test("the chunk of a leader that another one has followed is refused, also when it names the one before", async () => {
  const url = await server.database();
  const [ledger, other] = [
    await openPostgresLedger({ features, url }),
    await openPostgresLedger({ features, url }),
  ];
  const sql = openPool(url, { connections: 2 });
  const [past, present] = [new LoaderLease(), new LoaderLease()];
  const former = ledger.leading(past, async () => undefined);
  const leader = other.leading(present, async () => undefined);
  const nowMs = Date.UTC(2026, 0, 1);
  const { id: organization } = await ledger.organizations.create(
    { name: "acme", timezone: "UTC", nowMs },
    settingUp,
  );
  await writePeople(ledger, { users: [user(organization, "ada")] });
  const { id: rule } = await ledger.alertRules.add(organization, alertRule, commandLine, nowMs);
  const entity = { kind: "user", number: 1 } as const;
  const first = { organization, rule, entity, day: 20_000 };

  expect(await inTransaction(sql, (tx) => past.take(tx))).toBe(true);
  const { sequence: after } = await former.ruleDecisions.commitDecision(decision(first), nowMs);
  await sql`UPDATE loader_lease SET until = clock_timestamp() - interval '1 second'`;
  expect(await inTransaction(sql, (tx) => present.take(tx))).toBe(true);

  const quiet = { ...decision({ ...first, day: 20_001 }), after, states: [], fired: [] };
  const late = former.ruleDecisions.commitDecision(quiet, nowMs).catch((error: Error) => error.message);
  expect(await late).toContain("Another node has taken over");
  const [decided] = await ledger.ruleDecisions.toDecide(organization);
  expect(decided?.watermark).toMatchObject({ sequence: after, decidedThrough: 20_000 });
  const next = await leader.ruleDecisions.commitDecision(quiet, nowMs);
  expect(next).toMatchObject({ sequence: after + 1, decidedThrough: 20_001 });
  await Promise.all([ledger.close(), other.close(), sql.end()]);
});
