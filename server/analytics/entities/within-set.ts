/** Figures about the users of a set. */
import { type Parameter, type Warehouse, withinUsers } from "../../warehouse/warehouse.ts";
import { boundBitmap, type EntitySet } from "./entity-sets.ts";

const name = "withinUsers";

type Limits = Parameters<Warehouse["rows"]>[2];

/** The warehouse for figures about these users alone: their queries leave out all others as they leave out excluded users.
 * Only figures that count `included` users may use it.
 * @param set of users */
export function withinSet(warehouse: Warehouse, { of, bitmap }: EntitySet): Warehouse {
  if (of !== "user") throw new TypeError("Figures count users, so they need a set of users");
  const within = (sql: string, parameters: Readonly<Record<string, Parameter>> = {}) => {
    const text = withinUsers(sql, boundBitmap(name));
    return [text, text === sql ? parameters : { ...parameters, [name]: bitmap }] as const;
  };
  return {
    topology: warehouse.topology,
    rows: <Row>(sql: string, parameters?: Record<string, Parameter>, limits?: Limits) =>
      warehouse.rows<Row>(...within(sql, parameters), limits),
    command: (...statement) => warehouse.command(...statement),
    stream: (sql, format, parameters) => {
      const [text, bound] = within(sql, parameters);
      return warehouse.stream(text, format, bound);
    },
    insertFrozen: (rows) => warehouse.insertFrozen(rows),
    insertInto: (...rows) => warehouse.insertInto(...rows),
    close: () => warehouse.close(),
  };
}
