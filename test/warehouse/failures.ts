/** A warehouse and an inbox that fail as theirs do in production. */
import type { FrozenBatch, Inbox } from "../../server/ledger/inbox.ts";
import type { FrozenRows, Warehouse } from "../../server/warehouse/engine/warehouse.ts";

/** The same warehouse, with an action before every insert. When the action rejects, no row is inserted. */
export function withInserts(warehouse: Warehouse, before: (rows: FrozenRows) => Promise<void>): Warehouse {
  return {
    topology: warehouse.topology,
    rows: warehouse.rows.bind(warehouse),
    stream: warehouse.stream.bind(warehouse),
    command: warehouse.command.bind(warehouse),
    insertInto: warehouse.insertInto.bind(warehouse),
    close: warehouse.close.bind(warehouse),
    async insertFrozen(rows) {
      await before(rows);
      await warehouse.insertFrozen(rows);
    },
  };
}

/** The same warehouse, which runs this many statements and then no more. */
export function withStatements(warehouse: Warehouse, statements: number): Warehouse {
  let left = statements;
  return {
    topology: warehouse.topology,
    rows: warehouse.rows.bind(warehouse),
    stream: warehouse.stream.bind(warehouse),
    insertFrozen: warehouse.insertFrozen.bind(warehouse),
    insertInto: warehouse.insertInto.bind(warehouse),
    close: warehouse.close.bind(warehouse),
    async command(...statement) {
      if (left === 0) throw new Error("stopped");
      left -= 1;
      await warehouse.command(...statement);
    },
  };
}

/** Fails the first two calls of every kind: before the work was done, and after it. */
export function unreliable(inbox: Inbox): Inbox {
  const failed = new Set<string>();
  const once = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    for (const moment of [`before ${name}`, `after ${name}`]) {
      if (failed.has(moment)) continue;
      failed.add(moment);
      if (moment.startsWith("after")) await work();
      throw new Error(`the socket was closed ${moment}`);
    }
    return work();
  };
  return {
    freeze: (maxRows) => once("freeze", () => inbox.freeze(maxRows)),
    read: (batch: FrozenBatch) => once("read", () => inbox.read(batch)),
    finish: (number, rejectedRows) => once("finish", () => inbox.finish(number, rejectedRows)),
    backlog: () => once("backlog", () => inbox.backlog()),
  };
}
