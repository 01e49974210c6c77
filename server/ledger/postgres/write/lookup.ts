/** The results of one kind of look-up, and the keys without a result yet. */
import type { Tx } from "../connect.ts";
import type { Key } from "./keys.ts";

/** A result. Without a value it is not known yet, and the key may be looked up again. */
export interface Found<Value> extends Key {
  readonly value: Value | undefined;
}

/** Reads the stored values of these keys, in one statement. A key without a result has no stored value. */
export type Find<Value> = (tx: Tx, keys: readonly Key[]) => Promise<readonly Found<Value>[]>;

export class Lookup<Value> {
  readonly #find: Find<Value>;
  readonly #known = new Map<string, Value | null>();
  #missing = new Map<string, Key>();

  constructor(find: Find<Value>) {
    this.#find = find;
  }

  /** The stored value. Undefined if there is none, or if it is not known yet. An unknown key is recorded as
   * missing. */
  get(organization: number, id: string): Value | undefined {
    const key = { organization, id };
    const known = this.#known.get(textOf(key));
    if (known === undefined) this.#missing.set(textOf(key), key);
    return known ?? undefined;
  }

  /** Adds results. Keys that are neither found nor known have no stored value. */
  add(keys: readonly Key[], found: readonly Found<Value>[]): void {
    for (const key of keys) {
      if (!this.#known.has(textOf(key))) this.#known.set(textOf(key), null);
    }
    for (const { value, ...key } of found) {
      if (value === undefined) this.#known.delete(textOf(key));
      else this.#known.set(textOf(key), value);
    }
  }

  /** Reads the results of these keys. */
  async load(tx: Tx, keys: readonly Key[]): Promise<void> {
    const unique = [...new Map(keys.map((key) => [textOf(key), key])).values()];
    if (unique.length > 0) this.add(unique, await this.#find(tx, unique));
  }

  /** The keys without a result, in the order of their look-ups. They are not returned again. */
  takeMissing(): readonly Key[] {
    const missing = [...this.#missing.values()];
    this.#missing = new Map();
    return missing;
  }
}

/** Results that are lists: every key has one, which may be empty. */
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
