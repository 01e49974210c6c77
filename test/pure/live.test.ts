/** Readers of the live view that are slower than the messages. */
import { expect, test } from "bun:test";
import { type LiveEnd, type LiveItem, type LiveSkipped, liveLimits } from "../../contract/live.ts";
import { liveStream } from "../../server/features/live-view.ts";
import { LiveView } from "../../server/intake/live.ts";
import type { LiveMessage, LiveWatcher } from "../../server/intake/live-channel.ts";
import { roleRights } from "../../server/members/rights.ts";
import { until } from "../until.ts";

const organization = 1;
const maxWaitingBytes = 512 * 1024;

/** Sends identifies whose payloads are as large as can be shown, and twice that as JSON in JSON. */
async function send(live: LiveView, requests: number, user = "ada"): Promise<void> {
  const body = { userId: user, text: '"'.repeat(liveLimits.payloadCharacters) };
  for (let number = 0; number < requests; number += 1) {
    const request = live.request("identify", "/identify");
    request.from({ organization, token: { name: "Shop", lastFour: "abcd" }, idempotencyKey: null });
    request.body(new TextEncoder().encode(JSON.stringify(body)));
    request.item(body, "stored");
    await request.answered(Response.json({ success: true }, { status: 201 }));
  }
}

/** The messages of a stream until `isEnough`. */
async function read(stream: ReadableStream<Uint8Array>, isEnough: (messages: Messages) => boolean) {
  const messages: Messages = { bytes: 0, items: [], skipped: 0, end: undefined };
  const reader = stream.getReader();
  let text = "";
  while (!isEnough(messages)) {
    const { value, done } = await reader.read();
    if (done) break;
    messages.bytes += value.byteLength;
    text += new TextDecoder().decode(value);
    const parts = text.split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const [, event, data = ""] = /^event: (\w+)\ndata: (.*)$/s.exec(part) ?? [];
      if (event === "item") messages.items.push(JSON.parse(data));
      if (event === "skipped") messages.skipped += (JSON.parse(data) as LiveSkipped).accepted;
      if (event === "end") messages.end = JSON.parse(data);
    }
  }
  reader.releaseLock();
  return messages;
}

interface Messages {
  bytes: number;
  readonly items: LiveItem[];
  skipped: number;
  end: LiveEnd | undefined;
}

/** A reader with all rights. */
function watching(live: LiveView, person: number) {
  const rights = roleRights.owner;
  return { live, organization, person, rights, rightsNow: async () => rights };
}

test("items that a slow reader has no room for are counted, and not kept", async () => {
  const live = new LiveView(Date.now);
  const stream = liveStream({ ...watching(live, 1), after: "" });
  await send(live, 200);
  const { items, skipped, bytes } = await read(stream, (so) => so.items.length + so.skipped >= 200);
  expect(items.length + skipped).toBe(200);
  expect(items.length).toBeLessThan(liveLimits.itemsPerSecond);
  expect(bytes).toBeLessThan(maxWaitingBytes + 1_000);
  await stream.cancel();
  live.close();
});

test("watchers who take nothing are cut off and make room, and those who read stay", async () => {
  const live = new LiveView(Date.now);
  const open = (person: number) => liveStream({ ...watching(live, person), after: "", patienceMs: 500 });
  const deaf = Array.from({ length: liveLimits.watchersOfOrganization - 1 }, (_, index) => open(index));
  const reading = read(open(99), ({ end }) => end !== undefined);
  expect(live.hasRoom(organization, 100)).toBe(false);
  await send(live, liveLimits.itemsPerSecond);
  await until("watchers who take nothing are cut off", () => live.hasRoom(organization, 100));
  for (const stream of deaf) {
    expect((await read(stream, () => false)).end?.message).toBe("You took nothing for too long.");
  }
  live.close();
  const { items, end } = await reading;
  expect([items.length, end?.message]).toEqual([liveLimits.itemsPerSecond, "The service is stopping."]);
});

test("an erased user's items that another node received before the erasure are not shown here afterwards", async () => {
  let nowMs = 0;
  const [here, there] = [new LiveView(() => nowMs), new LiveView(() => nowMs)];
  const reading = read(liveStream({ ...watching(here, 1), after: "" }), ({ end }) => end !== undefined);
  const late: LiveMessage[] = [];
  const relay: LiveWatcher = {
    person: 0,
    isRelay: true,
    tick: () => undefined,
    end: () => undefined,
    take: (message) => late.push(message),
  };
  there.watch(organization, relay, "");
  await send(there, 1, "erased");
  await send(there, 1, "ada");
  here.forget(organization, "erased");
  for (const message of late) here.show(organization, message);
  // From then on the id belongs to a new user.
  nowMs = 60_000;
  for (const message of late) here.show(organization, message);
  here.close();
  there.close();
  expect((await reading).items.map(({ userId }) => userId)).toEqual(["ada", "erased", "ada"]);
});
