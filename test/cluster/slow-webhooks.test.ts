/** A webhook that waits for PostgreSQL while it is translated, and what changes in the meantime. */
import { afterAll, expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import { commandLine, settingUp } from "../../server/ledger/audit.ts";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { tableOf } from "../../server/ledger/postgres/inbox-segments.ts";
import { inTransaction } from "../../server/ledger/postgres/transaction.ts";
import { deliver } from "../sources/webhooks-support.ts";
import { expectSuccess } from "../specification/support.ts";
import { until } from "../until.ts";
import { TestCluster } from "./support.ts";

const cluster = await TestCluster.start();
const admin = openPool(cluster.env.DATABASE_URL ?? "", { connections: 2 });
afterAll(() => admin.end());
const node = await cluster.node();

const [west, east] = ["Pacific/Pago_Pago", "Pacific/Kiritimati"] as const;
const mapping = { userId: "who", event: { text: "rang" } };

/** An organization in the far west, with a user and a webhook. */
async function company(name: string) {
  const { id, token } = await cluster.organization(name);
  const { organizations, sourceSettings } = cluster.ledger;
  await organizations.set(id, { timezone: west }, settingUp, 1);
  await sourceSettings.addWebhook(id, { name: "calls", mapping }, commandLine, 1);
  await expectSuccess(await node.post("/identify", token, { userId: "u", email: "a@example.com" }));
  return { id, token };
}

/** Delivers to the webhook, and does something while its translation waits. @returns the status of its
 * answer */
async function whileTranslated(token: string, doSomething: () => Promise<unknown>): Promise<number> {
  let answer: Promise<Response> | undefined;
  await inTransaction(admin, async (tx) => {
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
    await tx`LOCK TABLE source_settings IN ACCESS EXCLUSIVE MODE`;
    answer = deliver(node, `/v1/webhooks/calls/${token}`, { who: "u" });
    await until("the translation waits", async () => {
      const [waiting] = await admin<
        { waits: boolean }[]
      >`SELECT count(*) > 0 AS waits FROM pg_locks WHERE NOT granted
          AND (database, relation) = (SELECT oid, 'source_settings'::regclass FROM pg_database WHERE datname = current_database())`;
      return waiting?.waits ?? false;
    });
    // The node caches a header and a webhook's token apart. With both cached, what it knows of one it knows
    // of the other.
    await expectSuccess(await node.post("/track", token, { userId: "u", event: "asked" }));
    await doSomething();
  });
  if (answer === undefined) throw new Error("nothing was delivered");
  return (await answer).status;
}

/** The days of an organization's events with this name, as `[time, day]`. The first segment of the inbox is
 * sealed within a minute. */
async function daysOf(organization: number, name: string): Promise<readonly (readonly [number, number])[]> {
  const known = await admin<{ segment: number }[]>`SELECT segment FROM inbox_segments ORDER BY segment`;
  const segments: { body: string }[] = [];
  for (const { segment } of known) {
    segments.push(
      ...(await admin<{ body: string }[]>`
        SELECT body FROM ${admin(tableOf(segment))} WHERE warehouse_table = 'events' ORDER BY seq`),
    );
  }
  const rows = segments.flatMap(({ body }) =>
    body
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
  return rows
    .filter(([of, , , event]) => of === organization && event === name)
    .map(([, , , , atMs, day]) => [atMs, day] as const);
}

test("an event gets its day by the timezone at the time of its commit", async () => {
  const { id, token } = await company("moving");
  const status = await whileTranslated(token, async () => {
    await cluster.ledger.organizations.set(id, { timezone: east }, settingUp, 1);
    await until("the node knows the new timezone", async () => {
      await expectSuccess(await node.post("/track", token, { userId: "u", event: "asked" }));
      const [atMs = 0, day] = (await daysOf(id, "asked")).at(-1) ?? [];
      return day === new Zone(east).dayOf(atMs);
    });
  });
  expect(status).toBe(200);
  const days = await daysOf(id, "rang");
  expect(days).toHaveLength(1);
  for (const [atMs, day] of days) expect(day).toBe(new Zone(east).dayOf(atMs));
});

test("with a token that was revoked in the meantime nothing is stored", async () => {
  const { id, token } = await company("leaving");
  const status = await whileTranslated(token, async () => {
    const [mine] = await cluster.ledger.tokens.list(id);
    if (mine === undefined) throw new Error("no token");
    await cluster.ledger.tokens.revoke(mine.id, settingUp, Date.now());
    await until("the node refuses it", async () => {
      const answer = await node.post("/track", token, { userId: "u", event: "asked" });
      return answer.status === 401;
    });
  });
  expect(status).toBe(401);
  expect(await daysOf(id, "rang")).toEqual([]);
});
