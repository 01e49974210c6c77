/**
 * Kills the service at random moments while a company's server asks for arms and sends the events. After each
 * start every customer who was told a counted arm is told it again. In the end each has one entry, each
 * treated one has one alert, and no control has any.
 */
import { expect, test } from "bun:test";
import type { ArmAnswer } from "../../contract/arm.ts";
import { Offers } from "../actions/arm-support.ts";
import { ownPort, restart } from "../durability/killing.ts";
import { ownServer } from "../own-server.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";
import { randomOfThisRun } from "../warehouse/support.ts";

const as = { time: { ...quick, scheduleMs: null } };
let server: Server = await ownServer(() => server, { ...as, env: await ownPort() });

const kills = 20;
/** Customers who come to the cancel page between two kills. */
const perRound = 16;
const customersOf = (round: number) =>
  Array.from({ length: perRound }, (_, index) => `customer-${round}-${index}`);

test("an arm that was told is told again after each of 20 kills, with one entry and at most one alert", async () => {
  const random = randomOfThisRun("arms under kills");
  const offers = await Offers.found(server, "Killed offers");
  await offers.identified("first");
  await offers.begin("first");
  const told = new Map<string, ArmAnswer>([["first", await offers.arm("first")]]);
  /** Asks, and keeps the answer or compares it with that of before. A killed service answers nothing. */
  const ask = async (userId: string) => {
    const response = await offers.ask({ rule: offers.rule, userId }).catch(() => undefined);
    const answer = response?.ok ? await response.json().catch(() => undefined) : undefined;
    if (answer === undefined || !(answer as ArmAnswer).counted) return;
    expect([userId, answer]).toEqual([userId, told.get(userId) ?? answer]);
    told.set(userId, answer as ArmAnswer);
  };
  const open = async (userId: string) => {
    const isTaken = () =>
      offers.opened(userId).then(
        () => true,
        () => false,
      );
    await until("the event is taken", isTaken);
  };
  for (let round = 0; round < kills; round += 1) {
    const customers = customersOf(round);
    await offers.identified(...customers);
    const working = customers.map(async (userId, index) => {
      // Some events come before the question, some after it, and some at the same moment.
      await Bun.sleep(random.within(0, 150));
      if (index % 3 === 0) await open(userId);
      await Promise.all([ask(userId), ask(userId), ...(index % 3 === 1 ? [open(userId)] : [])]);
      if (index % 3 === 2) await open(userId);
    });
    await Bun.sleep(random.within(0, 200));
    await server.crash();
    server = await restart(server, as);
    await Promise.all(working);
    for (const userId of told.keys()) await ask(userId);
  }
  await server.ready();
  const all = ["first", ...Array.from({ length: kills }, (_, round) => customersOf(round)).flat()];
  await open("first");
  // Who was never answered enters by the event.
  await until("all events are decided", async () => {
    const holdOut = await offers.holdOut();
    return (holdOut?.treated ?? 0) + (holdOut?.controls ?? 0) >= all.length;
  });
  for (const userId of all) await ask(userId);
  expect([...told.keys()].toSorted()).toEqual(all.toSorted());
  const treated = all.filter((userId) => told.get(userId)?.arm === "treated").toSorted();
  expect(await offers.holdOut()).toMatchObject({
    treated: treated.length,
    controls: all.length - treated.length,
  });
  await until(
    "each of the treated has an alert",
    async () => (await offers.alerted()).length >= treated.length,
  );
  expect(await offers.alerted()).toEqual(treated);
});
