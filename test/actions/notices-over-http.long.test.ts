/** From events to the message that a day's scores are ready, at a receiver that verifies it. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { documentOf, notDescribed } from "./described.ts";
import { logsRuns, twoMoreRuns } from "./polled.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

let [server, receiver]: [Server, Receiver] = [] as never;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await Server.start({
    time: quick,
    env: { ...logsRuns, ALLOW_PRIVATE_DESTINATIONS: receiver.allowed },
  });
});
afterAll(async () => {
  await server.stop();
  receiver.stop();
});

test("a destination is told of the day's scores, once, and one that did not ask is not", async () => {
  const { name, owner, at, token } = await company(server, "Scored", "--timezone", quietZone);
  const add = async (path: string, notices: readonly string[]) => {
    const body = { kind: "webhook", name: path, address: receiver.address(path), notices };
    return owner.json<{ secret: string; destination: { id: number } }>(
      "POST",
      at("/api/destinations"),
      body,
      201,
    );
  };
  const asked = await add("/asked", ["scores.completed"]);
  const other = await add("/other", ["source.silent"]);
  const [dayMs, today] = [86_400_000, formatDay(todayIn(quietZone))];
  const items = ["ada", "eve"].flatMap((userId) => [
    { type: "identify", userId, email: `${userId}@example.com`, account: { id: "engines", name: "Engines" } },
    ...[40, 12, 3].map((days) => ({
      type: "track",
      userId,
      event: "opened",
      timestamp: new Date(Date.now() - days * dayMs).toISOString(),
    })),
  ]);
  expect((await server.post("/batch", token, { batch: items })).status).toBe(201);
  await server.command("score", "--organization", name);
  const toldAt = (path: string) => receiver.got.filter((one) => one.path === path);
  await until(
    "the notice has arrived",
    () => toldAt("/asked"),
    ({ length }) => length > 0,
  );
  const [message] = toldAt("/asked");
  const body = new Webhook(asked.secret).verify(message?.body ?? "", message?.headers ?? {}) as {
    readonly type: string;
    readonly data: { readonly text: string; readonly scores: object };
  };
  expect(body).toMatchObject({ type: "scores.completed", data: { day: today } });
  expect(notDescribed(await documentOf(server), message?.body ?? "")).toEqual([]);
  expect(body.data.text).toBe(`Scored: the scores of ${today} are ready. No churn risk is known.`);
  expect(body.data.scores).toEqual([
    { kind: "user", scored: 2, highRisk: null },
    { kind: "account", scored: 1, highRisk: null },
  ]);
  expect(JSON.stringify(receiver.got)).not.toContain("ada");
  await server.command("score", "--organization", name);
  await twoMoreRuns(server, "notices");
  const deliveriesTo = async ({ id }: { readonly id: number }) =>
    (await owner.json<{ deliveries: readonly object[] }>("GET", `${at("/api/deliveries")}&destination=${id}`))
      .deliveries;
  expect(await deliveriesTo(asked.destination)).toHaveLength(1);
  expect(await deliveriesTo(other.destination)).toEqual([]);
  expect([toldAt("/asked").length, toldAt("/other").length]).toEqual([1, 0]);
});
