/** The sender on a real ledger, with receivers that never answer. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import type { Mail } from "../../server/actions/send/mail.ts";
import type { Message, Sent } from "../../server/actions/send/post.ts";
import { Sender } from "../../server/actions/send/sender.ts";
import { commandLine, settingUp } from "../../server/ledger/ports/audit.ts";
import type { Ledger } from "../../server/ledger/ports/ledger.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/engine/open.ts";

const nowMs = Date.UTC(2026, 0, 1);
let folder: string;
let ledger: Ledger;
let organization: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-sender-"));
  ledger = await openSqliteLedger({ file: join(folder, "ledger.sqlite"), clock: () => nowMs });
  organization = (await ledger.organizations.create({ name: "a", timezone: "UTC", nowMs }, settingUp)).id;
});
afterEach(async () => {
  await ledger.close();
  await rm(folder, { recursive: true });
});

async function destination(name: string): Promise<number> {
  const wanted = {
    kind: "slack",
    name,
    address: `https://${name}.example/`,
    secrets: [],
    notices: [],
  } as const;
  return (await ledger.destinations.add(organization, wanted, commandLine, nowMs)).id;
}

const add = (to: number, messageId: string) =>
  ledger.deliveries.add(
    organization,
    to,
    { messageId, type: "test", body: JSON.stringify({ type: "test", data: { text: messageId, link: "" } }) },
    nowMs,
  );

const delivered: Sent = { status: 200, said: "", retryAfterMs: null };

/** A sender whose messages to addresses with `hanging` in them are never answered. */
function senderOf(posted: string[]): Sender {
  const post = (message: Message | Mail): Promise<Sent> => {
    const address = "address" in message ? message.address : message.to;
    posted.push(address);
    return address.includes("hanging") ? new Promise(() => undefined) : Promise.resolve(delivered);
  };
  return new Sender({
    ...{ ledger, poster: { post, stop: () => undefined }, nowMs: () => nowMs, random: () => 0 },
    ...{ address: () => "https://rekindle.example", log: pino({ level: "silent" }) },
  });
}

test("1,000 messages for a destination that hangs delay no message to another", async () => {
  const hanging = await destination("hanging");
  for (let n = 0; n < 1_000; n += 1) await add(hanging, `hanging ${n}`);
  const quick = await destination("quick");
  const posted: string[] = [];
  const sender = senderOf(posted);
  // The service calls this once a second: what is posted by the first call after a message was added waits for a second at most.
  await sender.work();
  expect(posted).toEqual(Array.from({ length: 4 }, () => "https://hanging.example/"));
  for (let n = 0; n < 5; n += 1) {
    await add(quick, `quick ${n}`);
    await sender.work();
    expect(posted.filter((address) => address.includes("quick"))).toHaveLength(n + 1);
  }
  expect(posted.filter((address) => address.includes("hanging"))).toHaveLength(4);
});

test("19 destinations that hang, delay no message to another", async () => {
  for (let n = 0; n < 19; n += 1) {
    const hanging = await destination(`hanging-${n}`);
    for (let message = 0; message < 10; message += 1) await add(hanging, `${message}`);
  }
  const quick = await destination("quick");
  const posted: string[] = [];
  const sender = senderOf(posted);
  await sender.work();
  expect(posted).toHaveLength(19 * 4);
  await add(quick, "quick");
  await sender.work();
  expect(posted.at(-1)).toBe("https://quick.example/");
});
