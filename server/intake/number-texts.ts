/**
 * In which digits the numbers of a JSON text were sent; `JSON.parse` forgets them: 1.50 and 1.5 are one
 * number. Reading them parses the text again, so it is done only where the digits matter.
 */
export class NumberTexts {
  readonly #holder: unknown;
  readonly #texts: ReadonlyMap<object, ReadonlyMap<string, string>>;

  private constructor(holder: unknown, texts: ReadonlyMap<object, ReadonlyMap<string, string>>) {
    this.#holder = holder;
    this.#texts = texts;
  }

  /** The numbers of a whole text, which must be valid JSON. */
  static of(text: string): NumberTexts {
    const texts = new Map<object, Map<string, string>>();
    const root: unknown = JSON.parse(
      text,
      function (this: object, key: string, value: unknown, context?: { source?: string }) {
        if (typeof value !== "number" || context?.source === undefined) return value;
        const ofHolder = texts.get(this) ?? new Map<string, string>();
        texts.set(this, ofHolder.set(key, context.source));
        return value;
      },
    );
    return new NumberTexts(root, texts);
  }

  /** The value whose numbers these are. */
  get value(): unknown {
    return this.#holder;
  }

  /** The numbers of an object that is part of the value. */
  around(part: object): NumberTexts {
    return new NumberTexts(part, this.#texts);
  }

  /** The numbers of what a key of this object, or an index of this array, holds. */
  below(key: string): NumberTexts {
    const holder = this.#holder;
    const held = isObject(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined;
    return new NumberTexts(held, this.#texts);
  }

  /** The text of the number at a path of keys; undefined when no number is there. */
  at(path: readonly string[]): string | undefined {
    const [key, ...rest] = path;
    if (key === undefined) return undefined;
    if (rest.length > 0) return this.below(key).at(rest);
    return isObject(this.#holder) ? this.#texts.get(this.#holder)?.get(key) : undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
