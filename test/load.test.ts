/** The load generator. Benchmarks depend on its figures. */
import { expect, test } from "bun:test";
import { type Comparison, formatTable, median } from "../bench/load/alternate.ts";
import { Histogram } from "../bench/load/histogram.ts";
import { type Load, type LoadClock, runLoad } from "../bench/load/load.ts";
import { parseResponse } from "../bench/load/response.ts";
import { turns } from "./until.ts";

const quick = { path: "/track", seconds: 0.4, connections: 8 } as const;

/** A clock on which a millisecond passes with each request that arrives, however long that takes. */
class Arrivals implements LoadClock {
  arrived = 0;
  readonly nowMs = () => this.arrived;
  readonly sleep = () => turns(1);
}

/** A clock on which time passes while the load sleeps. All answers but the held ones must have arrived
 * before. */
class Sleeps implements LoadClock {
  #nowMs = 0;
  #sent = 0;
  #answered = 0;
  #held: { readonly untilMs: number; readonly answer: () => void }[] = [];
  readonly nowMs = () => this.#nowMs;

  /** The parts that a load calls for its requests. */
  readonly parts = {
    clock: this,
    request: (n: number) => {
      this.#sent += 1;
      return `{"n":${n}}`;
    },
    answered: () => {
      this.#answered += 1;
    },
  };

  /** Answers at this time, or at once when it is over. */
  at(untilMs: number, answer: () => void): void {
    if (untilMs <= this.#nowMs) answer();
    else this.#held.push({ untilMs, answer });
  }

  readonly sleep = async (ms: number) => {
    this.#nowMs += ms;
    const due = this.#held.filter(({ untilMs }) => untilMs <= this.#nowMs);
    this.#held = this.#held.filter(({ untilMs }) => untilMs > this.#nowMs);
    for (const { answer } of due) answer();
    do await turns(1);
    while (this.#sent - this.#answered > this.#held.length);
  };
}

/** Runs a load against a server of raw answers, given for each arriving request. */
async function against(
  answer: (request: string, write: (piece: string) => void, close: () => void) => void,
  load: Partial<Load>,
) {
  const clock = new Arrivals();
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket, chunk) => {
        clock.arrived += 1;
        answer(
          chunk.toString(),
          (piece) => void socket.write(piece),
          () => socket.end(),
        );
      },
    },
  });
  try {
    return await runLoad({ ...quick, clock, port: server.port, request: (n) => `{"n":${n}}`, ...load });
  } finally {
    server.stop(true);
  }
}

const created = 'HTTP/1.1 201 Created\r\nContent-Length: 16\r\n\r\n{"success":true}';

test("percentiles agree with a sorted list within one percent", () => {
  const histogram = new Histogram();
  const values = Array.from({ length: 20_000 }, (_, index) => Math.round(1.0006 ** index));
  for (const value of values) histogram.record(value);
  for (const share of [0.01, 0.5, 0.9, 0.99, 1]) {
    const exactMs = (values[Math.ceil(share * values.length) - 1] ?? 0) / 1000;
    expect(Math.abs(histogram.percentileMs(share) / exactMs - 1)).toBeLessThan(0.01);
  }
  expect(histogram.maxMs).toBe((values.at(-1) ?? 0) / 1000);
  expect(histogram.count).toBe(20_000);
});

test("an empty histogram has percentiles of 0", () => {
  expect(new Histogram().percentileMs(0.99)).toBe(0);
});

test("every request is whole HTTP with its own body, and every answer is reported once", async () => {
  const sent = new Set<string>();
  const answered: number[] = [];
  const result = await against(
    (request, write) => {
      const match =
        /^POST \/track HTTP\/1\.1\r\n.*Authorization: Basic rk-a\r\n.*Content-Length: (\d+)\r\n\r\n(.*)$/s.exec(
          request,
        );
      expect(Buffer.byteLength(match?.[2] ?? "")).toBe(Number(match?.[1] ?? -1));
      sent.add(match?.[2] ?? "");
      write(created);
    },
    {
      headers: { Authorization: "Basic rk-a" },
      request: (n) => (n % 2 === 0 ? `{"näme":${n}}` : Buffer.from(`{"n":${n}}`)),
      answered: (n) => answered.push(n),
    },
  );
  expect(result.requests).toBeGreaterThan(100);
  expect(sent.size).toBe(answered.length);
  expect(new Set(answered).size).toBe(answered.length);
  expect(result.statuses).toEqual({ 201: result.requests });
  expect(result.lost).toBe(0);
});

test("an answer that arrives in pieces is put together", async () => {
  const result = await against(
    (_, write) => {
      const pieces = created.match(/[\s\S]{1,9}/g) ?? [];
      // Each only when the one before was sent.
      for (const [index, piece] of pieces.entries()) setTimeout(() => write(piece), index);
    },
    { connections: 4 },
  );
  expect(result.statuses).toEqual({ 201: result.requests });
  expect(result.requests).toBeGreaterThan(4);
});

test("answers are counted by their status", async () => {
  const result = await against((request, write) => {
    const isRefused = /"n":\d*0}/.test(request);
    write(isRefused ? "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 2\r\n\r\n{}" : created);
  }, {});
  const share = (result.statuses[429] ?? 0) / result.requests;
  expect(Math.abs(share - 0.1)).toBeLessThan(0.02);
});

test("a connection that ends costs its request and is made again", async () => {
  const lost: number[] = [];
  let arrived = 0;
  const result = await against(
    (_, write, close) => {
      arrived += 1;
      if (arrived % 50 === 0) close();
      else write(created);
    },
    { lost: (n) => lost.push(n) },
  );
  expect(result.lost).toBe(Math.floor(arrived / 50));
  expect(new Set(lost).size).toBe(result.lost);
  expect(result.requests).toBeGreaterThan(100);
});

test("a pace is kept, and a stall is charged to every request that was due in it", async () => {
  const clock = new Sleeps();
  let stallUntilMs = 0;
  let arrived = 0;
  const result = await against(
    (_, write) => {
      arrived += 1;
      if (arrived === 100) stallUntilMs = clock.nowMs() + 300;
      clock.at(stallUntilMs, () => write(created));
    },
    { ...clock.parts, requestsPerSecond: 500, seconds: 1, connections: 2 },
  );
  expect(result.requests).toBeWithin(498, 501);
  // 150 of 500 requests fell due within the stall, and the others waited for nothing. Two connections met the
  // stall.
  expect(result.p50Ms).toBeLessThan(2);
  expect(result.maxMs).toBeWithin(300, 303);
  expect(Math.abs(result.p90Ms - 200)).toBeLessThan(5);
});

test("warm-up is driven but not measured", async () => {
  const clock = new Sleeps();
  let arrived = 0;
  const result = await against(
    (_, write) => {
      arrived += 1;
      write(created);
    },
    { ...clock.parts, requestsPerSecond: 200, warmUpSeconds: 0.5, seconds: 0.5 },
  );
  expect(arrived).toBeWithin(199, 202);
  expect(result.requests).toBeWithin(99, 102);
});

test("bytes that answer no request end the run with an error", async () => {
  await expect(against((_, write) => write("SSH-2.0-OpenSSH_9.9\r\n\r\n"), {})).rejects.toThrow("no answer");
  await expect(against((_, write) => write(created + created), {})).rejects.toThrow("more than the answer");
  const refused = runLoad({ ...quick, port: 1, request: () => "{}" });
  await expect(refused).rejects.toThrow();
});

test("an answer whose length is not said is refused, one that has none may leave it out", () => {
  expect(() => parseResponse(Buffer.from("HTTP/1.1 200 OK\r\n\r\n"))).toThrow("Content-Length");
  expect(parseResponse(Buffer.from("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"))).toEqual({
    status: 204,
    bytes: 46,
    closes: true,
  });
});

test("a comparison is printed with its ratio to the first variant", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  const row = { p50Ms: 1, p99Ms: 2, lowestRatio: 0.4, highestRatio: 0.6, lost: 1 };
  const comparison: Comparison = {
    ...row,
    name: "b",
    requestsPerSecond: 12_345,
    ratio: 0.5,
    statuses: { 201: 7 },
  };
  expect(formatTable([comparison])).toContain(
    "b            12,345   0.50  0.40  0.60    1.00    2.00  7 × 201, 1 lost",
  );
});
