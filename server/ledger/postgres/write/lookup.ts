/** Lookup to one kind of question, and the questions that have no answer yet. */
import type { Tx } from "../client/connect.ts";
import type { Key } from "./keys.ts";

/** An answer. Without a value the answer is not known, and the question may be asked again. */
export interface Found<Value> extends Key {
  readonly value: Value | undefined;
}

/** Reads what is stored of these keys, in one statement. A key without an answer has nothing stored. */
export type Find<Value> = (tx: Tx, keys: readonly Key[]) => Promise<readonly Found<Value>[]>;

export class Lookup<Value> {
  readonly #find: Find<Value>;
  readonly #known = new Map<string, Value | null>();
  #missing = new Map<string, Key>();

  constructor(find: Find<Value>) {
    this.#find = find;
  }

  /** What is stored. Undefined when nothing is, or when the answer is not known yet; then the question is noted. */
  get(organization: number, id: string): Value | undefined {
    const key = { organization, id };
    const known = this.#known.get(textOf(key));
    if (known === undefined) this.#missing.set(textOf(key), key);
    return known ?? undefined;
  }

  /** Adds answers. Keys that are not found and not known have nothing stored. */
  add(keys: readonly Key[], found: readonly Found<Value>[]): void {
    for (const key of keys) {
      if (!this.#known.has(textOf(key))) this.#known.set(textOf(key), null);
    }
    for (const { value, ...key } of found) {
      if (value === undefined) this.#known.delete(textOf(key));
      else this.#known.set(textOf(key), value);
    }
  }

  /** Reads the answers to these keys. */
  async load(tx: Tx, keys: readonly Key[]): Promise<void> {
    const unique = [...new Map(keys.map((key) => [textOf(key), key])).values()];
    if (unique.length > 0) this.add(unique, await this.#find(tx, unique));
  }

  /** The questions without an answer, in the order in which they were asked. They are not returned again. */
  takeMissing(): readonly Key[] {
    const missing = [...this.#missing.values()];
    this.#missing = new Map();
    return missing;
  }
}

/** Lookup that are lists: every key has one, which may be empty. */
export function grouped<Value>(
  keys: readonly Key[],
  found: readonly (Key & { readonly value: Value })[],
): readonly Found<readonly Value[]>[] {
  const values = Map.groupBy(found, textOf);
  return keys.map((key) => ({ ...key, value: (values.get(textOf(key)) ?? []).map(({ value }) => value) }));
}

function textOf({ organization, id }: Key): string {
  return `${organization} ${id}`;
}
