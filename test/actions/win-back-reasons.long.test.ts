/** Reasons of the win-back list: those of this departure; what the team says wins. */

import { beforeAll, expect, test } from "bun:test";
import { formatDay } from "../../server/calendar/days.ts";
import { daysAgo, identify, sendAll, track } from "../erasure/support.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { ownServer } from "../own-server.ts";
import { joined } from "../people/support.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";

const organization = "Reasons";
const server: Server = await ownServer(() => server, { time: quick });
let olga: Awaited<ReturnType<typeof joined>>;

const billing = (who: string, event: string, days: number, more: object = {}) =>
  track(who, event, daysAgo(days), {
    isActivity: false,
    properties: { subscriptionId: `of ${who}`, ...more },
  });
const started = (who: string, days: number) =>
  billing(who, "subscription_started", days, {
    status: "active",
    plan: "pro",
    amount: 4_900,
    currency: "USD",
    interval: "month",
  });
/** A reason that a team member or an application gave so many days ago. */
const said = (who: string, churnReason: string, days: number) =>
  identify(who, { properties: { churnReason }, timestamp: daysAgo(days) });

const price = { comment: "Costs too much" };

/** Each was active until 40 days ago. */
const histories: Readonly<Record<string, readonly object[]>> = {
  // Left for the price, and came back without paying.
  "came-back": [started("came-back", 700), billing("came-back", "subscription_canceled", 500, price)],
  // Left for the price, pays again and is silent.
  "pays-again": [
    started("pays-again", 700),
    billing("pays-again", "subscription_canceled", 500, price),
    started("pays-again", 300),
  ],
  // Said long before the end of a year's subscription.
  "long-notice": [
    started("long-notice", 400),
    billing("long-notice", "cancellation_scheduled", 150, price),
    billing("long-notice", "subscription_canceled", 36),
  ],
  "took-back": [
    started("took-back", 400),
    billing("took-back", "cancellation_scheduled", 150, price),
    billing("took-back", "cancellation_withdrawn", 140),
  ],
  "old-team": [said("old-team", "Of another departure", 500)],
  "newer-billing": [
    started("newer-billing", 600),
    said("newer-billing", "Of the team", 50),
    billing("newer-billing", "subscription_canceled", 38, price),
  ],
  "newer-team": [
    started("newer-team", 600),
    said("newer-team", "Of the team", 30),
    billing("newer-team", "subscription_canceled", 38, price),
  ],
};

beforeAll(async () => {
  const token = await server.organization(organization, "--timezone", quietZone);
  olga = await joined(server, organization, "owner", "Olga Owner");
  const people = Object.keys(histories);
  const activity = people.flatMap((who) =>
    Array.from({ length: 30 }, (_, week) => track(who, "opened", daysAgo(40 + week * 3))),
  );
  await sendAll(server, token, [
    ...[...people, "here"].map((who) => identify(who, { timestamp: daysAgo(800) })),
    ...activity,
    ...Object.values(histories).flat(),
    // Without activity of others no data was collected since, and silence means nothing.
    ...Array.from({ length: 90 }, (_, day) => track("here", "opened", daysAgo(day + 1))),
  ]);
  await server.exported("events", organization);
  for (const days of [30, 0]) {
    const day = formatDay(todayIn(quietZone) - days);
    await server.command("score", "--organization", organization, "--as-of", day, "--even-if-stopped");
  }
});

test("reasons count since the last return, and what the team says wins over billing", async () => {
  const path = `/api/win-back?kind=user&days=30&organization=${olga.organization}`;
  const { churned } = await olga.json<{
    churned: readonly { id: string; reason: string | null; reasonFrom: string | null }[];
  }>("GET", path);
  const reasons = churned.map(({ id, reason, reasonFrom }) => [id, [reason, reasonFrom]] as const);
  expect(Object.fromEntries(reasons)).toEqual({
    "came-back": [null, null],
    "pays-again": [null, null],
    "long-notice": ["Costs too much", "billing"],
    "took-back": [null, null],
    "old-team": [null, null],
    "newer-billing": ["Of the team", "team"],
    "newer-team": ["Of the team", "team"],
  });
});
