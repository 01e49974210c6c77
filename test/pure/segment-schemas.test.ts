/** Bodies about segments, and the filters in them. */
import { expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import { type Filter, FilterSchema } from "../../contract/segments/filters.ts";
import {
  SegmentAnswer,
  SegmentChangeBody,
  SegmentCreateBody,
  SegmentSavedAnswer,
  SegmentsAnswer,
} from "../../contract/segments/schemas.ts";
import { segmentKinds, segmentLimits } from "../../contract/segments/segments.ts";

const filter: Filter = {
  traits: [{ trait: "plan", match: "is", value: "pro" }],
  riskBand: "high",
  mrrFrom: 5_000,
  owner: "nobody",
  events: [
    { event: "report_exported", times: 3, days: 28 },
    { event: "login", match: "fewerThan", days: 14 },
  ],
  segments: [{ segment: 3 }, { segment: 4, match: "isNotIn" }],
};

test("a filter has conditions of each kind, at least one, and none that it does not know", () => {
  const validator = Compile(FilterSchema);
  expect(validator.Check(filter)).toBe(true);
  const event = { event: "login", days: 14 };
  const wrong = [
    {},
    { search: "ada" },
    { riskBand: "severe" },
    { events: [{ event: "login" }] },
    { events: [{ ...event, days: 0 }] },
    { events: [{ ...event, times: 0 }] },
    { events: Array.from({ length: segmentLimits.events + 1 }, () => event) },
    { segments: [{ segment: "Pro" }] },
    { traits: [{ match: "isEmpty" }] },
  ];
  expect(wrong.filter((one) => validator.Check(one))).toEqual([]);
});

test("a segment is made of a name, a kind, and a filter or ids", () => {
  const body = Compile(SegmentCreateBody);
  for (const kind of segmentKinds) {
    expect(body.Check({ kind, name: "At risk", filter })).toBe(true);
    expect(body.Check({ kind, name: "Pilots", ids: ["ada"] })).toBe(true);
  }
  expect(body.Check({ name: "At risk", filter })).toBe(false);
  expect(body.Check({ kind: "users", name: "\n", filter })).toBe(false);
  expect(body.Check({ kind: "users", name: "Pilots", ids: [] })).toBe(false);
  const change = Compile(SegmentChangeBody);
  expect(change.Check({ filter })).toBe(true);
  expect(change.Check({})).toBe(false);
  expect(change.Check({ kind: "accounts" })).toBe(false);
});

test("answers have the filter, or the number of ids", () => {
  const at = "2027-01-31T09:00:00Z";
  const segment = { id: 1, kind: "users", name: "At risk", filter, fixed: null, usedBy: [], createdBy: null };
  const answer = { ...segment, createdAt: at, updatedAt: at };
  expect(Compile(SegmentAnswer).Check(answer)).toBe(true);
  expect(Compile(SegmentSavedAnswer).Check(answer)).toBe(false);
  expect(Compile(SegmentSavedAnswer).Check({ ...answer, unknownIds: ["eve"] })).toBe(true);
  expect(Compile(SegmentsAnswer).Check({ segments: [answer, { ...answer, filter: null, fixed: 2 }] })).toBe(
    true,
  );
});
