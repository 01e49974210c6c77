/** The part of the contract about deletions of organizations. */
import { expect, test } from "bun:test";
import { settingUp } from "../../server/ledger/audit.ts";
import { visitorKey } from "../../server/ledger/rules/held-events.ts";
import { createProjectToken, hashSecret } from "../../server/ledger/stores/credentials.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, inboxRows, look, needs, user, writePeople, writes } from "./writes.ts";

async function filled(subject: LedgerUnderTest, name: string) {
  const { ledger, nowMs } = subject;
  const { id } = await subject.organization(name);
  const organization = id;
  const token = await createProjectToken(
    ledger.tokens,
    {
      organization,
      name: "t",
      nowMs,
      scope: "server",
    },
    settingUp,
  );
  await writePeople(ledger, {
    accounts: [account(id, "a")],
    users: [user(id, "ada", { account: 1 }), user(id, "bob", { number: 2, email: "bob@example.com" })],
  });
  const person = visitorKey(id, "v");
  const item = { ...person, receivedAtMs: 900, atMs: 900, accountId: null, body: "{}" };
  const heldEvents = { taken: [], held: [item], refused: [], links: [], labels: [] };
  const dayCounts = [{ organization, utcDay: 20_000, events: 1, checksum: 1 }];
  const known = [{ organization, userId: "ada" }];
  await ledger.transact(needs({ people: [person], known }), () =>
    writes(1_000, { inbox: [inboxRows(["x"])], dayCounts, heldEvents }),
  );
  await ledger.exclusions.add(id, { kind: "user", key: "", value: "ada" }, settingUp, 1_000);
  await ledger.outages.add(id, { fromDay: 20_000, toDay: 20_004 }, settingUp, 1_000);
  await ledger.settings.change(id, { weekStart: 7 }, settingUp, 1_000);
  await ledger.warnings.add([warning(id)]);
  await ledger.erasures.begin(id, "bob");
  return { id, token: token.secret };
}

function warning(organization: number) {
  const seen = { utcDay: 20_000, firstSeenMs: 1_000, lastSeenMs: 1_000, count: 1, message: null };
  return {
    organization,
    ...seen,
    kind: "duplicate",
    endpoint: "track",
    detail: null,
    userId: "ada",
  } as const;
}

async function load({ ledger }: LedgerUnderTest): Promise<void> {
  const batches = await ledger.inbox.freeze(100);
  for (const { number } of batches) await ledger.inbox.finish(number, []);
}

/** Declares the tests of deletions of organizations. */
export function deletionsContract(subject: LedgerUnderTest): void {
  test("a deleted organization is not found from the first commit on, and its name is free", async () => {
    const { id, token } = await filled(subject, "Going");
    const other = await filled(subject, "Staying");
    expect(await subject.ledger.deletions.begin(id)).toMatchObject({ organization: id });
    expect(await subject.ledger.deletions.begin(id)).toBeUndefined();
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      const { ledger } = subject;
      expect((await ledger.organizations.list()).map(({ name }) => name)).toEqual(["Staying"]);
      expect(await ledger.organizations.find(id)).toBeUndefined();
      expect(await ledger.tokens.find(hashSecret(token))).toBeUndefined();
      expect(await ledger.tokens.find(hashSecret(other.token))).toBeDefined();
      expect((await ledger.exclusions.revisions()).map(({ organization }) => organization)).toEqual([
        other.id,
      ]);
      const people = [visitorKey(id, "v"), visitorKey(other.id, "v")];
      const there = await look(ledger, { people }, (stored) => [stored.exists(id), stored.exists(other.id)]);
      expect(there).toEqual([false, true]);
      const known = [{ organization: id, userId: "ada" }];
      expect(await look(ledger, { known }, (stored) => stored.exists(id))).toBe(false);
      await expect(ledger.organizations.set(id, { name: "Back" }, settingUp, 1)).rejects.toThrow(
        "no organization",
      );
      await expect(ledger.rebuildBegun(id)).rejects.toThrow("no organization");
      expect(await ledger.deletions.pending()).toMatchObject([{ organization: id }]);
    }
    expect((await subject.organization("Going")).id).toBeGreaterThan(other.id);
  });

  test("nothing of it is left when everything before is loaded, and its id is not given again", async () => {
    const { id } = await filled(subject, "Going");
    const { ledger } = subject;
    await ledger.deletions.begin(id);
    await expect(ledger.deletions.finish(id)).rejects.toThrow("not loaded");
    await load(subject);
    await ledger.deletions.finish(id);
    await ledger.deletions.finish(id);
    expect(await ledger.deletions.pending()).toEqual([]);
    expect(await ledger.erasures.pending()).toEqual([]);
    expect(await ledger.dayCounts(id)).toEqual([]);
    expect(await ledger.heldEvents.counts(id)).toMatchObject({ items: 0, people: 0 });
    expect(await ledger.findUser(id, "ada")).toBeUndefined();
    await subject.reopen();
    expect((await subject.organization("Going")).id).toBeGreaterThan(id);
  });

  countsContract(subject);
}

function countsContract(subject: LedgerUnderTest): void {
  test("its counts in memory are left out, and those of others are written", async () => {
    const { id } = await filled(subject, "Going");
    const other = await subject.organization("Staying");
    const { ledger } = subject;
    const counts = { accepted: 1, held: 0, duplicate: 0, rejected: 0, ignored: 0 };
    const hour = { source: "api", utcHour: 1, ...counts, firstMs: 1, lastMs: 1 } as const;
    const heard = { firstHeardMs: null, lastHeardMs: null };
    const count = async () => {
      await ledger.warnings.add([id, other.id].map(warning));
      await ledger.sources.add([id, other.id].map((organization) => ({ organization, ...hour, ...heard })));
    };
    await ledger.deletions.begin(id);
    await count();
    await load(subject);
    await ledger.deletions.finish(id);
    await count();
    expect(await ledger.warnings.list(other.id, 9)).toMatchObject([{ count: 2 }]);
    expect(await ledger.sources.totals(other.id)).toMatchObject([{ accepted: 2 }]);
    expect(await ledger.sources.totals(id)).toEqual([]);
  });
}
