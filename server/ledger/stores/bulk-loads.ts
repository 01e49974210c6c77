/** When rows of the past last came in bulk: a first load, an import, a repair. Scores wait for its end. */
import { greatest } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import { integer, nullable, RowOf, run, select } from "../sql.ts";

/** A column of organizations: the last instant of a load that was no import. */
export const bulkLoadTimes = (integerType: string) => `
  ALTER TABLE organizations ADD COLUMN bulk_loaded_at_ms ${integerType};
`;

const lastLoad = new RowOf<{ readonly atMs: number | null }>({
  atMs: nullable(integer("max(at_ms)")),
});

/** When an organization's past last came in bulk, or by an import of any size; null when it never did. */
export async function lastBulkLoadAtMs(engine: Engine, organization: number): Promise<number | null> {
  const [last] = await engine.alone(
    select(lastLoad)`FROM (
      SELECT bulk_loaded_at_ms AS at_ms FROM organizations WHERE id = ${organization}
      UNION ALL SELECT max(updated_at_ms) FROM imports WHERE organization = ${organization} AND stored > 0) AS loads`,
  );
  return last?.atMs ?? null;
}

/** Notes that an organization's past came in bulk until an instant. */
export async function noteBulkLoad(engine: Engine, organization: number, atMs: number): Promise<void> {
  await engine.alone(
    run`UPDATE organizations SET bulk_loaded_at_ms = ${greatest}(coalesce(bulk_loaded_at_ms, 0), ${atMs})
      WHERE id = ${organization}`,
  );
}
