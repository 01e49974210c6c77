/** A rolling restart behind a load balancer that asks for readiness: no request fails. */
import { expect, test } from "bun:test";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { nodeKey } from "../../server/ledger/postgres/nodes.ts";
import { nodePeer } from "../../server/process/control.ts";
import { freePort } from "../deploy/running.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";
import { type AnalysisNode, TestCluster } from "./support.ts";

const cluster = await TestCluster.start();
const ports = [await freePort(), await freePort()];
const nodes: Server[] = await Promise.all(ports.map((port) => start(port)));
const analysis = [await cluster.analysis(), await cluster.analysis()];

function start(port: number): Promise<Server> {
  return cluster.node("intake", { PORT: String(port) });
}

/** Whether an analysis node answers questions. A rolling restart has to know it before it restarts the next
 * one. */
async function answers({ url }: AnalysisNode): Promise<boolean> {
  const sql = openPool(cluster.env.DATABASE_URL ?? "", { connections: 1 });
  const key = await nodeKey(sql);
  await sql.end();
  const answer = await nodePeer(url, key)
    .fetch("/status")
    .catch(() => undefined);
  return (await answer?.text())?.includes('"state":"ready"') ?? false;
}

/** A node says for so long that it will stop before it does (server/start/main.ts). */
const noticeMs = 2_500;
/** As balancers look after their nodes, and as a steady sender sends. */
const [betweenChecksMs, betweenRequestsMs] = [250, 20];

/** A load balancer. It checks four times a second which nodes are ready, and sends to those in turn. A
 * request is sent again if it failed because the check came later than the node's notice. That delay is the
 * machine's fault. */
class Balancer {
  /** When those that are ready were asked for it. */
  readonly #ready = new Map<string, number>();
  #turn = 0;
  #isOver = false;
  readonly #asking: Promise<unknown>;

  constructor() {
    this.#asking = Promise.all(ports.map((port) => this.#ask(`http://127.0.0.1:${port}`)));
  }

  get ready(): number {
    return this.#ready.size;
  }

  post(path: string, token: string, body: object): Promise<Response> {
    return this.#send(path, {
      method: "POST",
      headers: { Authorization: `Basic ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  get(path: string, key: string): Promise<Response> {
    return this.#send(path, { headers: { Authorization: `Bearer ${key}` } });
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#asking;
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    while (true) {
      await until("a node is ready", () => this.#ready.size);
      const urls = [...this.#ready.keys()].toSorted();
      this.#turn += 1;
      const url = urls[this.#turn % urls.length];
      const lookedAtMs = this.#ready.get(url ?? "");
      if (url === undefined || lookedAtMs === undefined) continue;
      try {
        return await fetch(url + path, { ...init, keepalive: false });
      } catch (error) {
        if (performance.now() - lookedAtMs < noticeMs) throw error;
      }
    }
  }

  async #ask(url: string): Promise<void> {
    while (!this.#isOver) {
      const askedAtMs = performance.now();
      const isReady = await fetch(`${url}/readyz`).then(
        async (answer) => (await answer.text()).includes('"writes":"open"'),
        () => false,
      );
      if (isReady) this.#ready.set(url, askedAtMs);
      else this.#ready.delete(url);
      await Bun.sleep(betweenChecksMs);
    }
  }
}

test("every node is restarted, one after another, and no request fails", async () => {
  const { token, key } = await cluster.organization("rolling");
  const balancer = new Balancer();
  await until(
    "both are ready",
    () => balancer.ready,
    (seen) => seen === 2,
  );
  await balancer.post("/identify", token, { userId: "u1", email: "a@example.com" });
  await until("figures are there", async () => (await balancer.get("/api/users", key)).ok);
  const failures: string[] = [];
  let stored = 0;
  let isOver = false;
  const send = async (sender: number) => {
    for (let n = 0; !isOver; n += 1) {
      const isRead = n % 10 === 9;
      const sent = isRead
        ? balancer.get("/api/users", key)
        : balancer.post("/track", token, { userId: "u1", event: "rolled", messageId: `${sender}-${n}` });
      const answer = await sent.catch((error: unknown) => new Response(String(error), { status: 599 }));
      const text = await answer.text();
      if (!answer.ok) failures.push(`${isRead ? "read" : "write"} ${answer.status} ${text}`);
      else if (!isRead) stored += 1;
      await Bun.sleep(betweenRequestsMs);
    }
  };
  const sending = Promise.all([send(0), send(1), send(2)]);
  const moreIsTaken = (before: number) =>
    until(
      "others take more",
      () => stored,
      (seen) => seen >= before + 10,
    );
  for (const [n, port] of ports.entries()) {
    expect(await nodes[n]?.kill("SIGTERM")).toBe(0);
    await moreIsTaken(stored);
    nodes[n] = await start(port);
    await until(
      "it is ready again",
      () => balancer.ready,
      (seen) => seen === 2,
    );
  }
  for (const [n, node] of analysis.entries()) {
    node.process.kill("SIGTERM");
    expect(await node.process.exited).toBe(0);
    await moreIsTaken(stored);
    const restarted = await cluster.analysis();
    analysis[n] = restarted;
    await until("it answers", () => answers(restarted));
  }
  isOver = true;
  await sending;
  await balancer.stop();
  expect(failures).toEqual([]);
  const exported = await nodes[0]?.exported("events", "rolling");
  expect(exported).toHaveLength(stored);
});
