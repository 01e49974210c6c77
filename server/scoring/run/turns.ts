/** How a run leaves room for other work: each statement has a turn of its own. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";

/**
 * The warehouse for a run, one statement at a time. A whole training takes minutes. So an erasure, a check, a
 * backup or another organization's run waits only for the present statement. A change between two statements
 * is noticed like late events: the run's day is computed again.
 * @param inTurn runs a function while no other work changes stored rows
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
    insertInto: (...rows) => inTurn(() => warehouse.insertInto(...rows)),
    close: () => warehouse.close(),
  };
}
