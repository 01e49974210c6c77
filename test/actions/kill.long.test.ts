/** A service that is killed after a message was sent and before that was recorded. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser, company } from "../people/support.ts";
import { until } from "../people/watching.ts";
import { Server } from "../server.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-killed-"));
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => {
  receiver.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

test("a message whose outcome was not recorded arrives again with the same id", async () => {
  const options = {
    ...({ role: "intake" } as const),
    ...{ dataDir, env: { ALLOW_PRIVATE_DESTINATIONS: receiver.allowed } },
  };
  const killed = await Server.start(options);
  const { owner, at } = await company(killed, "Killed");
  const body = { kind: "webhook", name: "Hooks", address: receiver.address("/hang") };
  const { destination } = await owner.json<{ destination: { id: number } }>(
    ...(["POST", at("/api/destinations"), body, 201] as const),
  );
  const one = `/api/destinations/${destination.id}`;
  const { messageId } = await owner.json<{ messageId: string }>("POST", at(`${one}/test`), undefined, 201);
  const got = () => receiver.got.filter(({ headers }) => headers["webhook-id"] === messageId);
  await until(() => got().length === 1);
  await killed.crash();

  const server = await Server.start(options);
  try {
    const again = Object.assign(new Browser(server), { cookie: owner.cookie });
    // A restart is no copy of the installation: the destination sends as before.
    expect(await again.json<object>("PATCH", at(one), { address: receiver.address("/200") })).toMatchObject({
      state: "active",
      pending: 1,
    });
    // The claim of the killed process ends after a minute.
    await until(() => got().length === 2);
    expect(got().map(({ path }) => path)).toEqual(["/hang", "/200"]);
    expect(got()[1]?.body).toBe(got()[0]?.body ?? "");
  } finally {
    await server.stop();
  }
}, 300_000);
