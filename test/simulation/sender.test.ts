/** The sender of a demonstration, against servers that refuse, fail and go away. */
import { expect, test } from "bun:test";
import { Sender } from "../../cli/demo-sender.ts";
import { until } from "../until.ts";

interface Batch {
  readonly batch: readonly { readonly key: number; readonly n: number }[];
}

/** A server that answers batches by the number of the request, from 0. */
function serverThat(answer: (request: number, batch: Batch) => Response | Promise<Response>) {
  const requestedMs: number[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      requestedMs.push(performance.now());
      expect(request.headers.get("authorization")).toBe("Basic rk-secret");
      return answer(requestedMs.length - 1, (await request.json()) as Batch);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    requestedMs,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

const taken = ({ batch }: Batch) =>
  Response.json({ success: true, accepted: batch.length, duplicates: 0, rejected: [] }, { status: 201 });

const refused = (statusCode: number, headers: Record<string, string> = {}) =>
  Response.json({ message: "not now", statusCode, name: "x" }, { status: statusCode, headers });

const senderTo = (url: string, signal = new AbortController().signal) =>
  new Sender({ url, token: "rk-secret", batchItems: 5, signal });

test("items of a key arrive in their order, all of them, several batches at once", async () => {
  const seen = new Map<number, number[]>();
  const second = Promise.withResolvers<void>();
  using server = serverThat(async (request, batch) => {
    // The first is answered when another one has come: one at a time would wait for ever.
    if (request === 0) await second.promise;
    if (request === 1) second.resolve();
    // Later requests overtake earlier ones.
    await Bun.sleep(request % 3 === 0 ? 8 : 1);
    for (const { key, n } of batch.batch) seen.set(key, [...(seen.get(key) ?? []), n]);
    return taken(batch);
  });
  const sender = senderTo(server.url);
  for (let n = 0; n < 203; n += 1) await sender.add(n % 7, JSON.stringify({ key: n % 7, n }));
  await sender.finish();
  expect([...seen.keys()].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  for (const [key, numbers] of seen) {
    expect(numbers).toEqual(Array.from({ length: 29 }, (_, index) => key + 7 * index));
  }
  expect(sender.totals).toEqual({ accepted: 203, duplicates: 0 });
});

test("429 is waited out for as long as Retry-After says, 500 is tried again", async () => {
  using server = serverThat((request, batch) => {
    if (request === 0) return refused(429, { "Retry-After": "2" });
    return request === 1 ? refused(500) : taken(batch);
  });
  const sender = senderTo(server.url);
  await sender.add(0, '{"key":0,"n":0}');
  await sender.finish();
  expect(sender.totals.accepted).toBe(1);
  const [first = 0, second = 0] = server.requestedMs;
  expect(second - first).toBeGreaterThanOrEqual(1_990);
  expect(server.requestedMs).toHaveLength(3);
});

test("a refused token and a rejected item end the work with the server's words", async () => {
  using closed = serverThat(() => refused(401));
  const sender = senderTo(closed.url);
  await sender.add(0, "{}");
  await expect(sender.finish()).rejects.toThrow("not now");

  using picky = serverThat(() =>
    Response.json(
      { accepted: 0, duplicates: 0, rejected: [{ index: 0, message: "email is missing" }] },
      { status: 201 },
    ),
  );
  const another = senderTo(picky.url);
  await another.add(0, "{}");
  await expect(another.finish()).rejects.toThrow("email is missing");
});

test("a sender that is interrupted while waiting stops at once, and gives the reason", async () => {
  using server = serverThat(() => refused(429, { "Retry-After": "60" }));
  const interruption = new AbortController();
  const sender = senderTo(server.url, interruption.signal);
  await sender.add(0, "{}");
  const finished = sender.finish();
  await until("the sender waits", () => sender.waiting);
  interruption.abort(new Error("stopped"));
  await expect(finished).rejects.toThrow("stopped");
});
