/**
 * A statement of SQL as a template. Its values are always bound, never part of the text. A template may also
 * contain parts of statements and names of tables. A statement is sent when it is awaited, or by `execute`.
 */
import { escapeIdentifier } from "pg";

/** A value that can be bound. An array has the type that the statement names (`::bigint[]`). */
export type Bound =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | Date
  | readonly (string | number | boolean | null)[];

/** A value or a part in a template. */
export type Part = Bound | Identifier | Statement<readonly object[]>;

/** The rows of the answer, the number of rows that the statement changed, and its command (`INSERT`,
 * `COMMIT`). */
export type Answer<Rows extends readonly object[]> = Rows & {
  readonly count: number;
  readonly command: string;
};

/** A statement's text with `$1`, `$2` … and their values. */
export interface Sent {
  /** Grows with each statement. */
  readonly serial: number;
  readonly text: string;
  readonly values: readonly Bound[];
}

/** Sends a statement. */
export type Send = (sent: Sent) => Promise<Answer<readonly object[]>>;

/** The name of a table or a column. */
export class Identifier {
  readonly text: string;

  constructor(name: string) {
    this.text = escapeIdentifier(name);
  }
}

let written = 0;

/** By an error of PostgreSQL, the serial of the statement that failed. All statements of its batch are
 * rejected with it. */
const failures = new WeakMap<WeakKey, number>();

/** Records the statement of a batch that failed with this error. */
export function noteFailure(error: object, { serial }: Sent): void {
  failures.set(error, serial);
}

export class Statement<Rows extends readonly object[]> implements PromiseLike<Answer<Rows>> {
  readonly #strings: readonly string[];
  readonly #parts: readonly Part[];
  readonly #send: Send;
  readonly #serial: number;
  #sent: Promise<Answer<Rows>> | undefined;

  constructor(strings: readonly string[], parts: readonly Part[], send: Send) {
    this.#strings = strings;
    this.#parts = parts;
    this.#send = send;
    written += 1;
    this.#serial = written;
  }

  /** Sends it once. Rejects with PostgreSQL's error, or when the connection is lost. */
  execute(): Promise<Answer<Rows>> {
    // The code that writes the statement gives the type of its rows.
    this.#sent ??= this.#send(this.#composed()) as Promise<Answer<Rows>>;
    return this.#sent;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is awaited like a promise, which sends it.
  then<Done = Answer<Rows>, Failed = never>(
    done?: ((answer: Answer<Rows>) => Done | PromiseLike<Done>) | null,
    failed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    return this.execute().then(done, failed);
  }

  catch<Failed>(failed: (reason: unknown) => Failed | PromiseLike<Failed>): Promise<Answer<Rows> | Failed> {
    return this.execute().catch(failed);
  }

  /** Whether this statement of its batch caused this error. */
  failedWith(error: unknown): boolean {
    return typeof error === "object" && error !== null && failures.get(error) === this.#serial;
  }

  #composed(): Sent {
    const values: Bound[] = [];
    return { serial: this.#serial, text: this.#compose(values), values };
  }

  #compose(values: Bound[]): string {
    let text = this.#strings[0] ?? "";
    this.#parts.forEach((part, index) => {
      text += textOf(part, values) + (this.#strings[index + 1] ?? "");
    });
    return text;
  }

  /** The text of a part. Its values are appended to `values`. */
  static textOf(part: Part, values: Bound[]): string {
    if (part instanceof Statement) return part.#compose(values);
    if (part instanceof Identifier) return part.text;
    values.push(part);
    return `$${values.length}`;
  }
}

const { textOf } = Statement;
