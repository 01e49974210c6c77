/** Figures about the users, accounts or payers of a set. */
import type { Parameter, Warehouse } from "../../warehouse/engine/warehouse.ts";
import { withinAccounts, withinPayers, withinUsers } from "../../warehouse/schema/included.ts";
import { boundBitmap, type EntitySet } from "./entity-sets.ts";

type Limits = Parameters<Warehouse["rows"]>[2];

/** The warehouse for figures about these users or accounts alone: their queries leave out all others. Figures
 * of users leave them out as they leave out excluded users. Only figures that count `included` users, or
 * accounts by `isAnyAccount`, may use it. */
export function withinSet(warehouse: Warehouse, { of, bitmap }: EntitySet): Warehouse {
  return of === "user"
    ? rewritten(warehouse, (sql) => withinUsers(sql, boundBitmap("withinUsers")), { withinUsers: bitmap })
    : rewritten(warehouse, (sql) => withinAccounts(sql, boundBitmap("withinAccounts")), {
        withinAccounts: bitmap,
      });
}

/** Accounts, and users who pay without an account. */
export interface PayerSet {
  readonly accounts: EntitySet;
  readonly users: EntitySet;
}

/** The warehouse for figures about these payers alone. Only figures that count payers by `isIncludedPayer`
 * may use it. */
export function withinPayerSet(warehouse: Warehouse, { accounts, users }: PayerSet): Warehouse {
  const bitmaps = {
    accounts: boundBitmap("withinAccounts"),
    users: boundBitmap("withinUsers"),
  };
  return rewritten(warehouse, (sql) => withinPayers(sql, bitmaps), {
    withinAccounts: ofKind(accounts, "account").bitmap,
    withinUsers: ofKind(users, "user").bitmap,
  });
}

function ofKind(set: EntitySet, kind: EntitySet["of"]): EntitySet {
  if (set.of !== kind) throw new TypeError(`These figures need a set of ${kind}s`);
  return set;
}

/** The warehouse with other texts of its queries. @param bound those that a changed query names are bound to
 * it */
function rewritten(
  warehouse: Warehouse,
  change: (sql: string) => string,
  bound: Readonly<Record<string, Parameter>>,
): Warehouse {
  const within = (sql: string, parameters: Readonly<Record<string, Parameter>> = {}) => {
    const text = change(sql);
    if (text === sql) return [sql, parameters] as const;
    const named = Object.entries(bound).filter(([name]) => text.includes(`{${name}:`));
    return [text, { ...parameters, ...Object.fromEntries(named) }] as const;
  };
  return {
    topology: warehouse.topology,
    rows: <Row>(sql: string, parameters?: Record<string, Parameter>, limits?: Limits) =>
      warehouse.rows<Row>(...within(sql, parameters), limits),
    command: (...statement) => warehouse.command(...statement),
    stream: (sql, format, parameters) => {
      const [text, all] = within(sql, parameters);
      return warehouse.stream(text, format, all);
    },
    insertFrozen: (rows) => warehouse.insertFrozen(rows),
    insertInto: (...rows) => warehouse.insertInto(...rows),
    close: () => warehouse.close(),
  };
}
