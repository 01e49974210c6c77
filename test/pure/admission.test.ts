/** Admission: whatever JSON comes in, it is admitted or refused in words that help, and never throws. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Invalid, isInvalid, parseBody, whyUnstorable } from "../../server/intake/admission/json.ts";
import { admitIdentify } from "../../server/intake/identify.ts";
import { admitTrack } from "../../server/intake/track.ts";
import { anyJson, arrivalIn, seeded } from "./support.ts";

const options = seeded("admission.test.ts", 4_000);
const arrival = arrivalIn("Europe/Paris");
const doors = [
  ["identify", admitIdentify],
  ["track", admitTrack],
] as const;

function admit<Admitted extends object>(
  door: (body: Exclude<ReturnType<typeof parseBody>, Invalid>, at: typeof arrival) => Admitted | Invalid,
  text: string,
  at = arrival,
): Admitted | Invalid {
  const body = parseBody(Buffer.from(text));
  return isInvalid(body) ? body : door(body, at);
}

/** A refusal begins with a field's path (or "body"), says what is wrong, and ends with what to send. */
function expectHelpful({ invalid }: Invalid): void {
  expect(invalid).toMatch(
    /^\S.* (is|has|contains) .*: send .+\.$|are two different times: send one of them\.$/s,
  );
}

describe.each(doors)("%s", (_name, door) => {
  test("names a field in quotes whose name begins or ends with white space", () => {
    expect(admit<object>(door, '{"\\t":"\\ud800"}')).toEqual({
      invalid: '"\\t" has half of a surrogate pair: send whole characters.',
    });
  });

  test("never throws on any JSON, and every refusal names a field and says what to send", () => {
    let refused = 0;
    fc.assert(
      fc.property(anyJson(), (value) => {
        const outcome = admit<object>(door, JSON.stringify(value));
        if (!isInvalid(outcome)) return;
        refused += 1;
        expectHelpful(outcome);
      }),
      options,
    );
    expect(refused).toBeGreaterThan(options.numRuns / 2);
  });

  test("never throws on a valid body in which one field was replaced by any JSON", () => {
    const fields = ["userId", "email", "event", "properties", "isAccountOwner", "account", "messageId"];
    const field = fc.constantFrom(...fields, "timestamp", "time", "extra");
    const valid = { userId: "u", email: "ada@example.com", event: "e" };
    let admitted = 0;
    fc.assert(
      fc.property(field, anyJson(), (key, value) => {
        const outcome = admit<object>(door, JSON.stringify({ ...valid, [key]: value }));
        if (!isInvalid(outcome)) admitted += 1;
        else {
          expectHelpful(outcome);
          // In quotes when the path ends with white space.
          expect(outcome.invalid.replace(/^"/, "")).toStartWith(key);
        }
      }),
      options,
    );
    expect(admitted).toBeGreaterThan(options.numRuns / 20);
  });

  test("never throws on bytes", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      anyJson().map((value) => cut(JSON.stringify(value))),
    );
    fc.assert(
      fc.property(bytes, (one) => {
        const body = parseBody(one);
        if (isInvalid(body)) expectHelpful(body);
        else admit<object>(door, Buffer.from(one).toString());
      }),
      options,
    );
  });
});

/** A text without its second half, which is mostly no JSON any more. */
function cut(text: string): Uint8Array {
  return Buffer.from(text.slice(0, Math.ceil(text.length / 2)));
}

test("the admitted item equals the sent one: properties survive being parsed and written", () => {
  const properties = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 3 }), {
    maxKeys: 8,
  });
  fc.assert(
    fc.property(properties, (sent) => {
      const text = JSON.stringify({ userId: "u", event: "e", properties: sent });
      const outcome = admit(admitTrack, text);
      if (isInvalid(outcome)) throw new Error(outcome.invalid);
      expect(outcome.properties).toBe(JSON.stringify(JSON.parse(JSON.stringify(sent))));
    }),
    options,
  );
});

test("a number is an id exactly when its text is the number's decimal string", () => {
  const digits = fc.oneof(
    fc.integer().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String),
    fc.stringMatching(/^-?(0|[1-9][0-9]{0,4})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?$/),
  );
  let [taken, refused] = [0, 0];
  fc.assert(
    fc.property(digits, (number) => {
      const outcome = admit(admitTrack, `{"userId":${number},"event":"e"}`);
      if (isInvalid(outcome)) {
        refused += 1;
        expect(outcome.invalid).toMatch(/^userId .*send it as a string\.$/);
        expect(isDecimalString(number)).toBe(false);
      } else {
        taken += 1;
        expect(outcome.userId).toBe(number);
        expect(isDecimalString(number)).toBe(true);
      }
    }),
    options,
  );
  expect(Math.min(taken, refused)).toBeGreaterThan(options.numRuns / 20);
});

/** Whether a number's text is plain, without a zero too many, and means exactly the number that it reads
 * as. */
function isDecimalString(text: string): boolean {
  return /^(0|-?(0\.[0-9]*[1-9]|[1-9][0-9]*(\.[0-9]*[1-9])?))$/.test(text) && String(Number(text)) === text;
}

test("an integer that would be rounded is refused wherever it stands, by its path", () => {
  const path = fc.array(fc.stringMatching(/^[a-z]{1,5}$/), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(path, fc.bigInt({ min: 10n ** 15n, max: 10n ** 25n }), (keys, integer) => {
      const open = keys.map((key) => `{"${key}":`).join("");
      const text = `{"userId":"u","event":"e","properties":${open}${integer}${"}".repeat(keys.length)}}`;
      const outcome = admit(admitTrack, text);
      const parsed = Number(integer);
      const survives = BigInt(parsed) === integer || String(parsed) === String(integer);
      if (survives) return expect(isInvalid(outcome)).toBe(false);
      expect(isInvalid(outcome) && outcome.invalid).toStartWith(`properties.${keys.join(".")} `);
    }),
    options,
  );
});

test("a refusal names a long path by its first 200 characters", () => {
  const path = (length: number) =>
    whyUnstorable({ [`a${"b".repeat(length - 1)}`]: Number.POSITIVE_INFINITY }, () => undefined)?.invalid;
  expect(path(200)).toBe(`a${"b".repeat(199)} is out of range: send it as a string.`);
  expect(path(201)).toBe(`a${"b".repeat(199)}… is out of range: send it as a string.`);
});

test("the header names a message that its body does not name", () => {
  const name = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(fc.option(name), fc.option(name), (inBody, inHeader) => {
      const text = JSON.stringify({ userId: "u", event: "e", messageId: inBody });
      const outcome = admit(admitTrack, text, { ...arrival, idempotencyKey: inHeader });
      if (isInvalid(outcome)) throw new Error(outcome.invalid);
      expect(outcome.messageId).toBe(inBody ?? inHeader);
    }),
    options,
  );
});
