/** The reading of event times against Temporal and TypeBox's formats. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import Format from "typebox/format";
import { parseEventTime } from "../../server/calendar/event-time.ts";
import { dayNumber, Zone } from "../../server/calendar/zone.ts";
import { seeded } from "./support.ts";

const utc = new Zone("UTC");
const options = seeded("time.test.ts", 3_000);
const firstMs = Date.UTC(1970, 0, 1);
const lastMs = Date.UTC(2300, 0, 1) - 1;

const two = (value: number) => String(value).padStart(2, "0");

/** Texts that are date-times or nearly so: every part may be a little out of range. */
const nearlyDateTime = fc
  .record({
    year: fc.integer({ min: 1969, max: 2301 }),
    month: fc.integer({ min: 0, max: 13 }),
    day: fc.integer({ min: 0, max: 32 }),
    hour: fc.integer({ min: 0, max: 24 }),
    minute: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constant(59)),
    second: fc.oneof(fc.integer({ min: 0, max: 61 }), fc.constantFrom(59, 60)),
    fraction: fc.oneof(
      fc.constantFrom("", ".0", ".5", ".999999999"),
      fc.nat(99_999).map((n) => `.${n}`),
    ),
    offset: fc.oneof(
      fc.constantFrom("Z", "z", "+00:00", "-00:00", "+24:00", "+10:60", "", "+01", "-0800"),
      fc
        .tuple(fc.constantFrom("+", "-"), fc.nat(23), fc.nat(59))
        .map(([sign, hours, minutes]) => `${sign}${two(hours)}:${two(minutes)}`),
    ),
    separator: fc.constantFrom("T", "t", "T", "T", " "),
  })
  .map((at) => {
    const date = `${at.year}-${two(at.month)}-${two(at.day)}`;
    return `${date}${at.separator}${two(at.hour)}:${two(at.minute)}:${two(at.second)}${at.fraction}${at.offset}`;
  });

/** The milliseconds that Temporal reads in a text that RFC 3339 allows. A leap second is the next one's
 * start. */
function temporalMs(text: string): number {
  const leap = /:60(?:\.\d+)?(?=[Zz+-])/;
  if (leap.test(text)) return temporalMs(text.replace(leap, ":59")) + 1_000;
  return Temporal.Instant.from(text.replace(/\.(\d{9})\d+/, ".$1")).epochMilliseconds;
}

test("times that RFC 3339 allows are read as Temporal reads them, and no others are read", () => {
  let [read, refused] = [0, 0];
  fc.assert(
    fc.property(nearlyDateTime, (text) => {
      const ms = parseEventTime(text, utc);
      if (!Format.IsDateTime(text)) {
        refused += 1;
        return expect(ms).toBeUndefined();
      }
      read += 1;
      const expected = temporalMs(text);
      expect(ms).toBe(expected < firstMs || expected > lastMs ? undefined : expected);
    }),
    options,
  );
  expect(Math.min(read, refused)).toBeGreaterThan(options.numRuns / 20);
});

test("every instant of the years 1970 to 2299 is read back from its text at any offset", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: firstMs, max: lastMs }),
      fc.integer({ min: -1439, max: 1439 }),
      (ms, minutes) => {
        const local = new Date(ms + minutes * 60_000).toISOString().slice(0, -1);
        fc.pre(/^\d{4}-/.test(local));
        const offset = `${minutes < 0 ? "-" : "+"}${two(Math.trunc(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
        expect(parseEventTime(local + offset, utc)).toBe(ms);
        expect(parseEventTime(new Date(ms).toISOString(), utc)).toBe(ms);
      },
    ),
    options,
  );
});

test("a date is read exactly when the calendar has it", () => {
  const part = (max: number) => fc.integer({ min: 0, max });
  fc.assert(
    fc.property(fc.integer({ min: 1970, max: 2299 }), part(13), part(32), (year, month, day) => {
      const text = `${year}-${two(month)}-${two(day)}`;
      const exists = Format.IsDate(text);
      const ms = exists ? Temporal.PlainDate.from(text).toZonedDateTime("UTC").epochMilliseconds : undefined;
      expect(parseEventTime(text, utc)).toBe(ms);
      expect(dayNumber(year, month, day)).toBe(ms === undefined ? undefined : ms / 86_400_000);
    }),
    options,
  );
});

test("no text at all makes it throw, and what is read lies in 1970 to 2299", () => {
  const pieces = fc.constantFrom(
    "2026",
    "-",
    "05",
    "17",
    "T",
    ":",
    "00",
    "Z",
    "+",
    ".",
    " ",
    "৪",
    "\n",
    "\u0000",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(pieces, { maxLength: 14 }).map((all) => all.join("")),
  );
  fc.assert(
    fc.property(text, (one) => {
      const ms = parseEventTime(one, utc);
      if (ms !== undefined) expect(ms).toBeWithin(firstMs, lastMs + 1);
    }),
    options,
  );
});
