/** The helper that tests wait with: what it waits for, and what it says when that does not come. */
import { expect, test } from "bun:test";
import { becomes, until } from "./until.ts";

test("it looks until what it sees is so, and returns it", async () => {
  let looks = 0;
  const look = () => {
    looks += 1;
    return looks;
  };
  expect(await until("the third look", look, (seen) => seen === 3)).toBe(3);
  await becomes(async () => [look()], [6]);
  expect(looks).toBe(6);
});

test("in vain it says what it waited for, how long, and what it saw last, not too much of it", async () => {
  const said = await until(
    "two are there",
    () => ["one"],
    ({ length }) => length === 2,
    { limitMs: 20 },
  ).catch(String);
  expect(said).toMatch(/^Error: waited \d\d+ ms until two are there, and saw last: \[ "one" \]$/);
  const long = await until(
    "it ends",
    () => "x".repeat(10_000),
    (text) => text === "",
    { limitMs: 0 },
  ).catch(String);
  expect(long).toHaveLength("Error: waited 0 ms until it ends, and saw last:  … ".length + 2_000);
});

test("an error of a look is no reason to look again", async () => {
  const look = () => Promise.reject(new Error("the answer is no JSON"));
  await expect(until("an answer", look)).rejects.toThrow("the answer is no JSON");
});
