/** Payers in every state, as an application tells of them by /identify and /track. */
import { Zone } from "../../server/calendar/zone.ts";
import { quietZone } from "../far-from-midnight.ts";
import type { Server } from "../server.ts";
import { send, user } from "../specification/support.ts";

const dayMs = 86_400_000;

const price = (plan: string, amount: number, currency = "USD", more: object = {}) => ({
  plan,
  amount,
  currency,
  interval: "month",
  ...more,
});

/** Payers as of an instant of the clock of a server, in a timezone in which its day does not end while tests
 * run. */
export function payersAt(nowMs: number) {
  const todayMs = new Zone(quietZone).dayOf(nowMs) * dayMs;
  /** An instant at noon so many days after today. */
  const onDay = (days: number) => new Date(todayMs + days * dayMs + dayMs / 2).toISOString();
  /** A date so many days after today. */
  const dateOf = (days: number) => onDay(days).slice(0, 10);
  const event = (userId: string, subscriptionId: string, days: number, name: string, properties: object) => ({
    userId,
    event: name,
    timestamp: onDay(days),
    messageId: `${subscriptionId} ${name} ${days}`,
    properties: { subscriptionId, ...properties },
  });

  /** The users, each with an account of another name, but for `solo` and `idle`. */
  const accounts: Readonly<Record<string, readonly [id: string, attributes: object]>> = {
    ada: ["acme", { tier: "gold" }],
    bob: ["beta", {}],
    cyd: ["gamma", { renewsAt: dateOf(40) }],
    dan: ["delta", {}],
    eve: ["epsilon", {}],
    zoe: ["zeta", {}],
    hal: ["eta", {}],
    tim: ["theta", { renewsAt: dateOf(3), contractValue: 1_200, owner: "csm@example.com" }],
  };

  const billingEvents = [
    event("ada", "a1", -90, "subscription_started", price("Team", 8_000)),
    event("ada", "a1", -30, "subscription_changed", {
      ...price("Business", 10_000),
      currentPeriodEnd: onDay(10),
    }),
    event(
      "ada",
      "a2",
      -20,
      "subscription_started",
      price("Storage", 2_000, "USD", { currentPeriodEnd: onDay(5) }),
    ),
    event(
      "bob",
      "b1",
      -60,
      "subscription_started",
      price("Team", 5_000, "EUR", { currentPeriodEnd: onDay(20) }),
    ),
    event("bob", "b1", -2, "cancellation_scheduled", { endsAt: onDay(20) }),
    event(
      "cyd",
      "c1",
      -50,
      "subscription_started",
      price("Team", 3_000, "USD", { currentPeriodEnd: onDay(2) }),
    ),
    event("cyd", "c1", -3, "payment_failed", { amount: 3_000, currency: "USD" }),
    event(
      "dan",
      "d1",
      -40,
      "subscription_started",
      price("Team", 700, "CHF", { currentPeriodEnd: onDay(9) }),
    ),
    event("eve", "e1", -5, "trial_started", { ...price("Business", 10_000), trialEndsAt: onDay(7) }),
    event("zoe", "z1", -70, "subscription_started", price("Team", 4_000)),
    event("zoe", "z1", -6, "subscription_paused", {}),
    event("hal", "h1", -80, "subscription_started", price("Team", 4_000)),
    event("hal", "h1", -8, "subscription_canceled", {}),
    event("hal", "h1", -4, "subscription_changed", { plan: "Old" }),
    event(
      "solo",
      "s1",
      -10,
      "subscription_started",
      price("Solo", 999, "USD", { currentPeriodEnd: onDay(20) }),
    ),
  ];

  /** Sends them, and waits until lists have them. The reporting currency is USD, EUR has a rate and CHF
   * none. */
  async function sendPayers(server: Server, organization: string, token: string): Promise<void> {
    for (const userId of [...Object.keys(accounts), "solo", "idle"]) {
      const [id, properties] = accounts[userId] ?? [];
      const account = id === undefined ? {} : { account: { id, name: `The ${id}`, properties } };
      await send(server, "/identify", token, user(userId, account));
    }
    for (const one of billingEvents) await send(server, "/track", token, one);
    await server.command(
      "settings",
      "set",
      "--organization",
      organization,
      "--reporting-currency",
      "usd",
      "--currency-rate",
      "EUR=1.1",
    );
    // The export waits for all changes of subscriptions.
    await server.exported("subscriptions", organization);
  }
  return { onDay, dateOf, sendPayers };
}
