/** A rolling restart behind a load balancer that asks for readiness: no request fails. */
import { expect, test } from "bun:test";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { nodeKey } from "../../server/ledger/postgres/nodes.ts";
import { nodePeer } from "../../server/process/control.ts";
import { freePort } from "../deploy/running.ts";
import type { Server } from "../server.ts";
import { type AnalysisNode, TestCluster, until } from "./support.ts";

const cluster = await TestCluster.start();
const ports = [await freePort(), await freePort()];
const nodes: Server[] = await Promise.all(ports.map((port) => start(port)));
const analysis = [await cluster.analysis(), await cluster.analysis()];

function start(port: number): Promise<Server> {
  return cluster.node("intake", { PORT: String(port) });
}

/** Whether an analysis node answers questions, as whoever restarts the next one has to know. */
async function answers({ url }: AnalysisNode): Promise<boolean> {
  const sql = openPool(cluster.env.DATABASE_URL ?? "", { connections: 1 });
  const key = await nodeKey(sql);
  await sql.end();
  const answer = await nodePeer(url, key)
    .fetch("/status")
    .catch(() => undefined);
  return (await answer?.text())?.includes('"state":"ready"') ?? false;
}

/** What a load balancer does: it asks four times a second who is ready, and sends to those in turn. */
class Balancer {
  readonly #ready = new Set<string>();
  #turn = 0;
  #isOver = false;
  readonly #asking: Promise<void>;

  constructor() {
    this.#asking = this.#ask();
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

  #send(path: string, init: RequestInit): Promise<Response> {
    const urls = [...this.#ready].toSorted();
    this.#turn += 1;
    const url = urls[this.#turn % urls.length];
    if (url === undefined) throw new Error("no node is ready");
    return fetch(url + path, { ...init, keepalive: false });
  }

  async #ask(): Promise<void> {
    while (!this.#isOver) {
      for (const port of ports) {
        const url = `http://127.0.0.1:${port}`;
        const isReady = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
          async (answer) => (await answer.text()).includes('"writes":"open"'),
          () => false,
        );
        if (isReady) this.#ready.add(url);
        else this.#ready.delete(url);
      }
      await Bun.sleep(250);
    }
  }
}

test("every node is restarted, one after another, and no request fails", async () => {
  const { token, key } = await cluster.organization("rolling");
  const balancer = new Balancer();
  await until("both are ready", () => balancer.ready === 2);
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
      await Bun.sleep(20);
    }
  };
  const sending = Promise.all([send(0), send(1), send(2)]);
  for (const [n, port] of ports.entries()) {
    expect(await nodes[n]?.kill("SIGTERM")).toBe(0);
    nodes[n] = await start(port);
    await until("it is ready again", () => balancer.ready === 2);
  }
  for (const [n, node] of analysis.entries()) {
    node.process.kill("SIGTERM");
    expect(await node.process.exited).toBe(0);
    const restarted = await cluster.analysis();
    analysis[n] = restarted;
    await until("it answers", () => answers(restarted));
  }
  isOver = true;
  await sending;
  await balancer.stop();
  expect(failures).toEqual([]);
  expect(stored).toBeGreaterThan(50);
  const exported = await nodes[0]?.exported("events", "rolling");
  expect(exported).toHaveLength(stored);
});
