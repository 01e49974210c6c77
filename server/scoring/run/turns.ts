/** How a run leaves room for other work: each statement has a turn of its own. */
import type { Warehouse } from "../../warehouse/warehouse.ts";

/**
 * The warehouse as a run uses it. A whole training takes minutes, and an erasure, a check, a backup or another
 * organization's run would wait for its end; so they wait for the statement in hand. What changes between two
 * statements is noticed as late events are: the run's day is worked out again.
 * @param inTurn does something while no other work changes what is stored
 */
export function statementByStatement(
  warehouse: Warehouse,
  inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Warehouse {
  return {
    topology: warehouse.topology,
    rows: <Row>(...query: Parameters<Warehouse["rows"]>) => inTurn(() => warehouse.rows<Row>(...query)),
    command: (...query) => inTurn(() => warehouse.command(...query)),
    stream: (...query) => warehouse.stream(...query),
    insertFrozen: (rows) => inTurn(() => warehouse.insertFrozen(rows)),
    close: () => warehouse.close(),
  };
}
