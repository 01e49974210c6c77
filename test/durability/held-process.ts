/** A process that is held at points of its work, so that a test kills it there: see holds.ts. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import type { Session } from "chdb";
import { SessionPool } from "../../server/warehouse/engine/sessions.ts";
import { until } from "../until.ts";
import { type HoldPoint, holdFiles, type Step, writeWhole } from "./hold-points.ts";

const files = holdFiles(process.env.DATA_DIR ?? "");

/** How often this process has come to the point that is wanted now. */
let comes = { number: -1, count: 0 };

/** Holds this process if it is wanted here. @returns the number of the hold */
export async function hold(of: string, step: Step): Promise<number | undefined> {
  if (!existsSync(files.wanted)) return undefined;
  const wanted: HoldPoint & { readonly number: number } = JSON.parse(readFileSync(files.wanted, "utf8"));
  if (wanted.step !== step || !of.startsWith(wanted.of)) return undefined;
  const { number } = wanted;
  comes = { number, count: comes.number === number ? comes.count + 1 : 1 };
  if (comes.count < (wanted.count ?? 1)) return undefined;
  const held = files.held(number);
  rmSync(files.wanted);
  writeWhole(held, "");
  await until("the test lets it go on", () => !existsSync(held), Boolean, {
    everyMs: 5,
    limitMs: 15 * 60_000,
  });
  return number;
}

/**
 * `ALTER TABLE events …` or `INSERT INTO events …`, and of a record of scores what it is of: `record: run of
 * user`. Undefined for a statement that only reads.
 */
function writing(sql: string): string | undefined {
  const statement = /(?:ALTER TABLE|INSERT INTO) [\s\S]*/.exec(sql)?.[0];
  const [what, kind] = ["what", "kind"].map((name) => new RegExp(`param_${name} = '(\\w+)'`).exec(sql)?.[1]);
  return statement && what && kind ? `record: ${what} of ${kind}` : statement;
}

/** Does something that a test may hold before it, while it runs, and after it. */
export async function held<Result>(name: string, start: () => Promise<Result>): Promise<Result> {
  await hold(name, "before");
  const running = start();
  // The engine works in threads of its own, also while this one waits.
  await hold(name, "within");
  const result = await running;
  await hold(name, "after");
  return result;
}

/** Holds this process at statements that write to its embedded engine. @param told is called with the name of
 * each */
export function holdStatements(told: (name: string) => void = () => undefined): void {
  const { use } = SessionPool.prototype;
  SessionPool.prototype.use = function (this: SessionPool, query, asker) {
    return use.call(this, (session: Session) => query(holding(session, told)), asker) as ReturnType<
      typeof query
    >;
  } as typeof use;
}

function holding(session: Session, told: (name: string) => void): Session {
  return new Proxy(session, {
    get: (of, name) => {
      const value: unknown = Reflect.get(of, name);
      if (typeof value !== "function") return value;
      return (...given: readonly unknown[]) => {
        const start = () => value.apply(of, given);
        const sql = name === "queryAsync" ? writing(String(given[0])) : undefined;
        if (sql !== undefined) {
          told(sql);
          return held(sql, start);
        }
        if (name !== "insert") return start();
        return held(`INSERT INTO ${(given[0] as { readonly table: string }).table}`, start);
      };
    },
  });
}
