/**
 * Several statements on their way to PostgreSQL at once, with one end (Sync): the server does one after another, and after
 * one that fails does none of the rest. So BEGIN may be sent with what follows it, and COMMIT with what comes before.
 */
import { type Connection, type FieldDef, type Submittable, types } from "pg";
import { type Answer, type Bound, noteFailure, type Sent } from "./statement.ts";

/** Not exported by name: what `types.getTypeParser` returns. */
type Parse = (text: string) => unknown;

/** A statement that somebody waits for. */
export interface Waiting extends Sent {
  readonly resolve: (answer: Answer<readonly object[]>) => void;
  readonly reject: (reason: unknown) => void;
}

/** Statements that a connection has prepared, by their text. */
export type Prepared = Map<string, string>;

let named = 0;

export class Batch implements Submittable {
  readonly #waiting: readonly Waiting[];
  readonly #prepared: Prepared;
  readonly #heard: () => void;
  readonly #ended: () => void;
  readonly #new: string[] = [];
  readonly #answers: Answer<readonly object[]>[] = [];
  #rows: object[] = [];
  /** Why a row could not be read. */
  #unread: unknown;
  #columns: readonly { readonly name: string; readonly parse: Parse }[] = [];

  /**
   * @param heard is called with each answer of the server
   * @param ended is called when the last has come, or the first error
   */
  constructor(waiting: readonly Waiting[], prepared: Prepared, heard: () => void, ended: () => void) {
    this.#waiting = waiting;
    this.#prepared = prepared;
    this.#heard = heard;
    this.#ended = ended;
  }

  /** Called by the client when it is this batch's turn. */
  submit(connection: Connection): void {
    connection.stream.cork();
    for (const { text, values } of this.#waiting) {
      connection.bind({ statement: this.#nameOf(text, connection), values: values.map(written) }, true);
      connection.describe({ type: "P" }, true);
      connection.execute(null, true);
    }
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    try {
      this.#columns.forEach(({ name, parse }, index) => {
        const text = fields[index] ?? null;
        row[name] = text === null ? null : parse(text);
      });
    } catch (error) {
      // Thrown here it would reach nobody who waits.
      this.#unread ??= error;
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#heard();
    const words = text.split(" ");
    const count = Number(words.at(-1));
    this.#answers.push(
      Object.assign(this.#rows, { command: words[0] ?? "", count: Number.isNaN(count) ? 0 : count }),
    );
    this.#rows = [];
    this.#columns = [];
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: "" });
  }

  /** Of those before the one that failed it is not known whether they last, and the rest were not done. */
  handleError(error: unknown): void {
    const failed = this.#waiting[this.#answers.length];
    if (failed !== undefined && error instanceof Error) noteFailure(error, failed);
    // Some may not have been prepared: they get another name the next time.
    for (const text of this.#new) this.#prepared.delete(text);
    for (const { reject } of this.#waiting) reject(error);
    this.#ended();
  }

  handleReadyForQuery(): void {
    this.#waiting.forEach(({ resolve, reject }, index) => {
      const answer = this.#answers[index];
      if (this.#unread !== undefined) reject(this.#unread);
      else if (answer === undefined) reject(new Error("PostgreSQL did not answer a statement."));
      else resolve(answer);
    });
    this.#ended();
  }

  #nameOf(text: string, connection: Connection): string {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    named += 1;
    const name = `s${named}`;
    connection.parse({ name, text, types: [] }, true);
    this.#prepared.set(text, name);
    this.#new.push(text);
    return name;
  }
}

/** As PostgreSQL reads a value of any type. */
function written(value: Bound): string | null {
  if (value === null || typeof value === "string") return value;
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "object") return `{${value.map(writtenElement).join(",")}}`;
  return String(value);
}

function writtenElement(value: string | number | boolean | null): string {
  if (value === null) return "NULL";
  return typeof value === "string" ? `"${value.replace(/["\\]/g, "\\$&")}"` : String(value);
}

const bigint = 20;
const bigints = 1016;

/** Numbers of 64 bits come as JavaScript's: ids and milliseconds stay below 2^53. */
function parserOf(type: number): Parse {
  if (type === bigint) return safeInteger;
  if (type === bigints) return (text) => (text === "{}" ? [] : text.slice(1, -1).split(",").map(safeInteger));
  return types.getTypeParser(type, "text");
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`PostgreSQL returned ${text}, which is no safe integer.`);
  return value;
}
