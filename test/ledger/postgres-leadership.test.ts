/** The leader on PostgreSQL, and when it changes. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPool } from "../../server/ledger/postgres/client/connect.ts";
import { Leadership, type Term } from "../../server/ledger/postgres/cluster/leadership.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { createLogger } from "../../server/process/log.ts";
import { PostgresServer } from "../postgres.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

test("a leader that cannot work gives the lease back, also while what is in hand hangs", async () => {
  const url = await server.database();
  await (await openPostgresLedger({ url })).close();
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
  const first = new Leadership({ sql, outdated: undefined }, { canLead: () => isAble, lead }, log, 1_000);
  const second = new Leadership({ sql, outdated: undefined }, { canLead: () => true, lead }, log);
  first.start();
  while (terms.length < 1) await Bun.sleep(20);
  isAble = false;
  second.start();
  while (terms.length < 2) await Bun.sleep(20);
  expect(terms.map((term) => term.isHeld)).toEqual([false, true]);
  await Promise.all([first.stop(), second.stop()]);
  expect(await sql`SELECT FROM loader_lease WHERE until > clock_timestamp()`).toHaveLength(0);
  await sql.end();
});
