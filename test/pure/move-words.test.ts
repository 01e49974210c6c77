/** Why health moved: every word follows from what was done before and after. */
import { expect, test } from "bun:test";
import { movementReason } from "../../server/analytics/move-words.ts";

const activity = { activeDays28: 14, idleDays: 1, activeMembers28: 0, hasLeft: false };

test("a user's text has the active days, and days without activity from a week on", () => {
  const now = { ...activity, activeDays28: 3, idleDays: 9 };
  expect(movementReason({ kind: "user", direction: "fell", before: activity, now })).toBe(
    "active on 3 of 28 days, was 14; silent for 9 days",
  );
  expect(movementReason({ kind: "user", direction: "rose", before: now, now: activity })).toBe(
    "active on 14 of 28 days, was 3",
  );
  expect(
    movementReason({ kind: "user", direction: "fell", before: activity, now: { ...activity, idleDays: 6 } }),
  ).toBe("active on 14 of 28 days, as before");
});

test("an account's text has the active members, and its days when they are as many as before", () => {
  const before = { ...activity, activeMembers28: 5 };
  const now = { ...before, activeMembers28: 1 };
  expect(movementReason({ kind: "account", direction: "fell", before, now })).toBe(
    "1 member active in 28 days, was 5",
  );
  expect(
    movementReason({ kind: "account", direction: "fell", before, now: { ...before, activeDays28: 6 } }),
  ).toBe("active on 6 of 28 days, was 14");
});

test("the text of a return has the time of absence, or that the user had left", () => {
  const now = { ...activity, activeDays28: 2, activeMembers28: 3 };
  const away = { ...activity, activeDays28: 0, idleDays: 41 };
  expect(movementReason({ kind: "user", direction: "returned", before: away, now })).toBe(
    "had been silent for 41 days; active on 2 of 28 days",
  );
  const left = { ...away, hasLeft: true };
  expect(movementReason({ kind: "account", direction: "returned", before: left, now })).toBe(
    "had left; 3 members active in 28 days",
  );
});
