/** Billing events of sources whose user is not identified yet: the payer that they name, then and after its
 * erasure. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { identify, nowMs, SpokenTo, track } from "./spoken-to.ts";

const subject = new WarehouseUnderTest();
let spokenTo: SpokenTo;
beforeAll(async () => {
  spokenTo = await SpokenTo.open(subject);
});
afterAll(() => spokenTo?.close());

const started = (accountId: string, some: object = {}) =>
  track({
    userId: "ada",
    event: "subscription_started",
    atMs: nowMs - 60_000,
    properties: { subscriptionId: "sub_1", amount: 4_900, currency: "EUR", interval: "month", accountId },
    ...some,
  });

/** The accounts of the stored billing events, by their ids, and whether the events name them. */
async function payers(organization: number): Promise<unknown[]> {
  await spokenTo.loaded();
  const rows = await subject.warehouse.rows<{ payer: unknown }>(
    `SELECT [account_id, toString(is_account_named AND account != 0)] AS payer
     FROM (SELECT * FROM billing_events FINAL WHERE organization = {organization:UInt32}) AS billing
     LEFT ANY JOIN (SELECT account, account_id FROM accounts FINAL WHERE organization = {organization:UInt32}) AS accounts
     ON billing.account = accounts.account`,
    { organization },
  );
  return rows.map(({ payer }) => payer);
}

const accountOf = async (organization: number) => {
  const [ada] = await spokenTo.exported(organization, "users");
  return (ada?.account as { id: string } | null)?.id ?? null;
};

test("a held event carries its payer when its user is identified, and the user does not join it", async () => {
  const { id, say } = await spokenTo.organization("Held payer");
  await say(started("acme"));
  expect(await payers(id)).toEqual([]);
  await say(identify("ada", { account: { id: "own" } }));
  expect(await payers(id)).toEqual([["acme", "true"]]);
  expect(await accountOf(id)).toBe("own");
  expect(await spokenTo.differences(id)).toEqual([]);
});

test("a payer that was erased while the event was held is no payer, and the user's account is none either", async () => {
  const { id, say } = await spokenTo.organization("Erased payer");
  await say(started("acme"), identify("bob", { account: { id: "acme" } }));
  await spokenTo.ledger.erasures.beginAccount(id, "acme");
  await say(identify("ada", { account: { id: "own" } }));
  expect(await payers(id)).toEqual([["", "false"]]);
});

test("a user joins the account that a source sends beside, and the event carries the payer", async () => {
  const { id, say } = await spokenTo.organization("Two accounts");
  await say(identify("ada"), started("own", { account: { id: "own" } }));
  expect([await payers(id), await accountOf(id)]).toEqual([[["own", "true"]], "own"]);
});
