/** The sender on a real ledger, with receivers that never answer. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { destinationLimits, type MessageType } from "../../contract/destinations/destinations.ts";
import { readConfig } from "../../server/config.ts";
import { features } from "../../server/features/features.ts";
import { commandLine, settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { newOutbox } from "../../server/sending/outbox.ts";
import type { Sent } from "../../server/sending/post.ts";
import { type Poster, PostingThread } from "../../server/sending/posting-thread.ts";
import { Sender } from "../../server/sending/sender.ts";
import { turns, until } from "../until.ts";
import { startReceiver } from "./receiver.ts";

const nowMs = Date.UTC(2026, 0, 1);
let folder: string;
let ledger: Ledger;
let organization: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-sender-"));
  ledger = await openSqliteLedger({ features, file: join(folder, "ledger.sqlite"), clock: () => nowMs });
  await newOrganization();
});
afterEach(async () => {
  await ledger.close();
  await rm(folder, { recursive: true });
});

async function destination(name: string, kind: "slack" | "webhook" = "slack"): Promise<number> {
  const wanted = {
    kind,
    name,
    address: `https://${name}.example/`,
    secrets: kind === "webhook" ? ["whsec_YQ=="] : [],
    notices: [],
  } as const;
  return (await ledger.destinations.add(organization, wanted, commandLine, nowMs)).id;
}

const add = (to: number, messageId: string, type: MessageType = "model.changed") =>
  ledger.deliveries.add(
    organization,
    to,
    { messageId, type, body: JSON.stringify({ type, data: { text: messageId, link: "" } }) },
    nowMs,
  );

const delivered: Sent = { status: 200, said: "", retryAfterMs: null };

const log = pino({ level: "silent" });

function senderWith(post: Poster["post"], clock = () => nowMs): Sender {
  return new Sender({
    ledger,
    poster: { post, stop: () => undefined },
    nowMs: clock,
    random: () => 0,
    address: () => "https://rekindle.example",
    log,
  });
}

/** A sender whose messages to addresses with `hanging` in them are never answered. */
function senderOf(posted: string[], clock?: () => number): Sender {
  return senderWith((message) => {
    const address = "address" in message ? message.address : message.to;
    posted.push(address);
    return answerOf(address);
  }, clock);
}

test("1,000 messages for a destination that hangs delay no message to another", async () => {
  const hanging = await destination("hanging");
  for (let n = 0; n < 1_000; n += 1) await add(hanging, `hanging ${n}`);
  const quick = await destination("quick");
  const posted: string[] = [];
  const sender = senderOf(posted);
  // The service calls this once a second: what is posted by the first call after a message was added waits
  // for a second at most.
  await sender.sendDue();
  expect(posted).toEqual(Array.from({ length: 4 }, () => "https://hanging.example/"));
  for (let n = 0; n < 5; n += 1) {
    await add(quick, `quick ${n}`);
    await sender.sendDue();
    expect(posted.filter((address) => address.includes("quick"))).toHaveLength(n + 1);
    await until(
      "the quick destination has all",
      () => pendingOf(quick),
      (seen) => seen === 0,
    );
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
  await sender.sendDue();
  expect(posted).toHaveLength(19 * 4);
  await add(quick, "quick");
  await sender.sendDue();
  expect(posted.at(-1)).toBe("https://quick.example/");
});

const addMany = async (to: number, messages: number) => {
  for (let n = 0; n < messages; n += 1) await add(to, String(n));
};

async function newOrganization(): Promise<void> {
  const wanted = { name: crypto.randomUUID(), timezone: "UTC", nowMs };
  organization = (await ledger.organizations.create(wanted, settingUp)).id;
}

/** Adds destinations that hang, of several organizations, with so many messages each. */
async function addHanging(destinations: number, messages: number): Promise<void> {
  for (let n = 0; n < destinations; n += 1) {
    if (n % destinationLimits.perOrganization === 0) await newOrganization();
    await addMany(await destination(`hanging-${n}`), messages);
  }
}

const pendingOf = async (id: number) => (await ledger.destinations.find(organization, id))?.pending;
const refused: Sent = { status: 500, said: "", retryAfterMs: null };

/** Answers by the address: never, with 500, or with 200. */
function answerOf(address: string): Promise<Sent | null> {
  if (address.includes("hanging")) return new Promise(() => undefined);
  return Promise.resolve(address.includes("failing") ? refused : delivered);
}

test("one look drains a webhook that answers, beside one that hangs and one that fails, four at a time", async () => {
  await addMany(await destination("hanging", "webhook"), 1_000);
  const failing = await destination("failing", "webhook");
  await addMany(failing, 50);
  const quick = await destination("quick", "webhook");
  await addMany(quick, 200);
  const posted: string[] = [];
  const [underWay, most] = [new Map<string, number>(), new Map<string, number>()];
  const sender = senderWith(async (message) => {
    const address = "address" in message ? message.address : "";
    posted.push(address);
    const now = (underWay.get(address) ?? 0) + 1;
    underWay.set(address, now);
    most.set(address, Math.max(now, most.get(address) ?? 0));
    await turns(1);
    const sent = await answerOf(address);
    underWay.set(address, (underWay.get(address) ?? 0) - 1);
    return sent;
  });
  await sender.sendDue();
  await until(
    "the quick destination has all",
    () => pendingOf(quick),
    (seen) => seen === 0,
  );
  expect(posted.filter((address) => address.includes("quick"))).toHaveLength(200);
  expect(Math.max(...most.values())).toBe(4);
  // The others wait for the next look. The one that fails gets a single message then.
  expect(posted.filter((address) => address.includes("hanging"))).toHaveLength(4);
  expect(posted.filter((address) => address.includes("failing"))).toHaveLength(4);
  await sender.sendDue();
  expect(posted.filter((address) => address.includes("hanging"))).toHaveLength(4);
  expect(posted.filter((address) => address.includes("failing"))).toHaveLength(5);
});

/** The first message of so many destinations fails once, so that these destinations fail. */
async function failFirst(destinations: number): Promise<void> {
  const first = await ledger.deliveries.claim({ most: destinations, perDestination: 1, failing: 0 }, nowMs);
  const retry = { ...refused, verdict: { is: "retry", waitMs: 0 } } as const;
  await ledger.deliveries.tried(
    first.map(({ delivery }) => ({ id: delivery.id, ...retry })),
    nowMs,
  );
}

test("a test is sent at the next look, also to a destination that fails and hangs with others before it", async () => {
  const to = await destination("hanging");
  await addMany(to, 12);
  await failFirst(1);
  const posted: string[] = [];
  const sender = senderOf(posted);
  await sender.sendDue();
  expect(posted).toHaveLength(1);
  await add(to, "the test", "test");
  expect(await sender.sendDue()).toBe(1);
  expect(posted).toHaveLength(2);
  expect(await sender.sendDue()).toBe(0);
});

test("Slack gets four messages a look: it refuses many in a second", async () => {
  const slack = await destination("slack");
  await addMany(slack, 9);
  const sender = senderOf([]);
  for (const left of [5, 1, 0]) {
    await sender.sendDue();
    await until(
      "Slack has one message more",
      () => pendingOf(slack),
      (seen) => seen === left,
    );
  }
});

test("destinations that fail leave room for those that work, however many hang", async () => {
  await addHanging(200, 2);
  await failFirst(200);
  const posted: string[] = [];
  const sender = senderOf(posted);
  await sender.sendDue();
  expect(posted).toHaveLength(128);
  await newOrganization();
  await add(await destination("quick"), "1");
  await sender.sendDue();
  expect(posted.at(-1)).toBe("https://quick.example/");
  expect(posted).toHaveLength(129);
});

test("calls at the same time begin 256 messages together at most", async () => {
  await addHanging(100, 4);
  const posted: string[] = [];
  const sender = senderOf(posted);
  await Promise.all(Array.from({ length: 5 }, () => sender.sendDue()));
  expect(posted).toHaveLength(256);
});

test("a message that cannot be read ends, and keeps no room", async () => {
  const to = await destination("broken");
  const message = { messageId: "1", type: "test", body: "no JSON" } as const;
  await ledger.deliveries.add(organization, to, message, nowMs);
  let clockMs = nowMs;
  const sender = senderOf([], () => clockMs);
  expect(await sender.sendDue()).toBe(1);
  clockMs += 60_000;
  expect(await sender.sendDue()).toBe(1);
  await sender.stop();
});

test("a delivery whose claim a clock ended is not begun while it is under way", async () => {
  await add(await destination("hanging"), "1");
  let clockMs = nowMs;
  const posted: string[] = [];
  const sender = senderOf(posted, () => clockMs);
  await sender.sendDue();
  clockMs += 3_600_000;
  expect(await sender.sendDue()).toBe(0);
  expect(posted).toHaveLength(1);
});

test("a stop is no attempt: the delivery waits for the end of its claim", async () => {
  const to = await destination("stopped");
  await add(to, "1");
  const sender = senderWith(async () => null);
  await sender.sendDue();
  await sender.stop();
  const [delivery] = await ledger.deliveries.list(organization, { limit: 1 });
  expect(delivery).toMatchObject({ state: "pending", attempts: 0, dueAtMs: nowMs });
  expect(await ledger.destinations.find(organization, to)).toMatchObject({ failingSinceMs: null });
});

test("a thread that is stopped has no outcome, and begins nothing after", async () => {
  const receiver = await startReceiver();
  const { privateDestinations: exceptions } = readConfig({ ALLOW_PRIVATE_DESTINATIONS: receiver.allowed });
  const thread = new PostingThread({ exceptions, mail: null });
  const message = { address: receiver.address("/hang"), headers: {}, body: "{}" };
  const underWay = thread.post(message);
  await until(
    "the message is under way",
    () => receiver.got,
    ({ length }) => length === 1,
  );
  thread.stop();
  expect([await underWay, await thread.post(message)]).toEqual([null, null]);
  expect(receiver.got).toHaveLength(1);
  receiver.stop();
});

test("messages of a thread that ends without an error have failed, and the next one has a new thread", async () => {
  const script = new URL("../ending-worker.ts", import.meta.url);
  const thread = new PostingThread({ exceptions: [], mail: null }, script);
  const message = { address: "https://receiver.example/", headers: {}, body: "{}" };
  const ended = { status: null, said: "The thread that sends messages ended.", retryAfterMs: null };
  // Two of one thread.
  expect(await Promise.all([thread.post(message), thread.post(message)])).toEqual([ended, ended]);
  expect(await thread.post(message)).toEqual(ended);
  const stopped = thread.post(message);
  thread.stop();
  expect([await stopped, await thread.post(message)]).toEqual([null, null]);
});

test("a mail that a request waits for says that the service stopped", async () => {
  const mail = { smtpUrl: "smtp://127.0.0.1:1", from: "rekindle@example.com" };
  const outbox = newOutbox(
    ledger,
    { exceptions: [], mail },
    () => "https://rekindle.example",
    log,
    () => nowMs,
  );
  await outbox.stop();
  expect(
    await outbox.mail({ to: "ada@example.com", subject: "", text: "", html: "", unsubscribe: null }),
  ).toMatchObject({ status: null, said: "The service stopped." });
});
