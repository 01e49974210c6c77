/**
 * Kills the SQLite ledger between any two of its statements, or writes to its journal, without a hook in it.
 * While this is installed, each of them counts down. At zero the folder is copied as it lies on the disk at
 * that moment. This may be within a transaction. Opening the copy equals a restart after SIGKILL.
 */
import { Database } from "bun:sqlite";
import fs, { cpSync } from "node:fs";
import { basename } from "node:path";

export class CrashPoints {
  readonly #prepare = Database.prototype.prepare;
  readonly #fs = { writeSync: fs.writeSync, fdatasyncSync: fs.fdatasyncSync };
  #statementsLeft = 0;
  #from = "";
  #to = "";

  /** Watches the statements that are prepared from now on. */
  install(): void {
    const original = this.#prepare;
    const passed = () => this.#passed();
    Database.prototype.prepare = function (this: Database, ...given: Parameters<Database["prepare"]>) {
      const statement = original.apply(this, given);
      for (const name of ["run", "get", "all"] as const) {
        const step = statement[name].bind(statement);
        Object.defineProperty(statement, name, {
          value: (...values: Parameters<typeof step>) => {
            passed();
            const result: unknown = step(...values);
            passed();
            return result;
          },
        });
      }
      return statement;
    } as typeof original;
    for (const name of ["writeSync", "fdatasyncSync"] as const) {
      const step = this.#fs[name] as (...values: unknown[]) => unknown;
      Object.assign(fs, {
        [name]: (...values: unknown[]) => {
          passed();
          const result = step(...values);
          passed();
          return result;
        },
      });
    }
  }

  uninstall(): void {
    Database.prototype.prepare = this.#prepare;
    Object.assign(fs, this.#fs);
  }

  /** Copies `from` to `to` when this many more moments, before and after each statement, have passed. */
  arm(moments: number, from: string, to: string): void {
    this.#statementsLeft = moments;
    this.#from = from;
    this.#to = to;
  }

  /** @returns whether the copy was made since `arm`. */
  disarm(): boolean {
    const made = this.#statementsLeft === 0;
    this.#statementsLeft = 0;
    return made;
  }

  #passed(): void {
    if (this.#statementsLeft === 0) return;
    this.#statementsLeft -= 1;
    if (this.#statementsLeft > 0) return;
    // The shared-memory file is not copied. After a crash the first process that opens the database makes it
    // anew.
    const filter = (source: string) => !basename(source).endsWith("-shm");
    cpSync(this.#from, this.#to, { recursive: true, filter });
  }
}
