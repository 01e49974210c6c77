/** How a preview ends in time. */
import { Refusal } from "../../../contract/refusal.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";

/** A warehouse for questions that end by an instant. @param untilMs of `performance.now()`. @param tooLong
 * the reason afterwards, as a sentence @throws Refusal then */
export function withDeadline(warehouse: Warehouse, untilMs: number, tooLong: string): Warehouse {
  return {
    topology: warehouse.topology,
    command: async (...query) => {
      if (performance.now() >= untilMs) throw new Refusal(tooLong);
      await warehouse.command(...query);
    },
    stream: (...query) => warehouse.stream(...query),
    insertFrozen: (rows) => warehouse.insertFrozen(rows),
    insertInto: (...rows) => warehouse.insertInto(...rows),
    close: () => warehouse.close(),
    rows: async <Row>(...[sql, parameters, limits]: Parameters<Warehouse["rows"]>) => {
      const seconds = (untilMs - performance.now()) / 1_000;
      if (seconds <= 0) throw new Refusal(tooLong);
      const maxSeconds = Math.max(1, Math.floor(Math.min(limits?.maxSeconds ?? defaultSeconds, seconds)));
      try {
        return await warehouse.rows<Row>(sql, parameters, { ...limits, maxSeconds });
      } catch (error) {
        throw performance.now() >= untilMs - slackMs ? new Refusal(tooLong) : error;
      }
    },
  };
}

const defaultSeconds = 30;
/** The engine's limit is in whole seconds. */
const slackMs = 1_500;

/** The result, if it is there by an instant of `performance.now()`. The work has to end by itself. @throws
 * Refusal afterwards, with the reason */
export async function resultBy<Result>(
  untilMs: number,
  tooLong: string,
  result: Promise<Result>,
): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Refusal(tooLong)), untilMs - performance.now());
  return Promise.race([result, late.promise]).finally(() => clearTimeout(timer));
}
