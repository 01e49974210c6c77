/** The changes that a browser token may make to an existing user and account. */
import { describe, expect, test } from "bun:test";
import { limits } from "../../contract/limits.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { Admitted } from "../../server/intake/decide/requests.ts";
import type { AdmittedIdentify, SentAccount } from "../../server/intake/identify.ts";
import { LedgerModel } from "./ledger-model.ts";
import { run } from "./requests.ts";

describe("a browser token and an account that exists", () => {
  const account = { accountId: "acme", name: undefined, avatar: undefined };
  const saying = (userId: string, sent: Partial<SentAccount>, more: Partial<AdmittedIdentify> = {}) => ({
    kind: "identify" as const,
    organization: 1,
    userId,
    messageId: null,
    email: undefined,
    traits: {},
    isAccountOwner: undefined,
    timestampMs: 1_000,
    receivedAtMs: 1_000,
    zone: new Zone("UTC"),
    account: { ...account, ...sent },
    ...more,
  });
  const acmeAfter = (...all: readonly Admitted[]) => {
    const ledger = new LedgerModel();
    const outcomes = run(ledger, all, [1]);
    const acme = ledger.accounts.get(JSON.stringify([1, "acme"]));
    return [outcomes.at(-1), acme?.name, acme?.avatar];
  };
  const early = { timestampMs: 400 };
  const browser = { isBrowser: true };

  test("an equal name is no later word: what a server says afterwards of an earlier time still wins", () => {
    const said = [saying("a", { name: "Acme" }, early), saying("b", { name: "Acme" }, browser)];
    const corrected = saying("c", { name: "Acme Inc." }, { timestampMs: 600 });
    expect(acmeAfter(...said, corrected)).toEqual(["stored", "Acme Inc.", null]);
  });

  test("a name that was never said may be said once, and a picture may not", () => {
    const avatar = "https://evil.test/a.png";
    const named = saying("b", { name: "Acme", avatar }, browser);
    expect(acmeAfter(saying("a", {}), named)).toEqual([{ ignored: ["account"] }, "Acme", null]);
    const renamed = saying("c", { name: "Evil" }, browser);
    expect(acmeAfter(saying("a", {}), named, renamed)).toEqual([{ ignored: ["account"] }, "Acme", null]);
    expect(acmeAfter(saying("a", {}), saying("b", { name: "Acme" }, browser))).toEqual([
      "stored",
      "Acme",
      null,
    ]);
  });

  test("fields that differ from the stored ones are left out and named, equal and missing ones are not", () => {
    const known = { email: "a@b.co", isAccountOwner: true };
    const avatar = "https://acme.test/a.png";
    const outcomeOf = (more: Partial<AdmittedIdentify>, stored = saying("a", { name: "Acme" }, known)) =>
      acmeAfter(stored, { ...saying("a", {}, browser), account: undefined, ...more })[0];
    for (const equal of [{}, known, { account }, { account: { ...account, name: "Acme" } }]) {
      expect([equal, outcomeOf(equal)]).toEqual([equal, "stored"]);
    }
    expect(outcomeOf({ email: "x@b.co" })).toEqual({ ignored: ["email"] });
    expect(outcomeOf({ isAccountOwner: false })).toEqual({ ignored: ["isAccountOwner"] });
    for (const other of [null, { accountId: "other" }, { name: "Other" }, { avatar }]) {
      const sent = other && { ...account, ...other };
      expect([other, outcomeOf({ account: sent })]).toEqual([other, { ignored: ["account"] }]);
    }
    expect(outcomeOf({ account: null }, { ...saying("a", {}), account: null })).toBe("stored");
  });

  test("attributes come from a browser only with a new account", () => {
    const attributesAfter = (...all: readonly Admitted[]) => {
      const ledger = new LedgerModel();
      const outcomes = run(ledger, all, [1]);
      const acme = ledger.accounts.get(JSON.stringify([1, "acme"]));
      return [outcomes.at(-1), acme?.traits, (ledger.rows.get("account_versions") ?? []).length];
    };
    const [gold, iron] = [{ properties: { tier: "gold" } }, { properties: { tier: "iron" } }];
    const ignored = { ignored: ["account.properties"] };
    expect(attributesAfter(saying("a", gold, browser))).toEqual(["stored", { tier: "gold" }, 1]);
    const stored = [saying("a", gold), saying("b", iron, browser)];
    expect(attributesAfter(...stored)).toEqual([ignored, { tier: "gold" }, 1]);
    expect(attributesAfter(saying("a", {}), saying("b", gold, browser))).toEqual([ignored, {}, 0]);
    expect(attributesAfter(saying("a", gold), saying("b", gold, browser))).toEqual([
      "stored",
      { tier: "gold" },
      1,
    ]);
    // The user exists, too: the whole account is guarded.
    const again = { ...saying("a", iron, browser) };
    expect(attributesAfter(saying("a", gold), again)).toEqual([
      { ignored: ["account"] },
      { tier: "gold" },
      1,
    ]);
    const large = { properties: { text: "x".repeat(limits.storedTraitsBytes) } };
    expect(attributesAfter(saying("a", gold), saying("b", large, browser))[0]).toEqual(ignored);
  });

  test("an account that would exceed the limits of attributes is refused, and nothing of it is stored", () => {
    const half = "x".repeat(limits.storedTraitsBytes / 2);
    const ledger = new LedgerModel();
    const all = [saying("a", { properties: { one: half } }), saying("b", { properties: { two: half } })];
    const [first, second] = run(ledger, all, [2]);
    expect([first, second]).toEqual([
      "stored",
      {
        invalid: expect.stringMatching(/^account\.properties would give the account \d+ bytes of attributes/),
      },
    ]);
    expect(Object.keys(ledger.accounts.get(JSON.stringify([1, "acme"]))?.traits ?? {})).toEqual(["one"]);
    expect(ledger.user(1, "b")).toBeUndefined();
  });
});
