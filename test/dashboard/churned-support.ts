/** An organization with accounts and users that have churned in each way, and some that have not. */
import { expect } from "bun:test";
import { formatDay } from "../../server/calendar/days.ts";
import { demonstrationDay } from "../scored-demonstration.ts";
import type { Server } from "../server.ts";

/** The name of the organization. */
export const gone = "Gone";
const today = demonstrationDay;

/** The day so many days before today. */
export const ago = (days: number) => formatDay(today - days);
/** The same as pages show it. */
export const shown = (days: number) =>
  new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" }).format(Date.parse(ago(days)));
const longName = `${"Wolfeschlegelsteinhausen ".repeat(8)}Ltd`;

interface Use {
  readonly userId: string;
  readonly name: string;
  readonly account: { readonly id: string; readonly name: string };
  /** Active on each of these days before today. */
  readonly daysAgo: readonly number[];
  readonly leftDaysAgo?: number;
}

/** Whole numbers, both ends included. */
export const span = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

const canceled = { id: "a-canceled", name: "Acme Works" };
const uses: readonly Use[] = [
  // Twelve members were active until one of them canceled.
  ...span(1, 11).map((index) => ({
    userId: `c${index}`,
    name: `Colleague ${index}`,
    account: canceled,
    daysAgo: span(12 + index, 90),
  })),
  {
    userId: "farah",
    name: "Farah Okafor",
    account: canceled,
    daysAgo: span(13, 90),
    leftDaysAgo: 12,
  },
  // Silent for longer than the horizon, and so inactive.
  {
    userId: "silent",
    name: "Sil Ent",
    account: { id: "a-silent", name: "Silent Ltd" },
    daysAgo: span(40, 90),
  },
  // Not churned, and hardly used any more.
  {
    userId: "fading",
    name: "Fay Ding",
    account: { id: "a-fading", name: "Fading Ltd" },
    daysAgo: span(24, 90),
  },
  // As many as data needs that has not stopped.
  ...span(1, 16).map((index) => ({
    userId: `busy${index}`,
    name: `Busy ${index}`,
    account: { id: "a-busy", name: longName },
    daysAgo: span(1, 90),
  })),
];

/** Makes the organization, with scores of today and of 28 days before. */
export async function fillGone(server: Server): Promise<void> {
  const token = await server.organization(gone);
  const at = (days: number) => `${ago(days)}T12:00:00Z`;
  const batch = uses.flatMap(({ userId, name, account, daysAgo, leftDaysAgo }) => [
    {
      type: "identify",
      userId,
      email: `${userId}@example.com`,
      account,
      properties: { name, plan: "pro" },
    },
    ...daysAgo.map((days) => ({ type: "track", userId, event: "opened", timestamp: at(days) })),
    ...(leftDaysAgo === undefined
      ? []
      : [{ type: "track", userId, event: "subscription_canceled", timestamp: at(leftDaysAgo) }]),
  ]);
  for (let from = 0; from < batch.length; from += 1_000) {
    const response = await server.post("/batch", token, { batch: batch.slice(from, from + 1_000) });
    expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  }
  await server.exported("events", gone);
  const target = "event subscription_canceled";
  const targets = ["--user-churn", target, "--account-churn", target];
  await server.command("settings", "set", "--organization", gone, ...targets);
  await server.command("score", "--organization", gone, "--as-of", ago(28));
  await server.command("score", "--organization", gone);
}
