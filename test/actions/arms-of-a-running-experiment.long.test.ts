/** Arms by request while something happens to the experiment: a treated user and a control are erased, and
 * the rule is named anew, changed, paused and deleted. */
import { expect, test } from "bun:test";
import type { ArmAnswer } from "../../contract/arm.ts";
import { ownServer } from "../own-server.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { readRoutes } from "../specification/read-routes.ts";
import { until } from "../until.ts";
import { cancelFlow, Offers } from "./arm-support.ts";

const server: Server = await ownServer(() => server, { time: quick });

/** A company of whose customers each has an arm. */
async function running(name: string, count: number) {
  const offers = await Offers.found(server, name);
  const customers = Array.from({ length: count }, (_, index) => `${name.toLowerCase()}-${index}`);
  await offers.identified(...customers);
  await offers.begin(customers[0] ?? "");
  const arms = new Map<string, ArmAnswer>();
  for (const userId of customers) arms.set(userId, await offers.arm(userId));
  const of = (arm: ArmAnswer["arm"]) => customers.filter((userId) => arms.get(userId)?.arm === arm);
  return { offers, arms, treated: of("treated"), controls: of("control") };
}

/** The routes, of all that read, whose answers name one of these users. @param asked a user in addresses */
async function routesThatName(
  { owner, organization }: Offers["ours"],
  userIds: readonly string[],
  asked: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { address, template } of readRoutes({ userId: asked, accountId: asked })) {
    const path = `${address}${address.includes("?") ? "&" : "?"}organization=${organization}`;
    const text = await (await owner.ask("GET", path)).text();
    if (userIds.some((userId) => text.includes(`"${userId}"`))) found.push(template);
  }
  return found;
}

test("who is erased stays as a count of the arm, is named nowhere, and may come again as somebody new", async () => {
  const { offers, treated, controls } = await running("Erasing", 20);
  const { owner, at } = offers.ours;
  const [ada = "", other = ""] = treated;
  const [bob = ""] = controls;
  for (const userId of [ada, bob]) await offers.opened(userId);
  await until("the event is decided", async () => (await offers.alerted()).includes(ada));
  expect(await routesThatName(offers.ours, [ada, bob], other)).toContain("/api/alerts");
  const counts = { treated: treated.length, controls: controls.length };
  expect(await offers.holdOut()).toMatchObject(counts);

  for (const userId of [ada, bob]) await owner.json("DELETE", at(`/api/users/${userId}`));
  expect(await offers.holdOut()).toMatchObject(counts);
  expect(await routesThatName(offers.ours, [ada, bob], other)).toEqual([]);
  for (const userId of [ada, bob]) expect((await offers.ask({ rule: offers.rule, userId })).status).toBe(404);

  await offers.identified(ada, bob);
  const again = [await offers.arm(ada), await offers.arm(bob)];
  expect(again).toMatchObject([{ counted: true }, { counted: true }]);
  expect([await offers.arm(ada), await offers.arm(bob)]).toEqual(again);
  const held = again.filter(({ arm }) => arm === "control").length;
  expect(await offers.holdOut()).toMatchObject({
    treated: counts.treated + 2 - held,
    controls: counts.controls + held,
  });
});

test("another name or step leaves the experiment, another condition or share begins the next", async () => {
  const { offers, arms, treated, controls } = await running("Changing", 20);
  const { owner, at } = offers.ours;
  const [ada = ""] = treated;
  const [bob = ""] = controls;
  let late = 0;
  const change = async (fields: object) => {
    await owner.json("PUT", at(`/api/alert-rules/${offers.rule}`), { ...cancelFlow, ...fields });
    late += 1;
    await offers.identified(`late-${late}`);
    await offers.untilListed(`late-${late}`);
    return offers.arm(`late-${late}`);
  };
  const steps = [{ kind: "task", afterDays: 3, title: "Call" }];
  expect(await change({ name: "Offer", steps })).toMatchObject({ experiment: 1 });
  for (const [userId, arm] of arms) expect(await offers.arm(userId)).toEqual(arm);

  const fields = { name: "Offer", condition: { kind: "event", event: "left" } };
  expect(await change(fields)).toMatchObject({ experiment: 2 });
  expect(await offers.arm(ada)).toMatchObject({ counted: true, experiment: 2 });
  // A control is left alone until its horizon is over, and is no entry of the next experiment.
  const held = { arm: "control", counted: false, until: arms.get(bob)?.until };
  expect(await offers.arm(bob)).toMatchObject({ ...held, experiment: 2 });
  expect(await change({ ...fields, holdOutShare: 0.3 })).toMatchObject({ experiment: 3 });
  expect(await offers.arm(bob)).toMatchObject({ ...held, experiment: 3 });
  const { treated: entered = 0, controls: others = 0 } = (await offers.holdOut()) ?? {};
  expect(entered + others).toBe(1);
});

test("while the rule is paused arms stay and nobody enters; nobody is asked for when it is deleted", async () => {
  const { offers, arms, treated } = await running("Pausing", 20);
  const { owner, at } = offers.ours;
  const [ada = ""] = treated;
  await offers.opened(ada);
  await until("the event is decided", async () => (await offers.alerted()).includes(ada));
  const rule = `/api/alert-rules/${offers.rule}`;
  await owner.json("POST", at(`${rule}/pause`));
  await offers.identified("late");
  for (const [userId, arm] of arms) expect(await offers.arm(userId)).toEqual(arm);
  expect(await offers.arm("late")).toEqual({ arm: "treated", counted: false, experiment: 1, until: null });
  await owner.json("POST", at(`${rule}/resume`));
  await offers.untilListed("late");
  expect(await offers.arm("late")).toMatchObject({ experiment: 1 });
  expect(await offers.arm(ada)).toEqual(arms.get(ada) as ArmAnswer);

  await owner.done("DELETE", at(rule));
  for (const userId of arms.keys())
    expect((await offers.ask({ rule: offers.rule, userId })).status).toBe(404);
  expect(await offers.holdOut()).toBeUndefined();
  expect(await offers.alerted()).toEqual([]);
});
