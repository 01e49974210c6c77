/** Failures that come again and again are logged once a minute, with how many were left out. */
import { expect, test } from "bun:test";
import { Repeats } from "../../server/process/log.ts";

test("an equal failure is left out for a minute, and counted", () => {
  const repeats = new Repeats();
  const full = [{ err: new Error("the disk is full") }, "a chore failed"];
  const seconds = Array.from({ length: 121 }, (_, second) => repeats.omittedBefore(full, second * 1_000));
  expect(seconds.flatMap((omitted, second) => (omitted === undefined ? [] : [[second, omitted]]))).toEqual([
    [0, 0],
    [60, 59],
    [120, 59],
  ]);
});

test("other failures, other work and lines without a failure are not left out", () => {
  const repeats = new Repeats();
  const lines = [
    [{ err: new Error("the disk is full") }, "a chore failed"],
    [{ err: new Error("the disk is gone") }, "a chore failed"],
    [{ err: new Error("the disk is full") }, "another chore failed"],
    [{ err: new Error("the disk is full"), organization: 1 }, "a chore failed"],
    [{ organization: 1 }, "scored"],
    [{ organization: 1 }, "scored"],
    ["rekindle is running"],
    ["rekindle is running"],
  ];
  expect(lines.map((words) => repeats.omittedBefore(words, 0))).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
});
