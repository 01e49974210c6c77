/** Work that the SQLite ledger must not do: for organizations without held events, and for ids that are not
 * known. */

import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Refusal } from "../../contract/refusal.ts";
import { features } from "../../server/features/features.ts";
import { commandLine, settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { visitorKey } from "../../server/ledger/rules/held-events.ts";
import { Journal } from "../../server/ledger/sqlite/journal.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { SqliteEngine } from "../../server/ledger/sqlite/store-engine.ts";
import { item, write } from "./held-event-support.ts";
import { account, look, user, writePeople } from "./writes.ts";

const base = mkdtempSync(join(tmpdir(), "rekindle-work-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const nowMs = Date.UTC(2026, 0, 2);
let ledger: Ledger;
const erased = spyOn(Journal.prototype, "erase");
const transactions = spyOn(SqliteEngine.prototype, "transaction");

beforeAll(async () => {
  ledger = await openSqliteLedger({ features, file: join(base, "ledger.sqlite"), clock: () => nowMs });
});
afterAll(() => ledger.close());
beforeEach(() => {
  erased.mockClear();
  transactions.mockClear();
});

test("an erasure of an unknown id empties no log, one of held items does", async () => {
  const { id } = await ledger.organizations.create({ name: "erasing", timezone: "UTC", nowMs }, settingUp);
  expect(await ledger.erasures.begin(id, "unknown")).toBeUndefined();
  expect(erased).toHaveBeenCalledTimes(0);
  await write(ledger, nowMs, { held: [item(id, "v")] });
  expect(await ledger.erasures.begin(id, "v")).toBeUndefined();
  expect(erased).toHaveBeenCalledTimes(1);
  expect(await ledger.erasures.begin(id, "v")).toBeUndefined();
  expect(erased).toHaveBeenCalledTimes(1);
});

test("members of an erased account are searched in small steps, and users who join meanwhile leave it, too", async () => {
  const { id } = await ledger.organizations.create(
    { name: "many members", timezone: "UTC", nowMs },
    settingUp,
  );
  const users = Array.from({ length: 2_100 }, (_, n) =>
    user(id, `u${n}`, { number: n + 1, account: n % 50 === 0 ? 1 : 0, email: `u${n}@example.com` }),
  );
  await writePeople(ledger, { accounts: [account(id, "engines")], users });
  const [, second] = users;
  if (second === undefined) throw new Error("there is no second user");
  // The first step has read this user by then.
  const joining = { ...second, account: 1, version: 2 };
  const begun = ledger.erasures.beginAccount(id, "engines");
  await writePeople(ledger, { users: [joining] });
  expect((await begun)?.members).toBe(43);
  const known = await look(ledger, { known: users }, (stored) =>
    users.map(({ userId }) => stored.known(id, userId)?.account),
  );
  expect(known.every((of) => of === 0)).toBe(true);
});

test("tidying begins no transaction for organizations that once had held items", async () => {
  for (let n = 0; n < 20; n += 1) {
    const { id } = await ledger.organizations.create(
      { name: `held ${n}`, timezone: "UTC", nowMs },
      settingUp,
    );
    await write(ledger, nowMs, { held: [item(id, "v")] });
    await write(ledger, nowMs, { taken: [visitorKey(id, "v")] });
  }
  transactions.mockClear();
  await ledger.tidy(nowMs);
  expect(transactions).toHaveBeenCalledTimes(0);
});

test("a person who is gone is refused when an organization is created", async () => {
  const by = { person: { id: 99, name: "Gone" }, by: "Gone (person 99)" };
  const wanted = { name: "founded", timezone: "UTC" };
  await expect(ledger.members.createOrganization(wanted, by, nowMs)).rejects.toBeInstanceOf(Refusal);
});

test("two changes of Stripe's settings at once lose neither", async () => {
  const { id } = await ledger.organizations.create({ name: "stripe", timezone: "UTC", nowMs }, settingUp);
  const { sourceSettings } = ledger;
  await Promise.all([
    sourceSettings.changeStripe(id, { unknownCustomers: "create" }, commandLine, nowMs),
    sourceSettings.changeStripe(id, { signingSecrets: ["whsec_1234567890"] }, commandLine, nowMs),
  ]);
  expect(await sourceSettings.stripe(id)).toMatchObject({
    unknownCustomers: "create",
    signingSecrets: ["whsec_1234567890"],
  });
});

test("other requests are answered while the users of a segment are looked up", async () => {
  const { id } = await ledger.organizations.create({ name: "segments", timezone: "UTC", nowMs }, settingUp);
  const users = Array.from({ length: 2_100 }, (_, n) =>
    user(id, `s${n}`, { number: n + 1, email: `s${n}@example.com` }),
  );
  await writePeople(ledger, { users });
  transactions.mockClear();
  const content = { ids: users.map(({ userId }) => userId) };
  const order: string[] = [];
  const saved = ledger.segments
    .add(id, { kind: "users", name: "all", content }, commandLine, nowMs)
    .then(() => order.push("saved"));
  for (const turn of ["first", "second", "third", "fourth"]) {
    await new Promise((resolve) => setImmediate(resolve));
    order.push(turn);
  }
  await saved;
  expect(order).toEqual(["first", "second", "third", "fourth", "saved"]);
  // The place among the erasures is read in the first one, and the second one saves.
  expect(transactions).toHaveBeenCalledTimes(2);
});
