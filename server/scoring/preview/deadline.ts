/** How a preview ends in time. */
import { Refusal } from "../../../contract/refusal.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";

/** A warehouse for questions that end by an instant. @throws Refusal afterwards */
export function withDeadline(warehouse: Warehouse, untilMs: number): Warehouse {
  return {
    topology: warehouse.topology,
    command: async (...query) => {
      if (Date.now() >= untilMs) throw tooLong();
      await warehouse.command(...query);
    },
    stream: (...query) => warehouse.stream(...query),
    insertFrozen: (rows) => warehouse.insertFrozen(rows),
    insertInto: (...rows) => warehouse.insertInto(...rows),
    close: () => warehouse.close(),
    rows: async <Row>(...[sql, parameters, limits]: Parameters<Warehouse["rows"]>) => {
      const seconds = (untilMs - Date.now()) / 1_000;
      if (seconds <= 0) throw tooLong();
      const maxSeconds = Math.max(1, Math.floor(Math.min(limits?.maxSeconds ?? defaultSeconds, seconds)));
      try {
        return await warehouse.rows<Row>(sql, parameters, { ...limits, maxSeconds });
      } catch (error) {
        throw Date.now() >= untilMs - slackMs ? tooLong() : error;
      }
    },
  };
}

const defaultSeconds = 30;
/** The engine's limit is in whole seconds. */
const slackMs = 1_500;

function tooLong(): Refusal {
  return new Refusal(
    "the preview took longer than a minute, or waited so long for a scoring run. Try again in a few minutes, or save the change to see its effect.",
  );
}

/** The result, if it is there by an instant of the clock. The work has to end by itself. @throws Refusal afterwards */
export async function resultBy<Result>(untilMs: number, result: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooLong()), untilMs - Date.now());
  return Promise.race([result, late.promise]).finally(() => clearTimeout(timer));
}
