/** The part of the contract about rows of organizations: four properties of every store of them. */
import { describe, expect, test } from "bun:test";
import { Refusal } from "../../contract/refusal.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import {
  accountId,
  otherAccountId,
  otherUserId,
  type RowStore,
  rowStores,
  userId,
} from "./rows-of-stores.ts";
import { account, user, writePeople } from "./writes.ts";

/** Two organizations with two users and two accounts each. */
async function ground(subject: LedgerUnderTest) {
  const [{ id }, { id: other }] = [await subject.organization(), await subject.organization("other")];
  for (const [at, one] of [userId, otherUserId].entries()) {
    const number = at + 1;
    const users = [id, other].map((organization) => user(organization, one, { number, email: null }));
    await writePeople(subject.ledger, { users });
  }
  for (const [at, one] of [accountId, otherAccountId].entries()) {
    const accounts = [id, other].map((organization) => account(organization, one, { number: at + 1 }));
    await writePeople(subject.ledger, { accounts });
  }
  return { id, other };
}

async function add(subject: LedgerUnderTest, store: RowStore, organization: number, rows: number) {
  for (let n = 0; n < rows; n += 1) await store.add(subject.ledger, organization, n, subject.nowMs);
}

/** Nothing is there to be changed: the call says so, or is refused. */
async function expectNothing(call: Promise<unknown>): Promise<void> {
  const result = await call.catch((error: unknown) => error);
  if (result instanceof Error) expect(result).toBeInstanceOf(Refusal);
  else expect(result || undefined).toBeUndefined();
}

/** Declares the tests of rows of organizations. */
export function rowsContract(subject: LedgerUnderTest): void {
  describe.each(Object.entries<RowStore>(rowStores))("%s", (_name, store) => {
    const rowsOf = (organization: number) => store.list(subject.ledger, organization);
    const logOf = (organization: number) => subject.ledger.audit.list(organization, { limit: 9 });

    test("are listed and changed by their own organization only", async () => {
      const { id, other } = await ground(subject);
      await add(subject, store, id, 2);
      expect(await rowsOf(other)).toEqual([]);
      await add(subject, store, other, 1);
      const [rows, theirs] = [await rowsOf(id), await rowsOf(other)];
      expect([rows.length, theirs.length]).toEqual([2, 1]);
      const logs = [await logOf(id), await logOf(other)];
      const later = subject.nowMs + 1;
      const calls = Object.values(store.calls);
      for (const { of } of calls) {
        for (const row of rows) await expectNothing(of(subject.ledger, other, row.id, later));
      }
      expect([await rowsOf(id), await rowsOf(other)]).toEqual([rows, theirs]);
      expect([await logOf(id), await logOf(other)]).toEqual(logs);
      for (const { of } of calls) {
        const before = [await rowsOf(id), await logOf(id)];
        await of(subject.ledger, id, rows[0]?.id ?? 0, later);
        expect([await rowsOf(id), await logOf(id)]).not.toEqual(before);
      }
      expect(await rowsOf(other)).toEqual(theirs);
    });

    test("have an entry in the log of their own organization", async () => {
      const { id, other } = await ground(subject);
      await add(subject, store, id, 1);
      const entries = await logOf(id);
      expect(entries.map(({ action, atMs, person, detail }) => [action, atMs, person, detail.by])).toEqual([
        [store.action, subject.nowMs, null, "command line"],
      ]);
      expect(await logOf(other)).toEqual([]);
    });

    test("are there after a restart, as they were", async () => {
      const { id } = await ground(subject);
      await add(subject, store, id, 3);
      const before = [await rowsOf(id), await logOf(id)];
      await subject.reopen();
      expect([await rowsOf(id), await logOf(id)]).toEqual(before);
      expect((await rowsOf(id)).length).toBe(3);
    });

    const { limit } = store;
    if (limit === undefined) return;
    const [most, refusal] = limit;
    test(`are ${most} at most, in each organization`, async () => {
      const { id, other } = await ground(subject);
      await add(subject, store, id, most);
      const before = [await rowsOf(id), await logOf(id)];
      const attempt = store.add(subject.ledger, id, most, subject.nowMs);
      await expect(attempt).rejects.toBeInstanceOf(Refusal);
      await expect(attempt).rejects.toThrow(refusal);
      expect([await rowsOf(id), await logOf(id)]).toEqual(before);
      await add(subject, store, other, 1);
      expect(await rowsOf(other)).toHaveLength(1);
      if (store.elsewhere === undefined) return;
      await store.elsewhere(subject.ledger, id, subject.nowMs);
      expect(await rowsOf(id)).toHaveLength(most + 1);
    });
  });
}
