/** What has become of the pulses of an account. */
import { expect, test } from "bun:test";
import { type OwnerSince, pulseStates } from "../../server/features/pulse/pulse-states.ts";

const dayMs = 86_400_000;
const on = { today: 200, dayOf: (atMs: number) => Math.floor(atMs / dayMs) };
const said = (day: number, takenBackDay?: number) => ({
  saidAtMs: day * dayMs,
  takenBackAtMs: takenBackDay === undefined ? null : takenBackDay * dayMs,
});
const owned = (day: number, owner: string): OwnerSince => ({ atMs: day * dayMs, owner });
const statesOf = (days: readonly (readonly [day: number, takenBack?: number])[], owners: OwnerSince[] = []) =>
  pulseStates(
    days.map(([day, takenBack]) => said(day, takenBack)),
    owners,
    on,
  );

test("the newest counts for 90 days, and replaces the others", () => {
  expect(statesOf([[199], [150]])).toEqual(["current", "replaced"]);
  expect([statesOf([[110]]), statesOf([[109]])]).toEqual([["current"], ["stale"]]);
});

test("one that is taken back gives the place to the one before", () => {
  expect(statesOf([[199, 200], [150], [140]])).toEqual(["taken_back", "current", "replaced"]);
});

test("another owner or none ends it, a first owner does not", () => {
  expect(statesOf([[150]], [owned(100, "ada"), owned(160, "bob")])).toEqual(["owner_changed"]);
  expect(statesOf([[150]], [owned(100, "ada"), owned(160, "")])).toEqual(["owner_changed"]);
  expect(statesOf([[150]], [owned(100, "ada"), owned(160, "ada")])).toEqual(["current"]);
  expect(statesOf([[150]], [owned(160, "bob")])).toEqual(["current"]);
  expect(statesOf([[170]], [owned(100, "ada"), owned(160, "bob")])).toEqual(["current"]);
});
