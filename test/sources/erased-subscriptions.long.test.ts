/** Erasing a user and an account takes their billing events, and leaves the subscriptions of others whole. */

import { expect, test } from "bun:test";
import { filesWith, removeOldParts } from "../erasure/support.ts";
import { ownServer } from "../own-server.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { expectSuccess, user } from "../specification/support.ts";
import { inLedger } from "../stored.ts";
import { customer, subscription } from "./stripe-objects.ts";
import { agreement, asTracked, expected, identify, sent } from "./subscription-support.ts";
import { at, delivered } from "./webhooks-support.ts";

export const runsOn = { postgres: true };

const server: Server = await ownServer(() => server, { time: quick });

/** How many held events name the account. */
async function heldWithAccount(): Promise<number> {
  const rows = await inLedger(
    server.dataDir,
    (run) => run`SELECT 1 AS one FROM held_events WHERE body LIKE '%HIDDEN%' OR account_id IS NOT NULL`,
  );
  return rows.length;
}

test("an erased account is in no billing event that is held, and pays for nothing once its user is known", async () => {
  const token = await server.organization("Held payer");
  const metadata = { accountId: "HIDDEN-account" };
  const bob = { userId: "bob", email: "bob@example.com", account: { id: "HIDDEN-account", name: "B" } };
  await expectSuccess(await server.post("/identify", token, bob));
  await delivered(
    server,
    token,
    at("customer.created", 0, customer()),
    at("customer.subscription.created", 0, subscription({ metadata })),
  );
  expect(await heldWithAccount()).toBeGreaterThan(0);
  await server.command("erase", "account", "HIDDEN-account", "--organization", "Held payer");
  expect(await heldWithAccount()).toBe(0);
  await expectSuccess(await server.post("/identify", token, user("ada")));
  const [change] = await server.exported("subscriptions", "Held payer");
  expect(change).toMatchObject({ subscriptionId: "sub_1", userId: "ada", accountId: null, mrr: 4_900 });
  expect(await server.exported("accounts", "Held payer")).toEqual([]);
  expect(JSON.stringify(await server.exported("events", "Held payer"))).not.toContain("HIDDEN");
});

test("an erased user and account leave no billing event and no change, and the others are whole", async () => {
  await sent(
    server,
    "Erased",
    ...["ada", "MARKER-user"].map(identify),
    ...asTracked("sub_1", "ada", "MARKER-account"),
    ...asTracked("MARKER-sub", "MARKER-user", "acme"),
    ...asTracked("sub_3", "ada", "acme"),
  );
  const all = [
    expected("sub_1", "ada", "MARKER-account"),
    expected("sub_3"),
    expected("MARKER-sub", "MARKER-user"),
  ];
  const before = await server.exported("subscriptions", "Erased");
  expect(new Set(before.map((one) => JSON.stringify(one)))).toEqual(
    new Set(all.flat().map((one) => JSON.stringify(one))),
  );
  await server.command("erase", "user", "MARKER-user", "--organization", "Erased");
  await server.command("erase", "account", "MARKER-account", "--organization", "Erased");
  const left = [...expected("sub_1", "ada", null), ...expected("sub_3")];
  expect(await server.exported("subscriptions", "Erased")).toEqual(left);
  expect(JSON.stringify(await server.exported("events", "Erased"))).not.toContain("MARKER");
  expect(await server.command("doctor")).toContain(agreement("Erased"));
  await server.command("rebuild", "--organization", "Erased");
  expect(await server.exported("subscriptions", "Erased")).toEqual(left);
  expect(await server.command("doctor")).toContain(agreement("Erased"));
  await server.command("organization", "set", "Erased", "--timezone", "Asia/Tokyo");
  expect(await server.exported("subscriptions", "Erased")).toEqual(left);
  await server.crash();
  expect(await server.exported("subscriptions", "Erased")).toEqual(left);
  await server.kill("SIGTERM");
  await removeOldParts(server.dataDir);
  expect(await filesWith(server.dataDir, "MARKER")).toEqual([]);
});
