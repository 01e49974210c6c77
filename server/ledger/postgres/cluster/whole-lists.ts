/**
 * Lists of what nodes only count at first: uses of tokens and keys, warnings, what came from sources. Each node writes its
 * counts down every few seconds by itself; whoever lists asks all to do it now.
 */
import type { Sql } from "../client/connect.ts";
import type { PostgresLedger } from "../ledger.ts";
import { liveSeconds } from "./nodes.ts";

/** A node that was killed counts as living for a while, and writes nothing down any more. */
const waitedMs = 5_000;
const pollMs = 50;

/** Resolves when every intake node that lives has written down what it had counted, or after 5 s. */
export async function writtenDownEverywhere(sql: Sql): Promise<void> {
  const [changed] = await sql<{ asked: number }[]>`UPDATE changes SET asked = asked + 1 RETURNING asked`;
  const asked = changed?.asked ?? 0;
  const endMs = performance.now() + waitedMs;
  const isMissing = async () => {
    const rows = await sql`
      SELECT 1 AS one FROM nodes WHERE role = 'intake' AND written_down < ${asked}
        AND heartbeat > clock_timestamp() - make_interval(secs => ${liveSeconds}) LIMIT 1`;
    return rows.length > 0;
  };
  while (performance.now() < endMs && (await isMissing())) await Bun.sleep(pollMs);
}

/** Makes the lists of a ledger those of all nodes, up to the moment of the question. */
export function listWhole(ledger: PostgresLedger, writtenDown: () => Promise<void>): void {
  const { tokens, readKeys, warnings, sources } = ledger;
  for (const credentials of [tokens, readKeys]) {
    const list = credentials.list.bind(credentials);
    credentials.list = (...of) => writtenDown().then(() => list(...of));
  }
  const list = warnings.list.bind(warnings);
  warnings.list = (...of) => writtenDown().then(() => list(...of));
  const hours = sources.hours.bind(sources);
  sources.hours = (...of) => writtenDown().then(() => hours(...of));
}
