/**
 * Arbitraries of fast-check made from JSON Schemas: values that a schema takes, and values that it refuses
 * because of exactly one place.
 */
import fc from "fast-check";
import type { Schema } from "./document.ts";

type Value = fc.Arbitrary<unknown>;
type Row = Readonly<Record<string, unknown>>;

/** Values of a field beyond its schema, by the field's name: valid ones and broken ones. */
export type Hints = Readonly<Record<string, { readonly valid: Value; readonly broken: Value }>>;

/** Any text that storage can keep: every character but halves of surrogate pairs. */
const unit = "binary";

/** Values for a place without a schema. */
const anything = fc.jsonValue({ maxDepth: 3, stringUnit: unit });

const instants = fc
  .date({ min: new Date("1970-01-02"), max: new Date("2299-12-30"), noInvalidDate: true })
  .map((instant) => instant.toISOString());
const noDates = fc.constantFrom("", "tomorrow", "2027-02-30", "31.03.2027", "2027-03-31T09:30:00");

/** Values by format. A text without `@` or a scheme has none of these formats. */
const formats: Readonly<Record<string, { readonly valid: fc.Arbitrary<string>; readonly broken: Value }>> = {
  email: {
    valid: fc.emailAddress(),
    broken: fc.oneof(
      fc.string({ unit, maxLength: 60 }).map((text) => text.replaceAll("@", "")),
      fc.tuple(fc.emailAddress(), fc.constantFrom("@", " ", ",", "\n")).map((parts) => parts.join("")),
      fc.emailAddress().map((address) => address.replace(/@.*/, "@")),
    ),
  },
  "idn-email": {
    valid: fc
      .tuple(fc.stringMatching(/^[a-zα-ωㄱ-ㆎ]{1,20}$/), fc.stringMatching(/^[a-zα-ω가-힣]{1,20}$/))
      .map(([local, domain]) => `${local}@${domain}.com`),
    broken: fc.constant("실례"),
  },
  date: { valid: instants.map((text) => text.slice(0, 10)), broken: noDates },
  "date-time": { valid: instants, broken: noDates },
  uri: {
    valid: fc.oneof(
      fc.webUrl({ validSchemes: ["http", "https"], withQueryParameters: true, withFragments: true }),
      fc.base64String({ maxLength: 80 }).map((text) => `data:image/png;base64,${text}`),
    ),
    broken: fc.oneof(
      fc.webUrl({ validSchemes: ["ftp", "javascript", "file"] }),
      fc.webUrl().map((url) => url.replace(/^https?:/, "")),
      fc.string({ unit, maxLength: 60 }).filter((text) => !/^(http|data)/i.test(text)),
    ),
  },
};

function formatNamed(name: string) {
  const format = formats[name];
  if (format === undefined) throw new Error(`no arbitrary for the format ${name}`);
  return format;
}

/** Values that the schema takes.
 * @param full whether every field is there and nothing is null that can be something else */
export function validFor(schema: Schema, hints: Hints, full = false): Value {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) {
    const choices = full ? schema.anyOf.filter(({ type }) => type !== "null") : schema.anyOf;
    return fc.oneof(...choices.map((choice) => validFor(choice, hints, full)));
  }
  switch (schema.type) {
    case "string":
      return validString(schema);
    case "number":
      if (schema.minimum !== undefined) return fc.integer({ min: schema.minimum }).map((n) => n / 4);
      return fc.oneof(
        fc.maxSafeInteger(),
        fc.integer({ min: -99_999, max: 99_999 }).map((n) => n / 100),
      );
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array": {
      const { items = {}, minItems = 0, maxItems = 10 } = schema;
      const maxLength = Math.min(maxItems, 10);
      return fc.array(validFor(items, hints, full), { minLength: minItems, maxLength });
    }
    case "object":
      return validObject(schema, hints, full);
    case undefined:
      return anything;
    default:
      throw new Error(`no arbitrary for the type ${schema.type}`);
  }
}

function validString({ format, pattern, minLength = 0, maxLength = 100 }: Schema): fc.Arbitrary<string> {
  const isOfLength = (text: string) => [...text].length >= minLength && [...text].length <= maxLength;
  const matching = new RegExp(pattern ?? "", "u");
  if (format !== undefined) {
    return formatNamed(format).valid.filter((one) => isOfLength(one) && matching.test(one));
  }
  const text = fc.string({ unit, minLength, maxLength });
  const longest = fc.string({ unit, minLength: maxLength, maxLength });
  const both = fc.oneof({ arbitrary: text, weight: 9 }, { arbitrary: longest, weight: 1 });
  return both.filter((one) => matching.test(one));
}

function validObject({ properties = {}, required = [] }: Schema, hints: Hints, full: boolean): Value {
  const names = Object.keys(properties);
  const fields = Object.entries(properties).map(
    ([name, field]) => [name, hints[name]?.valid ?? validFor(field, hints, full)] as const,
  );
  const known = fc.record(Object.fromEntries(fields), { requiredKeys: full ? names : [...required] });
  const key = fc.string({ unit, maxLength: 20 }).filter((name) => !names.includes(name));
  return fc
    .tuple(fc.dictionary(key, anything, { maxKeys: 5 }), known)
    .map(([more, own]) => ({ ...more, ...own }));
}

/** A value that is wrong in one place. */
export interface Broken {
  /** The place, as messages name it: `account.avatar`. */
  readonly path: string;
  /** The change at this place. */
  readonly how: string;
  readonly value: unknown;
}

interface Break {
  readonly path: readonly string[];
  readonly how: string;
  /** The value in its place. Undefined removes the field. */
  readonly instead: Value;
}

/** Values with a single fault. Every place, and every way to break it, comes about equally often. */
export function brokenFor(schema: Schema, hints: Hints): fc.Arbitrary<Broken> {
  const breaks = breaksOf(schema, hints, [], true);
  return fc.constantFrom(...breaks).chain(({ path, how, instead }) =>
    fc.tuple(validFor(schema, hints, true), instead).map(([value, other]) => {
      return { path: path.join(".") || "body", how, value: replaced(value, path, other) };
    }),
  );
}

/** Every way to break a schema and what is inside it, once each: for tests that none is left out. */
export function waysToBreak(schema: Schema, hints: Hints): string[] {
  return breaksOf(schema, hints, [], true).map(({ path, how }) => `${path.join(".") || "body"}: ${how}`);
}

function breaksOf(schema: Schema, hints: Hints, path: readonly string[], isRequired: boolean): Break[] {
  const choices = schema.anyOf ?? [schema];
  const breaks: Break[] = [{ path, how: "of another type", instead: otherType(choices, isRequired) }];
  const array = choices.find(({ type }) => type === "array");
  if (array !== undefined) breaks.push(...brokenArrays(array).map((one) => ({ ...one, path })));
  if (isRequired && path.length > 0) breaks.push({ path, how: "missing", instead: fc.constant(undefined) });
  const hint = hints[path.at(-1) ?? ""];
  if (hint !== undefined) breaks.push({ path, how: "with a wrong value", instead: hint.broken });
  const minimum = choices.find((choice) => choice.minimum !== undefined)?.minimum;
  if (minimum !== undefined) {
    breaks.push({ path, how: "below its minimum", instead: fc.integer({ max: minimum - 1 }) });
  }
  breaks.push(
    ...brokenStrings(choices.filter(({ type }) => type === "string")).map((one) => ({ ...one, path })),
  );
  for (const { properties = {}, required = [] } of choices) {
    for (const [name, field] of Object.entries(properties)) {
      breaks.push(...breaksOf(field, hints, [...path, name], required.includes(name)));
    }
  }
  return breaks;
}

const valuesByType: Readonly<Record<string, Value>> = {
  string: fc.string({ unit, maxLength: 20 }),
  number: fc.oneof(fc.maxSafeInteger(), fc.constant(0)),
  boolean: fc.boolean(),
  null: fc.constant(null),
  array: fc.array(anything, { maxLength: 3 }),
  object: fc.dictionary(fc.string({ unit, maxLength: 5 }), anything, { maxKeys: 3 }),
};

/** Values of the types that none of the choices has. Null for what may be left out is "not sent". */
function otherType(choices: readonly Schema[], isRequired: boolean): Value {
  const taken = new Set(choices.map(({ type }) => type));
  if (!isRequired) taken.add("null");
  const others = Object.entries(valuesByType).filter(([type]) => !taken.has(type));
  return fc.oneof(...others.map(([, value]) => value));
}

const spaces = [
  " ",
  "\t",
  "\n",
  "\r\n",
  "\v",
  "\u0085",
  "\u00a0",
  "\u1680",
  "\u2003",
  "\u2028",
  "\u3000",
  "\ufeff",
];

/** Arrays of the wrong length. Too many valid items would be too many bytes, which is another limit. */
function brokenArrays({ minItems = 0, maxItems }: Schema): Omit<Break, "path">[] {
  const breaks: Omit<Break, "path">[] = [];
  if (minItems > 0) breaks.push({ how: "too short", instead: fc.constant([]) });
  if (maxItems !== undefined) {
    const tooMany = Array.from({ length: maxItems + 1 }, () => ({}));
    breaks.push({ how: "too long", instead: fc.constant(tooMany) });
  }
  return breaks;
}

/** Strings that each choice refuses for the same one reason. */
function brokenStrings(choices: readonly Schema[]): Omit<Break, "path">[] {
  const [first, ...more] = choices;
  if (first === undefined) return [];
  if (first.const !== undefined) {
    const isOther = (text: string) => choices.every((choice) => choice.const !== text);
    return [{ how: "with another value", instead: fc.string({ unit, maxLength: 20 }).filter(isOther) }];
  }
  const breaks: Omit<Break, "path">[] = [];
  const { minLength = 0, maxLength, pattern, format } = first;
  if (minLength > 0)
    breaks.push({ how: "too short", instead: fc.string({ unit, maxLength: minLength - 1 }) });
  if (maxLength !== undefined) breaks.push({ how: "too long", instead: tooLong(first, maxLength) });
  if (pattern !== undefined) {
    const matching = new RegExp(pattern, "u");
    const instead = fc
      .tuple(
        fc.string({ unit, maxLength: 20 }),
        fc.constantFrom(...spaces),
        fc.string({ unit, maxLength: 20 }),
      )
      .map((parts) => parts.join(""))
      .filter((text) => !matching.test(text));
    breaks.push({ how: "against its pattern", instead });
  }
  if (format !== undefined) breaks.push({ how: "against its format", instead: formatNamed(format).broken });
  if (more.some((other) => other.maxLength !== maxLength)) throw new Error("choices of unlike lengths");
  return breaks;
}

function tooLong(schema: Schema, maxLength: number): Value {
  const longer = fc.nat(20).map((more) => "x".repeat(maxLength + 1 + more));
  if (schema.format === "email") return longer.map((local) => `${local}@example.com`);
  return longer;
}

/** The value with something else at a path. `undefined` removes the field. */
function replaced(value: unknown, path: readonly string[], instead: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return instead;
  const fields = value as Row;
  return { ...fields, [name]: replaced(fields[name], rest, instead) };
}
