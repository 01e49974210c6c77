/** The part of the contract about the audit log: pages, what is cut, and how long entries are kept. */
import { describe, expect, test } from "bun:test";
import { commandLine, personActor } from "../../server/ledger/audit.ts";
import { createProjectToken, createReadKey } from "../../server/ledger/stores/credentials.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

const dayMs = 86_400_000;

/** An entry of an organization, at a time. */
const entry = (organization: number, atMs: number, detail = {}) =>
  ({
    organization,
    actor: commandLine,
    atMs,
    action: "settings.changed",
    summary: "changed",
    detail,
  }) as const;

/** Declares the tests of the audit log. */
export function auditContract(subject: LedgerUnderTest): void {
  describe("the audit log", () => {
    test("lists actions with their actors, the newest first, page by page, of one organization", async () => {
      const { id } = await subject.organization();
      const other = await subject.organization("other");
      const { audit } = subject.ledger;
      const name = "Ada \0 \\ 😀";
      await audit.add({ ...entry(id, 1, { a: "\0" }), actor: personActor({ id: 7, name }), summary: name });
      for (let at = 2; at <= 4; at++) await audit.add(entry(id, at));
      await audit.add(entry(other.id, 5));
      await subject.reopen();
      const page = await subject.ledger.audit.list(id, { limit: 3 });
      expect(page.map(({ atMs }) => atMs)).toEqual([4, 3, 2]);
      expect(page[0]).toMatchObject({ person: null, detail: { by: "command line" } });
      const [first, ...others] = await subject.ledger.audit.list(id, { limit: 3, before: page[2]?.id });
      expect(first).toEqual({
        id: first?.id ?? 0,
        atMs: 1,
        person: { id: 7, name },
        action: "settings.changed",
        summary: name,
        detail: { a: "\0" },
      });
      expect(others).toEqual([]);
    });

    test("leaves out a detail that is too large, and cuts what is said", async () => {
      const { id } = await subject.organization();
      const { audit } = subject.ledger;
      const summary = `${"x".repeat(999)}😀`;
      await audit.add({ ...entry(id, subject.nowMs, { from: "x".repeat(20_000) }), summary });
      const [kept] = await audit.list(id, { limit: 1 });
      expect(kept).toMatchObject({ summary: `${"x".repeat(999)}\uFFFD`, detail: { by: "command line" } });
      expect(JSON.stringify(kept?.detail).length).toBeLessThan(1_000);
    });

    test("keeps entries for two years", async () => {
      const { id } = await subject.organization();
      const { audit } = subject.ledger;
      for (const days of [731, 729, 0]) await audit.add(entry(id, subject.nowMs - days * dayMs));
      await subject.ledger.tidy(subject.nowMs);
      const left = await audit.list(id, { limit: 10 });
      expect(left.map(({ atMs }) => (subject.nowMs - atMs) / dayMs)).toEqual([0, 729]);
    });
    entriesOfOrganizations(subject);
    entriesOfRules(subject);
  });
}

/** The entries of the command line, the oldest first: each one's summary and detail. */
async function summariesOf({ ledger }: LedgerUnderTest, organization: number) {
  const entries = await ledger.audit.list(organization, { limit: 100 });
  return entries.toReversed().map(({ summary, detail: { by, ...detail } }) => {
    expect(by).toBe("command line");
    return [summary, detail];
  });
}

function entriesOfOrganizations(subject: LedgerUnderTest): void {
  test("of an organization and its credentials have what was changed, and no secret", async () => {
    const { ledger, nowMs } = subject;
    const { organizations, tokens, readKeys } = ledger;
    const { id } = await organizations.create({ name: "acme", timezone: "UTC", nowMs }, commandLine);
    const change = { name: "new", timezone: "Asia/Tokyo", requestsPerSecond: 7, itemsPerSecondSet: 8 };
    await organizations.set(id, change, commandLine, nowMs);
    await organizations.set(id, { keepEventsDays: 9 }, commandLine, nowMs);
    const wanted = { organization: id, name: "web", nowMs };
    const token = await createProjectToken(tokens, { ...wanted, scope: "browser" }, commandLine);
    const key = await createReadKey(readKeys, { ...wanted, more: ["manage", "erase"] }, commandLine);
    await tokens.revoke(token.id, commandLine, nowMs);
    await readKeys.revoke(key.id, commandLine, nowMs);
    const [lastOfToken, lastOfKey] = [token, key].map(({ secret }) => secret.slice(-4));
    const shownToken = { id: token.id, name: "web", lastFour: lastOfToken };
    const shownKey = { id: key.id, name: "web", lastFour: lastOfKey };
    expect(await summariesOf(subject, id)).toEqual([
      ["Created the organization acme", { name: "acme", timezone: "UTC" }],
      [
        "Changed the organization's name, timezone, requests per second, items per second",
        {
          from: { name: "acme", timezone: "UTC", requestsPerSecond: 1_000, itemsPerSecond: null },
          to: { name: "new", timezone: "Asia/Tokyo", requestsPerSecond: 7, itemsPerSecond: 8 },
        },
      ],
      [
        "Changed the organization's days that raw events are kept",
        { from: { keepEventsDays: null }, to: { keepEventsDays: 9 } },
      ],
      [
        `Created the project token web (rk-…${lastOfToken}) with the scope browser`,
        { ...shownToken, scope: "browser" },
      ],
      [
        `Created the read key web (rr-…${lastOfKey}) with the rights read, erase, manage`,
        { ...shownKey, rights: ["read", "erase", "manage"] },
      ],
      [`Revoked the project token web (rk-…${lastOfToken})`, shownToken],
      [`Revoked the read key web (rr-…${lastOfKey})`, shownKey],
    ]);
  });
}

function entriesOfRules(subject: LedgerUnderTest): void {
  test("of settings and rules have what was changed, and name no user", async () => {
    const { id } = await subject.organization();
    const { settings, exclusions } = subject.ledger;
    await settings.change(id, { weekStart: 7, eventWeights: { a: 2 } }, commandLine, 1);
    const rules = [
      { kind: "user", key: "", value: "ada" },
      { kind: "email", key: "", value: "ada@*" },
      { kind: "trait", key: "name", value: "Ada" },
      { kind: "account", key: "", value: "acme" },
    ] as const;
    for (const rule of rules) {
      const added = await exclusions.add(id, rule, commandLine, 1);
      await exclusions.remove(id, added.id, commandLine, 1);
    }
    const summaries = await summariesOf(subject, id);
    expect(summaries.filter((_, at) => at % 2 === 0)).toEqual([
      [
        "Changed the settings weekStart, eventWeights.a",
        {
          version: 1,
          from: { weekStart: 1, "eventWeights.a": null },
          to: { weekStart: 7, "eventWeights.a": 2 },
        },
      ],
      ["No longer left out of figures: user, rule 1", { id: 1, kind: "user" }],
      ["No longer left out of figures: email, rule 2", { id: 2, kind: "email" }],
      ["No longer left out of figures: trait name, rule 3", { id: 3, kind: "trait", key: "name" }],
      ["No longer left out of figures: account acme", { id: 4, kind: "account", key: "", value: "acme" }],
    ]);
    expect(summaries[1]).toEqual(["Left out of figures: user, rule 1", { id: 1, kind: "user" }]);
    expect(JSON.stringify(summaries)).not.toMatch(/ada/i);
  });
}
