/**
 * Kills the service, or its analysis alone, at random moments between an event that fires a rule and the message about it. In the end
 * each event has one alert, and each alert has arrived at least once under one id. ALERT_KILLS makes more rounds.
 */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Receiver, startReceiver } from "../actions/receiver.ts";
import { ownPort } from "../durability/killing.ts";
import { Browser, company } from "../people/support.ts";
import { until } from "../people/watching.ts";
import { Server } from "../server.ts";
import { randomOfThisRun } from "../warehouse/support.ts";

export const runsOn = { disk: true };

const rounds = Number(process.env.ALERT_KILLS ?? 12);
/** No rule sends more alerts on a day. */
const cap = 1_000;
/** Users with a failed payment in a round. The last number is more than a chunk holds, so a kill can come between two. */
const usersOfRound = [1, 2, 3, 4, 5, 6, 8, 105] as const;
/** Decided and sent by then, on a quiet machine: later kills would find no work. */
const longestMs = 2_500;

interface Alert {
  readonly entityId: string;
}

const time = { actionsMs: 250 };
const dataDir = mkdtempSync(join(tmpdir(), "rekindle-alert-kill-"));

/** The ids of the messages that arrived, by the user whom each is about. */
function idsByUser({ got }: Receiver): Map<string, Set<string>> {
  const ids = new Map<string, Set<string>>();
  for (const { body, headers } of got) {
    const { type, data } = JSON.parse(body) as { type: string; data: { entity: { id: string } } };
    expect(type).toBe("alert.fired");
    const own = ids.get(data.entity.id) ?? new Set();
    ids.set(data.entity.id, own.add(headers["webhook-id"] ?? ""));
  }
  return ids;
}

/** The items of a batch: a new user, and a payment that failed. */
function failedPayment(userId: string): object[] {
  const properties = { subscription: userId, amount: 900, currency: "USD" };
  return [
    { type: "identify", userId, email: `${userId}@example.com` },
    { type: "track", userId, event: "payment_failed", properties },
  ];
}

test("a kill between an event and its message loses no alert, decides none twice, and keeps its id", async () => {
  const random = randomOfThisRun("kills of alerts");
  const receiver = await startReceiver();
  const env = { ...(await ownPort()), ALLOW_PRIVATE_DESTINATIONS: receiver.allowed };
  const start = () => Server.start({ time, dataDir, env });
  let server = await start();
  await server.ready();
  const { owner, at, token } = await company(server, "Killed alerts");
  await server.command("organization", "set", "Killed alerts", "--item-rate-limit", "1000000");
  const hook = { kind: "webhook", name: "hook", address: receiver.address("/200") };
  const { destination } = await owner.json<{ destination: { id: number } }>(
    ...(["POST", at("/api/destinations"), hook, 201] as const),
  );
  const rule = {
    ...{ name: "Payments", scope: { kind: "users" }, condition: { kind: "paymentFailed" } },
    ...{ cap, when: "at once", destinations: [destination.id] },
  };
  await owner.json("POST", at("/api/alert-rules"), rule, 201);
  const person = () => Object.assign(new Browser(server), { cookie: owner.cookie });
  const isDecided = async () => {
    const { rules } = await person().json<{ rules: { decidedThrough: string | null }[] }>(
      "GET",
      at("/api/alert-rules"),
    );
    return rules.every(({ decidedThrough }) => decidedThrough !== null);
  };
  await until(isDecided);

  const failed: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const length = failed.length > cap - 200 ? 1 : random.pick(usersOfRound);
    const users = Array.from({ length }, (_, n) => `user-${round}-${n}`);
    expect((await server.post("/batch", token, { batch: users.flatMap(failedPayment) })).status).toBe(201);
    failed.push(...users);
    await Bun.sleep(random.within(0, longestMs));
    const analysis = server.analysisPid();
    if (random.chance(1 / 3) && analysis !== undefined) {
      process.kill(analysis, "SIGKILL");
    } else {
      await server.crash();
      server = await start();
    }
    await server.ready();
  }

  const alerts = async () => {
    const all: Alert[] = [];
    while (true) {
      const page = await person().json<{ total: number; alerts: Alert[] }>(
        ...(["GET", `${at("/api/alerts")}&limit=200&offset=${all.length}`] as const),
      );
      all.push(...page.alerts);
      if (page.alerts.length === 0 || all.length >= page.total) return all;
    }
  };
  await until(async () => (await alerts()).length >= failed.length);
  await until(() => idsByUser(receiver).size >= failed.length);
  expect((await alerts()).map(({ entityId }) => entityId).toSorted()).toEqual(failed.toSorted());
  const arrived = idsByUser(receiver);
  expect([...arrived.keys()].toSorted()).toEqual(failed.toSorted());
  expect([...arrived].filter(([, ids]) => ids.size !== 1)).toEqual([]);
  const again = receiver.got.length - arrived.size;
  console.log(`${rounds} kills, ${failed.length} alerts, ${again} messages arrived again under their id`);
  await server.stop();
  receiver.stop();
  rmSync(dataDir, { recursive: true, force: true });
});
