/**
 * Several statements that are sent to PostgreSQL at once, with one Sync after the last. The server runs them
 * one after another. After a failed one it skips the others. So BEGIN can be sent with the statements after
 * it, and COMMIT with those before it. pg's pipeline mode sends a Sync after each statement:
 * docs/decisions/0028 has the reason against it.
 */
import { type Connection, type FieldDef, type Submittable, types } from "pg";
import { type Answer, type Bound, noteFailure, type Sent } from "./statement.ts";

/** The result of `types.getTypeParser`. pg does not export this type. */
type Parse = (text: string) => unknown;

/** A statement whose answer is awaited. */
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
  readonly #answered: () => void;
  readonly #ended: () => void;
  readonly #new: string[] = [];
  readonly #answers: Answer<readonly object[]>[] = [];
  #rows: object[] = [];
  /** The error of a row that could not be read. */
  #unread: unknown;
  #columns: readonly { readonly name: string; readonly parse: Parse }[] = [];

  /**
   * @param answered called with each answer of the server
   * @param ended called with the last answer, or with the first error
   */
  constructor(waiting: readonly Waiting[], prepared: Prepared, answered: () => void, ended: () => void) {
    this.#waiting = waiting;
    this.#prepared = prepared;
    this.#answered = answered;
    this.#ended = ended;
  }

  /** The client calls it when the earlier batches have ended. */
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
      // An error that is thrown here would not reject the statement.
      this.#unread ??= error;
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#answered();
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

  /** Rejects every statement: those before the failed one may be rolled back, and those after it did not
   * run. */
  handleError(error: unknown): void {
    const failed = this.#waiting[this.#answers.length];
    if (failed !== undefined && error instanceof Error) noteFailure(error, failed);
    // Some may not be prepared on the server. They get another name the next time.
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

/** The text of a value, in a form that PostgreSQL reads for any type. */
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

/** Numbers of 64 bits become numbers of JavaScript: ids and milliseconds stay below 2^53. */
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
