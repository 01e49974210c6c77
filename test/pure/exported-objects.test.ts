/** Columns of PostHog's exports that are JSON as text. */
import { expect, test } from "bun:test";
import { exportTranslations } from "../../server/sources/exports/exports.ts";

const context = {
  nowMs: Date.UTC(2026, 4, 17),
  zone: undefined,
  accountProperty: undefined,
  createdCustomers: new Set<string>(),
};
const translated = (more: object) =>
  exportTranslations.posthog(
    { uuid: "e1", event: "report_created", distinct_id: "ada", timestamp: "2026-05-16T09:30:00Z", ...more },
    context,
  );

const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;

test.each([
  ["properties", '{"pages": 3, "ti'],
  ["properties", deep],
  ["set_once", deep],
])("%s that cannot be read reject the row", (column, text) => {
  expect(translated({ [column]: text })).toEqual({
    invalid: expect.stringContaining(`${column} cannot be read`),
  });
});

test("a number with too many digits in such a text is kept as its digits", () => {
  const { items } = { items: [], ...translated({ person_properties: '{"plan":9007199254740993}' }) };
  expect(JSON.stringify(items)).toContain('"plan":"9007199254740993"');
});

test("an object and its text are the same", () => {
  const properties = { pages: 3, invalid: "a property's name" };
  const asText = translated({ properties: JSON.stringify(properties) });
  expect(asText).toMatchObject({ items: [{ event: "report_created", properties }] });
  expect(asText).toEqual(translated({ properties }));
});
