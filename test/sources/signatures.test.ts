/** Signatures of webhooks with a mapping of one's own, by the tools' own packages and published examples. */
import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { WebhookSignature } from "../../contract/source-settings.ts";
import { whyNotVerified } from "../../server/sources/webhook-verify.ts";

const nowMs = Date.UTC(2026, 4, 17, 12);
const body = '{"type":"form.sent","user":"Zoë 🦉"}';

/** Why a mapping's request is refused. */
function why(signature: WebhookSignature, secret: string, headers: Record<string, string>, sent = body) {
  const request = { headers: new Headers(headers), bytes: new TextEncoder().encode(sent) };
  return whyNotVerified({ mapping: {}, secret, signature }, request, nowMs);
}

describe("Standard Webhooks", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const signed = (by: string, atMs = nowMs, sent = body) => ({
    "webhook-id": "msg_1",
    "webhook-timestamp": String(atMs / 1_000),
    "webhook-signature": new Webhook(by).sign("msg_1", new Date(atMs), sent),
  });
  const taken = (headers: Record<string, string>, by = secret) => why("standard-webhooks", by, headers);

  test("are taken as their own package signs them, whatever form the secret has", () => {
    expect(taken(signed(secret))).toBeUndefined();
    expect(taken(signed(secret), secret.slice("whsec_".length))).toBeUndefined();
    const raw = "a secret that is no base64";
    expect(taken(signed(btoa(raw)), raw)).toBeUndefined();
    const several = `v1a,abc v1,${"A".repeat(43)}= ${signed(secret)["webhook-signature"]}`;
    expect(taken({ ...signed(secret), "webhook-signature": several })).toBeUndefined();
  });

  test.each<[string, Record<string, string>, string]>([
    ["without a header", {}, "webhook-signature is missing"],
    ["of another secret", signed("whsec_c2VjcmV0LW9mLW90aGVycw=="), "check the signing secret"],
    ["of another body", signed(secret, nowMs, `${body} `), "check the signing secret"],
    ["of another message", { ...signed(secret), "webhook-id": "msg_2" }, "check the signing secret"],
    ["of an old message", signed(secret, nowMs - 301_000), "older than 5 minutes"],
    ["without a time", { ...signed(secret), "webhook-timestamp": "" }, "webhook-timestamp is missing"],
    [
      "of another version",
      { ...signed(secret), "webhook-signature": "v1a,AAAA" },
      "no signature of the version",
    ],
  ])("%s are refused", (_title, headers, message) => {
    expect(taken(headers)).toContain(message);
  });
});

describe("an HMAC in a header", () => {
  const github = {
    header: "X-Hub-Signature-256",
    algorithm: "sha256",
    encoding: "hex",
    prefix: "sha256=",
  } as const;

  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation
  const [secret, text] = ["It's a Secret to Everybody", "Hello, World!"] as const;
  const published = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

  test("is taken as GitHub's documents publish it, and is of this body, this secret and this form alone", () => {
    const ofGithub = (header: string, by: string = secret, sent: string = text) =>
      why(github, by, { "x-hub-signature-256": header }, sent);
    expect(ofGithub(published)).toBeUndefined();
    expect(ofGithub(published, "another secret")).toContain("check the signing secret");
    expect(ofGithub(published, secret, "Hello, World")).toContain("check the signing secret");
    for (const header of [
      "",
      published.slice(7),
      "sha256=",
      published.slice(0, -1),
      `sha1=${"0".repeat(40)}`,
    ]) {
      expect(ofGithub(header)).toContain("it has no sha256 in hex after sha256=");
    }
    expect(why(github, secret, {}, text)).toContain("X-Hub-Signature-256 is missing");
  });

  test.each(["sha1", "sha256", "sha512"] as const)("may be %s, in hex and in base64", (algorithm) => {
    for (const encoding of ["hex", "base64"] as const) {
      const scheme = { header: "X-Signature", algorithm, encoding };
      const header = createHmac(algorithm, secret).update(body).digest(encoding);
      expect(why(scheme, secret, { "X-Signature": header })).toBeUndefined();
      expect(
        why(scheme, secret, { "X-Signature": `${"0".repeat(header.length)}, ${header}` }),
      ).toBeUndefined();
      expect(why(scheme, secret, { "X-Signature": header }, `${body} `)).toContain(
        "check the signing secret",
      );
    }
  });
});

describe("the presets", () => {
  const request = (headers: Record<string, string>) => ({
    headers: new Headers(headers),
    bytes: new TextEncoder().encode(body),
  });

  test("of LemonSqueezy takes its X-Signature alone", () => {
    const preset = { preset: "lemonsqueezy", secret: "a secret of ours" } as const;
    const signed = (by: string) => ({ "X-Signature": createHmac("sha256", by).update(body).digest("hex") });
    expect(whyNotVerified(preset, request(signed(preset.secret)), nowMs)).toBeUndefined();
    expect(whyNotVerified(preset, request(signed("another")), nowMs)).toContain("check the signing secret");
    expect(whyNotVerified(preset, request({}), nowMs)).toContain("that LemonSqueezy signed");
  });

  test("of Polar takes what Polar signs: with the text of its secret", () => {
    const preset = {
      preset: "polar",
      secret: "polar_whs_ovyN6cPrTv56AApvzCaJno08SSmGJmgbWilb33N2JuK",
    } as const;
    // As its own SDK does it.
    const signed = (by: string) => ({
      "webhook-id": "msg_1",
      "webhook-timestamp": String(nowMs / 1_000),
      "webhook-signature": new Webhook(btoa(by)).sign("msg_1", new Date(nowMs), body),
    });
    expect(whyNotVerified(preset, request(signed(preset.secret)), nowMs)).toBeUndefined();
    expect(whyNotVerified(preset, request(signed("another")), nowMs)).toContain("check the signing secret");
    expect(whyNotVerified(preset, request(signed(preset.secret)), nowMs + 301_000)).toContain("5 minutes");
  });
});

test("a webhook without a secret takes everything", () => {
  const request = { headers: new Headers(), bytes: new Uint8Array() };
  expect(whyNotVerified({ mapping: {} }, request, nowMs)).toBeUndefined();
  expect(whyNotVerified({ preset: "paddle" }, request, nowMs)).toBeUndefined();
});
