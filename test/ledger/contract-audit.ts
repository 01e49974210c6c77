/** The part of the contract about the audit log: pages, what is cut, and how long entries are kept. */
import { describe, expect, test } from "bun:test";
import { commandLine, personActor } from "../../server/ledger/audit.ts";
import type { LedgerUnderTest } from "./contract.ts";

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
    test("tells who did what, the newest first, page by page, of one organization", async () => {
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
        ...{ id: first?.id ?? 0, atMs: 1, person: { id: 7, name } },
        ...{ action: "settings.changed", summary: name, detail: { a: "\0" } },
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
  });
}
