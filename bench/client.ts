/**
 * Durable events a second from one process: each in a request of its own, one after the other and 64 at once,
 * and through the client, in alternating rounds. Also the cost of a call for the application.
 *
 *   cli/with-bun bench/client.ts [rounds] [seconds a round]
 */
import { Rekindle } from "../client/rekindle.ts";
import { Server } from "../test/server.ts";
import { median } from "./load/alternate.ts";
import { eventWithId } from "./load/events.ts";

const rounds = Number(process.argv[2] ?? 5);
const seconds = Number(process.argv[3] ?? 2);
const concurrency = 64;
const user = { userId: "ada", email: "ada@example.com" };
let next = 0;
const event = () => ({ ...JSON.parse(eventWithId(next++)), userId: user.userId });

async function single(server: Server, token: string, atOnce: number): Promise<number> {
  const endMs = performance.now() + seconds * 1_000;
  let stored = 0;
  const send = async () => {
    while (performance.now() < endMs) {
      const response = await server.post("/track", token, event());
      await response.arrayBuffer();
      if (response.status === 201) stored += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, send));
  return stored / seconds;
}

async function throughClient(server: Server, token: string): Promise<number> {
  const onError = ({ message }: { message: string }) => console.error(message);
  const client = new Rekindle({ token, host: server.url, onError });
  const beganMs = performance.now();
  let sent = 0;
  while (performance.now() - beganMs < seconds * 1_000) {
    // Half a queue at a time, so that nothing is dropped.
    for (let n = 0; n < 5_000; n += 1, sent += 1) client.track(event());
    await client.flush();
  }
  await client.close();
  return (sent * 1_000) / (performance.now() - beganMs);
}

function microsecondsOfACall(): number {
  const unbounded = { maxQueueItems: 1e6, maxQueueBytes: 1e9 };
  const client = new Rekindle({ token: "", host: "", ...unbounded, onDrop: () => {} });
  const events = Array.from({ length: 20_000 }, event);
  const beganMs = performance.now();
  for (const one of events) client.track(one);
  const tookMs = performance.now() - beganMs;
  void client.close(0);
  return (tookMs * 1_000) / events.length;
}

const server = await Server.start();
try {
  const token = await server.organization("bench");
  const limits = ["--rate-limit", "1000000", "--item-rate-limit", "1000000"];
  await server.command("organization", "set", "bench", ...limits);
  await server.post("/identify", token, user);
  const variants = [
    () => single(server, token, 1),
    () => single(server, token, concurrency),
    () => throughClient(server, token),
  ];
  const results: number[][] = variants.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, measure] of variants.entries()) results[index]?.push(await measure());
  }
  const [one = 0, many = 0, client = 0] = results.map(median);
  const line = (name: string, perSecond: number) =>
    console.log(
      `${name.padEnd(30)} ${perSecond.toFixed(0).padStart(8)} events/s  ${(perSecond / one).toFixed(1)} ×`,
    );
  line("a request each, in turn", one);
  line(`a request each, ${concurrency} at once`, many);
  line("through the client", client);
  console.log(`a call takes ${median(Array.from({ length: 5 }, microsecondsOfACall)).toFixed(1)} µs`);
} finally {
  await server.stop();
}
