/** What a list's filters are as a segment, and why some lists cannot be one. */
import { expect, test } from "bun:test";
import {
  filterOfQuery,
  type ListDays,
  type ListQuery,
  reasonsAgainst,
} from "../../dashboard/pages/segments/saved-filter.ts";
import { fallChips } from "../../dashboard/parts/figure/fall-chips.ts";
import { seatsChips } from "../../dashboard/text/seats-words.ts";
import { refuseInvalidFilter } from "../../server/ledger/rules/segment-rules.ts";

const days = { scored: "2026-11-28", today: "2026-11-28" };
const fell: ListQuery = { moved: "fell", riskBand: "high" };

test.each<readonly [string, ListDays, 7 | 28]>([
  ["2026-11-21", days, 7],
  ["2026-10-31", days, 28],
  // A link from before the day's first scores: seven days before today.
  ["2026-11-22", { scored: "2026-11-28", today: "2026-11-29" }, 7],
  ["2026-11-21", { scored: null, today: "2026-11-28" }, 7],
])("a list since %s with the days %o compares with %d days ago", (since, on, comparedWithDays) => {
  const query = { ...fell, since };
  expect(reasonsAgainst(query, on)).toEqual([]);
  expect(filterOfQuery(query, on)).toEqual({ ...fell, comparedWithDays });
});

test.each<readonly [ListQuery, string]>([
  [
    { ...fell, since: "2026-11-20" },
    "A segment compares with 7 or 28 days ago, and this list with 20 Nov 2026.",
  ],
  [{ ...fell, search: "ada" }, "A segment keeps no searched text, which may name a user."],
  [{ ...fell, account: "acme", activeInAccount: "acme" }, "A segment keeps no single account."],
  [{ ...fell, excluded: "included" }, "A segment never has excluded users."],
])("a list by %o is no segment", (query, reason) => {
  expect(reasonsAgainst(query, days)).toEqual([reason]);
});

test("a day of comparison that decides on no row is no reason", () => {
  const query: ListQuery = { riskBand: "high", since: "2026-09-01" };
  expect(reasonsAgainst(query, days)).toEqual([]);
  expect(filterOfQuery(query, days)).toEqual({ riskBand: "high" });
});

test("falls are conditions of their own, in words", () => {
  const set = { usageFellPercent: 40, healthFellPoints: 1, healthFellDays: 7, comparedWithDays: 7 } as const;
  const chips = fallChips(set);
  expect(chips.every(({ isSet }) => isSet)).toBe(true);
  expect(chips.map(({ text }) => text)).toEqual([
    "Use fell by at least 40% in 4 weeks",
    "Health fell by at least 1 point in 7 days",
  ]);
  expect(() => refuseInvalidFilter("accounts", set)).not.toThrow();
  expect(() => refuseInvalidFilter("users", { healthFellDays: 7 })).toThrow("send healthFellPoints with it");
});

test("seats and pulse are conditions of accounts alone, in words", () => {
  const set = { seatsUsedTo: 50, pulseTo: 2 } as const;
  expect(filterOfQuery(set, days)).toEqual(set);
  expect(seatsChips(set).map(({ text }) => text)).toEqual(["Seats used up to 50%", "Pulse up to 2"]);
  expect(() => refuseInvalidFilter("accounts", set)).not.toThrow();
  expect(() => refuseInvalidFilter("users", set)).toThrow("users have no such condition");
});
