/** What columns seem to be: by their names, else by their values. */
import { expect, test } from "bun:test";
import { guess } from "../../server/features/imports/guess.ts";

function guessed(columns: readonly string[], ...rows: readonly (readonly unknown[])[]) {
  const read = rows.map((cells, index) => ({ line: index + 2, columns, cells }));
  const { columns: found, kind, from } = guess(columns, read, true);
  return { kind, from, roles: found.map(({ role }) => role), times: found.map(({ times }) => times) };
}

test("e-mail addresses and ids are found under any name", () => {
  const rows = [
    ["7", "ada@example.com", "0815"],
    ["8", "bob@example.com", "0816"],
  ];
  const { kind, roles } = guessed(["member_id", "contact", "article"], ...rows);
  // Zeros in front are kept.
  expect([kind, roles]).toEqual(["users", ["userId", "email", "property"]]);
});

test("times tell whether they have a timezone, and whether the day is first", () => {
  const times = (...cells: readonly string[]) =>
    guessed(["user", "event", "x"], ...cells.map((cell) => ["u", "e", cell])).times[2];
  expect(times("2026-05-01T10:00:00Z", "2026-05-01")).toBe("clear");
  expect(times("2026-05-01 10:00")).toBe("zoneless");
  expect(times("01/02/2026")).toBe("dayOrMonth");
  expect(times("never", "soon")).toBe(null);
});

test("exports of tools are known by their columns, and nothing is guessed of nothing", () => {
  expect(guessed(["event_type", "event_time"], ["a", "2026-05-01"]).from).toBe("amplitude");
  expect(guessed(["event", "properties"], ["a", { distinct_id: "u" }]).from).toBe("mixpanel");
  expect(guessed(["type", "messageId", "anonymousId"], ["track", "m", "a"]).from).toBe("segment");
  expect(guessed(["x", "y"], ["1", "b"])).toMatchObject({
    kind: null,
    from: null,
    roles: ["number", "property"],
  });
});
