/**
 * Statements that are written once for both engines. A store consists of generators: `yield*` passes a
 * statement to the engine and returns its rows. SQLite drives a generator synchronously, so that nothing else
 * runs inside of its transaction. PostgreSQL awaits each answer. Values are always bound, never part of the
 * SQL text.
 */

/** The engines, by their SQL. */
export type Dialect = "sqlite" | "postgres";

/** A value that is bound. PostgreSQL stores text in an encoded form (`postgres/text.ts`). */
export type Bound = string | number | boolean | null | Json | JsonRows;
/** A value in a template, or a part of a statement. */
export type Part = Bound | Fragment;

/** JSON text that is bound. Both engines store it unchanged: JSON escapes the character that PostgreSQL does
 * not store. */
export class Json {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  static of(value: unknown): Json {
    return new Json(JSON.stringify(value));
  }
}

/** Objects that a statement reads as rows. Each engine stores their texts in its own form. */
export class JsonRows {
  readonly #rows: readonly object[];

  constructor(rows: readonly object[]) {
    this.#rows = rows;
  }

  /** @param stored encodes a text for the engine */
  text(stored: (text: string) => string): string {
    return JSON.stringify(this.#rows, (_, value) => (typeof value === "string" ? stored(value) : value));
  }
}

/** A part of a statement. Its text may differ by engine. */
export class Fragment {
  readonly #texts: Readonly<Record<Dialect, readonly string[]>>;
  readonly #parts: readonly Part[];

  constructor(texts: Readonly<Record<Dialect, readonly string[]>>, parts: readonly Part[]) {
    this.#texts = texts;
    this.#parts = parts;
  }

  /** Appends the text of this fragment and its bound values. */
  appendTo(statement: Composed, dialect: Dialect): void {
    const texts = this.#texts[dialect];
    statement.append(texts[0] ?? "");
    this.#parts.forEach((part, index) => {
      if (part instanceof Fragment) part.appendTo(statement, dialect);
      else statement.bind(part);
      statement.append(texts[index + 1] ?? "");
    });
  }
}

/** A statement's text, split where values are bound. */
export class Composed {
  readonly texts: string[] = [""];
  readonly values: Bound[] = [];

  append(text: string): void {
    this.texts[this.texts.length - 1] += text;
  }

  bind(value: Bound): void {
    this.values.push(value);
    this.texts.push("");
  }
}

/** An engine's answer to a statement. */
export interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** The number of rows that the statement changed. */
  readonly changes: number;
  /** The original text of a stored text. */
  textOf(stored: string): string;
}

/** Steps of a store. Each yields a statement to the engine, and the last returns a result. */
export type Work<Result> = Generator<Statement<unknown>, Result, Answer>;

/** The input of an engine: one statement, or the steps of a generator. */
export interface Steps<Result> {
  [Symbol.iterator](): Work<Result>;
}

/** A statement, and the part of its answer that the caller needs. */
export class Statement<Wanted> implements Steps<Wanted> {
  readonly #fragment: Fragment;
  readonly #read: (answer: Answer) => Wanted;
  /** Whether the statement returns rows. */
  readonly hasRows: boolean;

  constructor(fragment: Fragment, hasRows: boolean, read: (answer: Answer) => Wanted) {
    this.#fragment = fragment;
    this.hasRows = hasRows;
    this.#read = read;
  }

  composed(dialect: Dialect): Composed {
    const statement = new Composed();
    this.#fragment.appendTo(statement, dialect);
    return statement;
  }

  *[Symbol.iterator](): Work<Wanted> {
    return this.#read(yield this);
  }
}

/** A tag of templates. */
type Tag<Made> = (texts: TemplateStringsArray, ...parts: readonly Part[]) => Made;

/** A part of a statement, for both engines. */
export const part: Tag<Fragment> = (texts, ...parts) =>
  new Fragment({ sqlite: texts, postgres: texts }, parts);

/** SQL that differs by engine and binds nothing. */
export function perEngine(texts: Readonly<Record<Dialect, string>>): Fragment {
  return new Fragment({ sqlite: [texts.sqlite], postgres: [texts.postgres] }, []);
}

/** SQL of this program that binds nothing: the name of a table. */
export function sqlText(text: string): Fragment {
  return perEngine({ sqlite: text, postgres: text });
}

/** A statement without rows. @returns the number of rows that it changed */
export const run: Tag<Statement<number>> = (texts, ...parts) =>
  new Statement(part(texts, ...parts), false, ({ changes }) => changes);

/** The number of rows: `` count`FROM views WHERE …` ``. */
export const count: Tag<Statement<number>> = (texts, ...parts) =>
  new Statement(part`SELECT count(*) AS rows ${part(texts, ...parts)}`, true, ({ rows }) =>
    numberIn(rows[0]?.rows, "rows"),
  );

/** Whether there is a row: `` exists`FROM people WHERE …` ``. */
export const exists: Tag<Statement<boolean>> = (texts, ...parts) =>
  new Statement(
    part`SELECT 1 AS found ${part(texts, ...parts)} LIMIT 1`,
    true,
    ({ rows }) => rows.length > 0,
  );

/** Rows: `` select(view)`FROM views WHERE …` ``. */
export function select<Row extends object>(row: RowOf<Row>): Tag<Statement<readonly Row[]>> {
  return (texts, ...parts) => new Statement(part`SELECT ${row.list} ${part(texts, ...parts)}`, true, row.all);
}

/** The rows that a statement wrote or deleted: `` returning(view)`DELETE FROM views WHERE …` ``. */
export function returning<Row extends object>(row: RowOf<Row>): Tag<Statement<readonly Row[]>> {
  return (texts, ...parts) =>
    new Statement(part`${part(texts, ...parts)} RETURNING ${row.list}`, true, row.all);
}

/** The one row that a statement wrote. Its absence is an error of this program. */
export function returningOne<Row extends object>(row: RowOf<Row>): Tag<Statement<Row>> {
  return (texts, ...parts) =>
    new Statement(part`${part(texts, ...parts)} RETURNING ${row.list}`, true, (answer) => {
      const [first] = row.all(answer);
      if (first === undefined) throw new Error(`The ledger returned no row for: ${texts.join("…").trim()}`);
      return first;
    });
}

/** The SQL that selects a column, and the function that reads its stored value. */
export interface Column<Value> {
  /** Its SQL. Default: the field's name in snake case. */
  readonly source: string | undefined;
  readonly read: (stored: unknown, name: string, answer: Answer) => Value;
}

/** A row's fields and their columns. */
export class RowOf<Row extends object> {
  readonly list: Fragment;
  readonly #fields: readonly (readonly [name: string, column: Column<unknown>])[];

  constructor(columns: { readonly [Name in keyof Row]: Column<Row[Name]> }) {
    this.#fields = Object.entries<Column<unknown>>(columns);
    const list = this.#fields.map(([name, { source = snakeCase(name) }]) => `${source} AS "${name}"`);
    this.list = sqlText(list.join(", "));
  }

  /** The rows of an answer. */
  readonly all = (answer: Answer): readonly Row[] => answer.rows.map((stored) => this.#rowOf(stored, answer));

  #rowOf(stored: Answer["rows"][number], answer: Answer): Row {
    const row: Record<string, unknown> = {};
    for (const [name, column] of this.#fields) row[name] = column.read(stored[name], name, answer);
    // The constructor's type demands a column of the right type for each field.
    return row as Row;
  }
}

/** An integer. */
export const integer = (source?: string): Column<number> => ({ source, read: numberIn });

/** A number that may have a fraction. */
export const real = (source?: string): Column<number> => ({ source, read: numberIn });

/** Text, in its original form. */
export const text = (source?: string): Column<string> => ({
  source,
  read: (stored, name, answer) => answer.textOf(textIn(stored, name)),
});

/** Text that only this program writes: one of a few words. */
export const word = <Word extends string>(source?: string): Column<Word> => ({
  source,
  // There is no check: an older version must be able to read rows with a word of a newer one.
  read: (stored, name) => textIn(stored, name) as Word,
});

/** A boolean, which SQLite stores as 0 or 1. */
export const flag = (source?: string): Column<boolean> => ({
  source,
  read: (stored) => stored === true || stored === 1,
});

/** A value that `Json` wrote. */
export const json = <Value>(source?: string): Column<Value> => ({
  source,
  read: (stored, name) => JSON.parse(textIn(stored, name)) as Value,
});

/** A column that may be null. */
export const nullable = <Value>({ source, read }: Column<Value>): Column<Value | null> => ({
  source,
  read: (stored, name, answer) => (stored === null ? null : read(stored, name, answer)),
});

function numberIn(stored: unknown, name: string): number {
  if (typeof stored !== "number") throw new Error(`The ledger's column ${name} holds no number.`);
  return stored;
}

function textIn(stored: unknown, name: string): string {
  if (typeof stored !== "string") throw new Error(`The ledger's column ${name} holds no text.`);
  return stored;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
