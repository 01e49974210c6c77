/** The part of the contract about organizations and project tokens. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { Refusal } from "../../contract/refusal.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { OrganizationChange } from "../../server/ledger/stores/organization-rows.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function createToken(subject: LedgerUnderTest, organization: number, token: string) {
  const lastFour = token.slice(-4);
  const rights = ["write"] as const;
  const wanted = {
    organization,
    name: "backend",
    rights,
    sha256: sha256(token),
    lastFour,
    nowMs: subject.nowMs,
  };
  return subject.ledger.tokens.create(wanted, settingUp);
}

function set(subject: LedgerUnderTest, id: number, change: OrganizationChange) {
  return subject.ledger.organizations.set(id, change, settingUp, 1);
}

/** Declares the tests of organizations. */
export function organizationsContract(subject: LedgerUnderTest): void {
  test("an organization is there after a restart, with the default rate limit", async () => {
    const created = await subject.organization("Ada & Söhne");
    await subject.reopen();
    expect(await subject.ledger.organizations.list()).toEqual([created]);
    expect(await subject.ledger.organizations.find(created.id)).toEqual(created);
    expect(await subject.ledger.organizations.find(created.id + 1)).toBeUndefined();
    expect(created).toMatchObject({
      name: "Ada & Söhne",
      timezone: "Europe/Paris",
      requestsPerSecond: 1_000,
    });
  });

  test("two organizations cannot have one name, neither from the start nor by renaming", async () => {
    await subject.organization("first");
    const second = await subject.organization("second");
    const { organizations } = subject.ledger;
    await expect(subject.organization("first")).rejects.toBeInstanceOf(Refusal);
    await expect(set(subject, second.id, { name: "first" })).rejects.toBeInstanceOf(Refusal);
    expect((await organizations.list()).map(({ name }) => name)).toEqual(["first", "second"]);
  });

  test("setting an organization changes what is given and nothing else", async () => {
    const before = await subject.organization();
    const after = await set(subject, before.id, { requestsPerSecond: 7 });
    expect(after).toEqual({ ...before, requestsPerSecond: 7 });
    expect(await subject.ledger.organizations.list()).toEqual([after]);
  });

  test("an organization that does not exist cannot be set and gets no token", async () => {
    await expect(set(subject, 99, { name: "x" })).rejects.toBeInstanceOf(Refusal);
    await expect(createToken(subject, 99, "rk-nobody")).rejects.toBeInstanceOf(Refusal);
  });

  test("a new timezone waits for a rebuild until it is done; the same timezone does not", async () => {
    const { id } = await subject.organization();
    await set(subject, id, { timezone: "Europe/Paris", requestsPerSecond: 5 });
    expect(await subject.ledger.rebuildsPending()).toEqual([]);
    await set(subject, id, { timezone: "Asia/Kathmandu" });
    await set(subject, id, { requestsPerSecond: 6 });
    await subject.reopen();
    expect(await subject.ledger.rebuildsPending()).toEqual([id]);
    const begun = await subject.ledger.rebuildBegun(id);
    expect(begun.timezone).toBe("Asia/Kathmandu");
    await set(subject, id, { timezone: "Europe/Paris" });
    await subject.ledger.rebuildDone(id, begun.askedAtMs);
    expect(await subject.ledger.rebuildsPending()).toEqual([id]);
    await subject.ledger.rebuildDone(id, (await subject.ledger.rebuildBegun(id)).askedAtMs);
    expect(await subject.ledger.rebuildsPending()).toEqual([]);
    await subject.ledger.rebuildBegun(id);
    await subject.reopen();
    expect(await subject.ledger.rebuildsPending()).toEqual([id]);
    await expect(subject.ledger.rebuildBegun(99)).rejects.toBeInstanceOf(Refusal);
  });

  test("a timezone that was another meanwhile is computed again: what came then has days of the other", async () => {
    const { id, timezone } = await subject.organization();
    const begun = await subject.ledger.rebuildBegun(id);
    await set(subject, id, { timezone: "Asia/Kathmandu" });
    await set(subject, id, { timezone });
    await subject.ledger.rebuildDone(id, begun.askedAtMs);
    expect(await subject.ledger.rebuildsPending()).toEqual([id]);
    await subject.ledger.rebuildDone(id, (await subject.ledger.rebuildBegun(id)).askedAtMs);
    expect(await subject.ledger.rebuildsPending()).toEqual([]);
  });
}

/** Declares the tests of project tokens. */
export function tokensContract(subject: LedgerUnderTest): void {
  test("a token is found by its hash, with its organization", async () => {
    const organization = await subject.organization();
    const token = await createToken(subject, organization.id, "rk-abcd1234");
    expect(token).toMatchObject({ lastFour: "1234", lastUsedAtMs: null, revokedAtMs: null });
    await subject.reopen();
    expect(await subject.ledger.tokens.find(sha256("rk-abcd1234"))).toEqual({
      credential: token,
      organization,
    });
    expect(await subject.ledger.tokens.find(sha256("rk-abcd1235"))).toBeUndefined();
  });

  test("a revoked token is not found, but is listed with the time of its first revocation", async () => {
    const organization = await subject.organization();
    const { id } = await createToken(subject, organization.id, "rk-abcd1234");
    await subject.ledger.tokens.revoke(id, settingUp, 5_000);
    const again = await subject.ledger.tokens.revoke(id, settingUp, 6_000);
    expect(again.revokedAtMs).toBe(5_000);
    expect(await subject.ledger.tokens.find(sha256("rk-abcd1234"))).toBeUndefined();
    expect(await subject.ledger.tokens.list(organization.id)).toEqual([again]);
    await expect(subject.ledger.tokens.revoke(id + 1, settingUp, 6_000)).rejects.toBeInstanceOf(Refusal);
  });

  test("the last use of tokens is remembered and never moves back", async () => {
    const organization = await subject.organization();
    const one = await createToken(subject, organization.id, "rk-one");
    const two = await createToken(subject, organization.id, "rk-two");
    await subject.ledger.tokens.touch([{ id: one.id, atMs: 9_000 }]);
    await subject.ledger.tokens.touch([
      { id: one.id, atMs: 8_000 },
      { id: two.id, atMs: 7_000 },
    ]);
    const listed = await subject.ledger.tokens.list(organization.id);
    expect(listed.map((token) => token.lastUsedAtMs)).toEqual([9_000, 7_000]);
  });
}
