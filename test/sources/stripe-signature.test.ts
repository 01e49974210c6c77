/** Signatures as Stripe's own package makes them for tests, and what it takes for one, beside what we do. */
import { describe, expect, test } from "bun:test";
import Stripe from "stripe";
import { stripeScheme, whyNotSigned } from "../../server/sources/billing/signature.ts";
import { customer, signed, signingSecret, startSeconds, stripeEvent } from "./stripe-objects.ts";

const payload = JSON.stringify(stripeEvent("customer.created", customer({ name: "Zoë 🦉" })));
const body = new TextEncoder().encode(payload);
const nowMs = startSeconds * 1_000;
const why = (header: string | null, at = nowMs, secrets: readonly string[] = [signingSecret]) =>
  whyNotSigned(
    stripeScheme,
    new Headers(header === null ? {} : { "Stripe-Signature": header }),
    body,
    secrets,
    at,
  );

describe("a signature", () => {
  test("of Stripe's package is taken, as that package takes it", async () => {
    const header = await signed(payload, signingSecret, startSeconds);
    expect(why(header)).toBeUndefined();
    const read = await Stripe.webhooks.constructEventAsync(
      payload,
      header,
      signingSecret,
      300,
      undefined,
      nowMs,
    );
    expect(read.type).toBe("customer.created");
  });

  test("of another secret, of another body, or changed is not", async () => {
    expect(why(await signed(payload, "whsec_another", startSeconds))).toContain("signing secret");
    expect(why(await signed(`${payload} `, signingSecret, startSeconds))).toContain("signing secret");
    const header = await signed(payload, signingSecret, startSeconds);
    expect(why(header.replace(String(startSeconds), String(startSeconds + 1)))).toContain("signing secret");
  });

  test("of either secret is taken while they are rolled over, whichever side has two", async () => {
    const [old, fresh] = ["whsec_theoldsecret", "whsec_thefreshsecret"] as const;
    const both = `${await signed(payload, old, startSeconds)},${(await signed(payload, fresh, startSeconds)).split(",")[1]}`;
    expect(both.match(/v1=/g)).toHaveLength(2);
    expect(why(both, nowMs, [old])).toBeUndefined();
    expect(why(both, nowMs, [fresh])).toBeUndefined();
    expect(why(await signed(payload, old, startSeconds), nowMs, [fresh, old])).toBeUndefined();
  });

  test("is taken for five minutes", async () => {
    const header = await signed(payload, signingSecret, startSeconds);
    expect(why(header, nowMs + 300_000)).toBeUndefined();
    expect(why(header, nowMs + 300_001)).toContain("older than 5 minutes");
    // By a clock that is behind, too, and no longer: until then it could be sent again.
    expect(why(header, nowMs - 300_000)).toBeUndefined();
    expect(why(header, nowMs - 300_001)).toContain("more than 5 minutes in the future");
  });

  test("of the scheme of test events alone is none", async () => {
    const header = (await signed(payload, signingSecret, startSeconds)).replace("v1=", "v0=");
    expect(why(header)).toContain("scheme v1");
  });

  test.each([null, "", "t=,v1=", "v1=00", "t=1e9,v1=zz", ",,,", "t=1", `t=1,v1=${"0".repeat(63)}`])(
    "%s is none",
    (header) => expect(why(header)).toContain("Stripe-Signature"),
  );

  test("may have a thousand wrong ones before it, and they are not all looked at", async () => {
    const [time, right] = (await signed(payload, signingSecret, startSeconds)).split(",");
    const wrong = Array.from({ length: 1_000 }, () => `v1=${"0".repeat(64)}`);
    expect(why([time, ...wrong, right].join(","))).toContain("signing secret");
  });
});
