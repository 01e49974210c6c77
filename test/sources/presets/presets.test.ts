/** Payloads of billing tools by a table: what each becomes, whose it is, and that spoiled ones do no harm. */
import { describe, expect, test } from "bun:test";
import type { WebhookPreset } from "../../../contract/source-settings.ts";
import { presetTexts } from "../../../dashboard/pages/sources/presets.ts";
import type { Event, Items, Known, PresetCase, PresetCases } from "./cases.ts";
import { chargebeeCases } from "./chargebee/cases.ts";
import { chargebeeEvent, customer, line, subscription } from "./chargebee/payloads.ts";
import { lemonsqueezyCases } from "./lemonsqueezy/cases.ts";
import { paddleCases } from "./paddle/cases.ts";
import { polarCases } from "./polar/cases.ts";
import { revenuecatCases } from "./revenuecat/cases.ts";
import { revenuecatEvent } from "./revenuecat/payloads.ts";
import { eventsOf, expectNoHarm, ignored, itemsOf, traitsOf, translated } from "./support.ts";

const presets: Readonly<Record<WebhookPreset, PresetCases>> = {
  paddle: paddleCases,
  revenuecat: revenuecatCases,
  chargebee: chargebeeCases,
  lemonsqueezy: lemonsqueezyCases,
  polar: polarCases,
};

interface Expected {
  readonly events: Awaited<ReturnType<typeof eventsOf>>;
  readonly items: Items;
}

const isEvent = (one: PresetCase[2]): one is Event => Array.isArray(one);
const isOfItems = (one: PresetCase[2]) => typeof one === "object" && !isEvent(one);

/** Events are these and no others, where some are expected. */
async function expectItems(preset: WebhookPreset, body: object, known: Known, expected: Expected) {
  const [events, items] = [await eventsOf(preset, body, known), await itemsOf(preset, body, known)];
  const traits = await traitsOf(preset, body, known);
  const { events: more, amount, traits: some, allTraits, first, last, items: all } = expected.items;
  if (expected.events.length > 0 || more === 0) expect(events).toEqual([...expected.events]);
  if ("amount" in expected.items) expect(events[0]?.[1].amount).toBe(amount);
  if (some !== undefined) expect(traits).toMatchObject(some);
  if (allTraits !== undefined) expect(traits).toEqual({ ...allTraits });
  if (first !== undefined) expect(items[0]).toMatchObject(first);
  if (last !== undefined) expect(items.at(-1)).toMatchObject(last);
  if (all !== undefined) expect(items).toMatchObject([...all]);
}

describe.each(Object.entries(presets) as [WebhookPreset, PresetCases][])("%s", (preset, tool) => {
  test.each(tool.cases)("%s", async (what, data, ...becomes) => {
    const [type = ""] = /^[\w.]+/.exec(what) ?? [];
    const body = tool.payload(type, data);
    const reason = becomes.find((one) => typeof one === "string");
    const items: Items = Object.assign({}, ...becomes.filter(isOfItems));
    const events = becomes.filter(isEvent);
    for (const known of items.known === undefined ? [{}, tool.known] : [items.known]) {
      if (reason === undefined) await expectItems(preset, body, known, { events, items });
      else expect(await ignored(preset, body, known)).toContain(reason);
    }
  });

  test.each(tool.unused)("%s is not used", async (type) => {
    expect(await ignored(preset, tool.payload(type, tool.data))).toContain("is not used");
  });

  test.each([null, 1, "x", [], {}, ...tool.noPayloads].map((body) => [body]))(
    "%p is no payload",
    async (body) => expect(await translated(preset, body)).toHaveProperty("invalid"),
  );

  test("fields of other kinds do no harm", () => expectNoHarm(preset, tool.toSpoil));
});

test("the page of sources says what a RENEWAL of RevenueCat becomes", async () => {
  const renewals = [{}, { is_trial_conversion: true }, { store: "PLAY_STORE" }];
  const found = await Promise.all(
    renewals.map((more) => eventsOf("revenuecat", revenuecatEvent("RENEWAL", more), revenuecatCases.known)),
  );
  const told = presetTexts.revenuecat.meanings
    .filter(([theirs]) => theirs.includes("RENEWAL") || theirs === "purchases with a price")
    .flatMap(([, ours]) => ours.split(", "));
  expect([...new Set(told)].sort()).toEqual([...new Set(found.flat().map(([event]) => event))].sort());
});

test("many discounts of Chargebee cost little", async () => {
  const discounts = Array.from({ length: 20_000 }, () => ({ amount: 1, item_price_id: "p19999" }));
  const subscription_items = Array.from({ length: 20_000 }, (_, index) => line(`p${index}`, "addon", 1, 1));
  const content = { subscription: subscription({ discounts, subscription_items }), customer: customer() };
  const before = process.cpuUsage();
  const events = await eventsOf("chargebee", chargebeeEvent("subscription_changed", content));
  expect(events[0]?.[1].amount).toBe(0);
  // Each discount looked for its item among all takes seconds.
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});
