/** Requests with large bodies have one step in each turn of the event loop, and small ones wait for none. */
import { expect, test } from "bun:test";
import { BodyBudget } from "../../server/http/port/body-budget.ts";

test("large bodies go on one after another, and a small one at once", async () => {
  const budget = new BodyBudget(1024 * 1024);
  const holding = (bytes: number) => {
    const request = new Request("http://localhost/batch");
    budget.reserve(request, bytes);
    return request;
  };
  const [one, other, small] = [holding(100_000), holding(100_000), holding(1_000)];
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const wentOn = async (request: Request) => {
    await budget.turn(request);
    return turn;
  };
  const [ofOne, ofOther, ofSmall] = await Promise.all([wentOn(one), wentOn(other), wentOn(small)]);
  isOver = true;
  expect(ofSmall).toBe(0);
  expect(ofOne).toBeGreaterThan(0);
  expect(ofOther).toBeGreaterThan(ofOne);
  // An answered request holds nothing, and waits for nobody.
  budget.release(one);
  await budget.turn(one);
});
