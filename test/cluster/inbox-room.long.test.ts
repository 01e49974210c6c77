/** The rows that wait for the warehouse. /metrics counts them, and past INBOX_MAX_BYTES requests are refused
 * until there is room. */
import { expect, test } from "bun:test";
import { rekindleWith, Server } from "../server.ts";
import { until } from "../until.ts";
import { TestCluster } from "./support.ts";

const cluster = await TestCluster.start();
const maxBytes = 1024 ** 2;
const env = { INBOX_MAX_BYTES: String(maxBytes) };
/** Of an event with its property, in the inbox. */
const bytesOfEvent = 1_000;

/** A gauge on the node's page. */
async function gaugeOf(node: Server, name: string): Promise<number> {
  const page = await (await fetch(`${node.url}/metrics`)).text();
  const [, value] = new RegExp(`^${name} (.*)$`, "m").exec(page) ?? [];
  return Number(value);
}

async function fillTheInbox(node: Server, token: string): Promise<void> {
  expect(await gaugeOf(node, "rekindle_inbox_bytes")).toBe(0);
  const identified = await node.post("/identify", token, { userId: "u1", email: "a@example.com" });
  expect(identified.status).toBe(201);
  const properties = { text: "x".repeat(bytesOfEvent) };
  const full = {
    batch: Array.from({ length: 200 }, () => ({ type: "track", userId: "u1", event: "e", properties })),
  };
  let taken = 0;
  await until("there is no room", async () => {
    const answer = await node.post("/batch", token, full);
    if (answer.status < 300) taken += 200;
    // The sender's own limit is another matter.
    return answer.status === 429 && (await answer.text()).includes("wait to be processed");
  });
  expect(taken * bytesOfEvent).toBeGreaterThan(maxBytes / 2);
  const refused = await node.post("/track", token, { userId: "u1", event: "e" });
  expect([refused.status, await refused.text()]).toEqual([
    429,
    expect.stringContaining("wait to be processed"),
  ]);
  await until(
    "the page says so",
    () => gaugeOf(node, "rekindle_writes_open"),
    (seen) => seen === 0,
  );
  // With the user, the account and their versions.
  await until(
    "all are counted",
    () => gaugeOf(node, "rekindle_inbox_rows"),
    (seen) => seen > taken,
  );
  expect(await gaugeOf(node, "rekindle_inbox_bytes")).toBeGreaterThan(taken * bytesOfEvent);
  const lagSeconds = await gaugeOf(node, "rekindle_inbox_lag_seconds");
  await until(
    "time goes by",
    () => gaugeOf(node, "rekindle_inbox_lag_seconds"),
    (seen) => seen > lagSeconds,
  );
}

test("on one machine while nothing is loaded", async () => {
  const node = await Server.start({ role: "intake", env });
  try {
    await fillTheInbox(node, await node.organization("full"));
  } finally {
    await node.stop();
  }
});

test("in a cluster while no node loads, until one does", async () => {
  const node = await cluster.node("intake", env);
  const { token } = await cluster.organization("full");
  await fillTheInbox(node, token);
  await cluster.analysis();
  await until(
    "there is room",
    async () => (await node.post("/track", token, { userId: "u1", event: "e" })).status === 201,
  );
  // The track above may be counted between two pages.
  await until(
    "no row waits",
    () => gaugeOf(node, "rekindle_inbox_rows"),
    (seen) => seen === 0,
  );
  await until(
    "no byte waits",
    () => gaugeOf(node, "rekindle_inbox_bytes"),
    (seen) => seen === 0,
  );
  await until(
    "nothing is late",
    () => gaugeOf(node, "rekindle_inbox_lag_seconds"),
    (seen) => seen < 2,
  );
});

test("a value that is no number of bytes stops the start", async () => {
  const { exitCode, stderr } = await rekindleWith(cluster.folder(), { INBOX_MAX_BYTES: "8G" }, "doctor");
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain('INBOX_MAX_BYTES is "8G": set it to a whole number');
});
