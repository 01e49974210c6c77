/** The digits of a body's numbers, how many values a body may have, and what it costs to find out. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { limits } from "../../contract/limits.ts";
import { admitBatch, readBatch } from "../../server/intake/admission/batch.ts";
import { isInvalid, parseBody, parseObject } from "../../server/intake/admission/json.ts";
import { isLost, mayRoundIntegers, NumberTexts } from "../../server/intake/admission/number-texts.ts";
import { countValues } from "../../server/intake/admission/value-count.ts";
import { arrivalIn, seeded } from "./support.ts";

const options = seeded("number-texts.test.ts", 2_000);

const noLimit = { values: Number.POSITIVE_INFINITY, keys: Number.POSITIVE_INFINITY };

/** JSON texts with equal keys in several spellings, white space, and numbers that readers of JSON change. */
function jsonTexts(): fc.Arbitrary<string> {
  const number = fc.oneof(
    fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String),
    fc.constantFrom(
      "1",
      "-0",
      "1.5",
      "1.50",
      "1e3",
      "1e400",
      "-1E+0309",
      "9007199254740993",
      "9007199254740992",
      "123456789012345.6",
    ),
  );
  const key = fc.constantFrom('"a"', '"\\u0061"', '"1"', '"0"', '"__proto__"', '"\\"b"', '"c\\\\"', '""');
  const space = fc.constantFrom("", " ", "\n\t");
  const { any } = fc.letrec<{ any: string; list: string; object: string }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      number,
      fc.constantFrom('"9007199254740993"', '"\\",1e3:"', '"\\\\"', "null", "true"),
      tie("list"),
      tie("object"),
    ),
    list: fc.tuple(fc.array(tie("any")), space).map(([items, gap]) => `[${gap}${items.join(`,${gap}`)}]`),
    object: fc
      .tuple(fc.array(fc.tuple(key, tie("any"))), space)
      .map(([pairs, gap]) => `{${gap}${pairs.map(([k, v]) => `${k}${gap}:${gap}${v}`).join(`${gap},`)}}`),
  }));
  return any;
}

/** The numbers of a text in their own digits, by path, as a reviver of `JSON.parse` gets them. */
function numbersByReviver(text: string): Map<string, string> {
  const sources = new Map<object, Map<string, string>>();
  const root: unknown = JSON.parse(text, function (this: object, key, value, context?: { source?: string }) {
    if (typeof value !== "number" || context?.source === undefined) return value;
    const own = sources.get(this) ?? new Map<string, string>();
    sources.set(this, own.set(key, context.source));
    return value;
  });
  const found = new Map<string, string>();
  const visit = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, held] of Object.entries(value)) {
      const source = sources.get(value)?.get(key);
      if (typeof held === "number" && source !== undefined) found.set(JSON.stringify([...path, key]), source);
      visit(held, [...path, key]);
    }
  };
  visit(root, []);
  return found;
}

test("the digits of each number are found at its path, and those of no other", () => {
  let unusual = 0;
  fc.assert(
    fc.property(jsonTexts(), (text) => {
      const numbers = NumberTexts.of(text);
      const expected = numbersByReviver(text);
      for (const [path, digits] of expected) {
        const isUsual = String(Number(digits)) === digits;
        unusual += isUsual ? 0 : 1;
        expect(numbers.at(JSON.parse(path))).toBe(isUsual ? undefined : digits);
      }
      const lost = NumberTexts.lost(text);
      const allLost = [...expected].filter(([, digits]) => isLost(digits));
      for (const [path, digits] of expected) {
        expect(lost.at(JSON.parse(path))).toBe(isLost(digits) ? digits : undefined);
      }
      // A text that is one number has a path of no keys, which the reviver's map leaves out.
      const value: unknown = JSON.parse(text);
      if (typeof value !== "object") return;
      const [first] = allLost.map(([path, digits]) => ({ path: JSON.parse(path), digits }));
      expect(lost.first(value)).toEqual(first);
    }),
    options,
  );
  expect(unusual).toBeGreaterThan(500);
});

test("an integer is lost when JavaScript writes another one, however large it is", () => {
  const written = (number: number) => (Math.abs(number) < 1e21 ? BigInt(String(number)) : BigInt(number));
  const digits = fc.oneof(
    fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }),
    fc.bigInt({ min: 2n ** 53n - 100n, max: 2n ** 53n + 100n }),
    fc.double({ min: -1e25, max: 1e25, noNaN: true }).map((number) => BigInt(Math.trunc(number))),
  );
  fc.assert(
    fc.property(digits, (integer) => {
      expect(isLost(String(integer))).toBe(written(Number(integer)) !== integer);
    }),
    options,
  );
  expect(["-0", "0", "1e400", "-1e400", "1e-400", "1.50"].filter(isLost)).toEqual(["1e400", "-1e400"]);
});

test("numbers further inside than the levels that are asked for are left out", () => {
  const numbers = NumberTexts.of('{"a":1.50,"b":{"c":1.50,"d":[1.50]}}', 2);
  expect([["a"], ["b", "c"], ["b", "d", "0"]].map((path) => numbers.at(path))).toEqual([
    "1.50",
    "1.50",
    undefined,
  ]);
});

test("a run of 16 digits is seen wherever it begins, and none of 15", () => {
  for (let before = 0; before < 40; before += 1) {
    for (const after of ["", "x", " ".repeat(40)]) {
      const around = (digits: string) => " ".repeat(before) + digits + after;
      expect(mayRoundIntegers(around("1".repeat(16)))).toBe(true);
      expect(mayRoundIntegers(around(`${"1".repeat(15)}.${"2".repeat(15)}`))).toBe(false);
    }
  }
});

test("values and keys are counted as a reader of JSON has them", () => {
  const counted = (value: unknown): { values: number; keys: number } => {
    const held = typeof value === "object" && value !== null ? Object.values(value).map(counted) : [];
    const sum = (of: "values" | "keys") => held.reduce((all, one) => all + one[of], 0);
    const own = Array.isArray(value) ? 0 : held.length;
    return { values: 1 + sum("values"), keys: own + sum("keys") };
  };
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
      const text = Buffer.from(JSON.stringify(value, null, indent));
      expect(countValues(text, noLimit)).toEqual(counted(value));
    }),
    options,
  );
});

describe("a body with several items has at most", () => {
  const refusal = (json: string) => {
    const parsed = parseObject(Buffer.from(json));
    return isInvalid(parsed) ? parsed.invalid : undefined;
  };

  test.each([
    ["1,", 2],
    ["{},", 2],
    ["[ ],", 2],
  ])("1,000,000 values: %s", (item, besides) => {
    const list = (items: number) => `{"a":[${item.repeat(items - 1)}${item.slice(0, -1)}]}`;
    expect(refusal(list(limits.values - besides))).toBeUndefined();
    expect(refusal(list(limits.values - besides + 1))).toBe("body has more than 1000000 values: send fewer.");
  });

  test("400,000 keys", () => {
    const object = (keys: number) => `{"a":1${',"a":1'.repeat(keys - 1)}}`;
    expect(refusal(object(limits.bodyKeys))).toBeUndefined();
    expect(refusal(object(limits.bodyKeys + 1))).toBe("body has more than 400000 keys: send fewer.");
  });

  test("and it is refused before it is parsed", () => {
    expect(refusal(`{"a":[${"1,".repeat(limits.values)}`)).toBe(
      "body has more than 1000000 values: send fewer.",
    );
  });
});

test("one long number among many short ones costs less than ten times as much as none", () => {
  const arrival = arrivalIn("UTC");
  const body = (last: string) =>
    Buffer.from(
      `{"batch":[{"type":"track","userId":"u","event":"e","properties":{"a":[${"1,".repeat(110_000)}${last}]}}]}`,
    );
  const admitted = (bytes: Uint8Array) => {
    const parsed = parseObject(bytes);
    const batch = isInvalid(parsed) ? parsed : readBatch(parsed);
    if (isInvalid(batch)) throw new Error(batch.invalid);
    return [...admitBatch(batch, arrival)].flat();
  };
  const leastMicroseconds = (bytes: Uint8Array) => {
    const costs = Array.from({ length: 10 }, () => {
      const before = process.cpuUsage();
      admitted(bytes);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    return Math.min(...costs);
  };
  expect(admitted(body("9007199254740993"))).toEqual([
    {
      invalid: "properties.a.110000 has too many digits to be kept, 9007199254740993: send it as a string.",
    },
  ]);
  // With a reviver of `JSON.parse` it was 28 times as much.
  expect(leastMicroseconds(body("9007199254740993")) / leastMicroseconds(body("1"))).toBeLessThan(10);
});

test("of several numbers that were rounded the message names the one that an object has first", () => {
  const message = (json: string) => {
    const body = parseBody(Buffer.from(json));
    return isInvalid(body) ? body.invalid : "";
  };
  expect(message('{"a":1,"b":9007199254740993,"a":9007199254740995}')).toStartWith("a has too many digits");
  expect(message('{"b":9007199254740993,"7":9007199254740995}')).toStartWith("7 has too many digits");
  expect(message('{"\\u0061":9007199254740993,"a":1}')).toBe("");
});
