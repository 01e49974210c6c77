/**
 * A load generator: POSTs over raw sockets with keep-alive, one request in flight on each connection. It is
 * cheap, so that the figures are the server's: 13 µs of CPU a request, 7 of them the kernel's. It reaches
 * 75,000 a second against a server that answers without reading, on the same two cores.
 *
 * Without a pace every connection sends its next request after the last answer. With a pace, requests are due
 * at fixed times and latency counts from then: a stalled server is charged for delayed requests, too, and not
 * only for those in flight.
 */
import type { Socket } from "bun";
import { Histogram } from "./histogram.ts";
import { parseResponse } from "./response.ts";

export interface Load {
  readonly port: number;
  readonly host?: string;
  /** `/track` */
  readonly path: string;
  /** Header lines besides Host, Content-Type and Content-Length. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of the n-th request, from 0; called once for each n. */
  request(n: number): string | Uint8Array;
  /** Called for every request that was answered, warm-up included; `status` as in the answer. */
  answered?(n: number, status: number): void;
  /** Called for every request whose connection ended before the answer: it is unknown whether it was
   * processed. */
  lost?(n: number): void;
  /** 64 unless given. */
  readonly connections?: number;
  /** Requests a second; as many as are answered unless given. */
  readonly requestsPerSecond?: number;
  /** Time that is driven but not counted. */
  readonly warmUpSeconds?: number;
  readonly seconds: number;
  /** The machine's unless given. */
  readonly clock?: LoadClock;
}

/** The time by which requests fall due and are measured. */
export interface LoadClock {
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

const machineClock: LoadClock = { nowMs: () => performance.now(), sleep: (ms) => Bun.sleep(ms) };

export interface LoadResult {
  /** Answers within the measured time. */
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Measured answers by status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Requests, warm-up included, whose connection ended before the answer. */
  readonly lost: number;
}

interface Connection {
  socket: Socket<Connection> | undefined;
  /** The request under way; -1 when there is none. */
  request: number;
  startedMs: number;
  /** The received part of an incomplete answer. */
  partial: Buffer | undefined;
  /** Bytes that the socket did not accept yet. */
  unsent: Uint8Array | undefined;
}

const reconnectDelayMs = 20;
const drainTimeoutMs = 10_000;

/** Drives the load and measures it. Requests under way at the end are waited for, but not counted.
 * @throws when a first connection is refused or an answer is no HTTP. */
export async function runLoad(load: Load): Promise<LoadResult> {
  return new Generator(load).run();
}

class Generator {
  private readonly load: Load;
  private readonly clock: LoadClock;
  private readonly head: string;
  private readonly histogram = new Histogram();
  private readonly statuses: Record<number, number> = {};
  private readonly idle: Connection[] = [];
  private next = 0;
  private inFlight = 0;
  private lost = 0;
  private measureFromMs = 0;
  private endMs = 0;
  private startMs = 0;
  private isClosing = false;
  private fail: (error: Error) => void = () => {};

  constructor(load: Load) {
    this.load = load;
    this.clock = load.clock ?? machineClock;
    const headers = { Host: `${load.host ?? "127.0.0.1"}:${load.port}`, ...load.headers };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.head = `POST ${load.path} HTTP/1.1\r\n${lines.join("")}Content-Type: application/json\r\nContent-Length: `;
  }

  async run(): Promise<LoadResult> {
    const failed = new Promise<never>((_, reject) => {
      this.fail = reject;
    });
    failed.catch(() => {});
    const all = Array.from({ length: this.load.connections ?? 64 }, (): Connection => {
      return { socket: undefined, request: -1, startedMs: 0, partial: undefined, unsent: undefined };
    });
    try {
      await Promise.all(all.map((connection) => this.connect(connection)));
      this.startMs = this.clock.nowMs();
      this.measureFromMs = this.startMs + (this.load.warmUpSeconds ?? 0) * 1000;
      this.endMs = this.measureFromMs + this.load.seconds * 1000;
      for (const connection of all) this.proceed(connection);
      await Promise.race([this.drive(), failed]);
    } finally {
      this.isClosing = true;
      for (const { socket } of all) socket?.terminate();
    }
    return this.result();
  }

  /** Sends requests when they are due, until the time is over and every answer has arrived. */
  private async drive(): Promise<void> {
    const isPaced = this.load.requestsPerSecond !== undefined;
    while (this.clock.nowMs() < this.endMs) {
      await this.clock.sleep(isPaced ? 1 : 20);
      while (isPaced && this.idle.length > 0 && this.isDue()) {
        const connection = this.idle.pop();
        if (connection !== undefined) this.proceed(connection);
      }
    }
    const giveUpMs = this.clock.nowMs() + drainTimeoutMs;
    while (this.inFlight > 0 && this.clock.nowMs() < giveUpMs) await this.clock.sleep(1);
    if (this.inFlight > 0)
      throw new Error(`${this.inFlight} requests were not answered within 10 s of the end`);
  }

  private dueMs(n: number): number {
    return this.startMs + (n * 1000) / (this.load.requestsPerSecond ?? Number.POSITIVE_INFINITY);
  }

  private isDue(): boolean {
    return this.dueMs(this.next) <= this.clock.nowMs();
  }

  /** Sends the next request on a free connection, or keeps it until one is due. */
  private proceed(connection: Connection): void {
    const nowMs = this.clock.nowMs();
    if (nowMs >= this.endMs || connection.socket === undefined) return;
    const isPaced = this.load.requestsPerSecond !== undefined;
    if (isPaced && this.dueMs(this.next) > nowMs) {
      this.idle.push(connection);
      return;
    }
    const n = this.next++;
    connection.request = n;
    connection.startedMs = isPaced ? this.dueMs(n) : nowMs;
    this.inFlight += 1;
    this.write(connection, this.bytesOf(this.load.request(n)));
  }

  private bytesOf(body: string | Uint8Array): string | Uint8Array {
    if (typeof body === "string") return `${this.head}${Buffer.byteLength(body)}\r\n\r\n${body}`;
    return Buffer.concat([Buffer.from(`${this.head}${body.byteLength}\r\n\r\n`), body]);
  }

  private write(connection: Connection, data: string | Uint8Array): void {
    const written = connection.socket?.write(data) ?? 0;
    const length = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    connection.unsent = written < length ? Buffer.from(data).subarray(Math.max(0, written)) : undefined;
  }

  private received(connection: Connection, chunk: Buffer): void {
    const bytes = connection.partial === undefined ? chunk : Buffer.concat([connection.partial, chunk]);
    const response = parseResponse(bytes);
    if (response === "incomplete") {
      // A copy: Bun uses the chunk's memory again.
      connection.partial = Buffer.from(bytes);
      return;
    }
    connection.partial = undefined;
    if (response.bytes < bytes.length || connection.request < 0) {
      throw new Error("the server sent more than the answer to one request");
    }
    this.count(connection, response.status);
    if (response.closes) connection.socket?.end();
    else this.proceed(connection);
  }

  private count(connection: Connection, status: number): void {
    const nowMs = this.clock.nowMs();
    if (nowMs >= this.measureFromMs && nowMs < this.endMs) {
      this.histogram.record((nowMs - connection.startedMs) * 1000);
      this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    }
    this.load.answered?.(connection.request, status);
    connection.request = -1;
    this.inFlight -= 1;
  }

  /** A connection that the server ends costs the request on it, and is made again. */
  private closed(connection: Connection): void {
    connection.socket = undefined;
    connection.partial = undefined;
    connection.unsent = undefined;
    const waiting = this.idle.indexOf(connection);
    if (waiting >= 0) this.idle.splice(waiting, 1);
    if (connection.request >= 0) {
      this.lost += 1;
      this.inFlight -= 1;
      this.load.lost?.(connection.request);
      connection.request = -1;
    }
    void this.reconnect(connection);
  }

  private async reconnect(connection: Connection): Promise<void> {
    while (!this.isClosing && this.clock.nowMs() < this.endMs) {
      try {
        await this.connect(connection);
        this.proceed(connection);
        return;
      } catch {
        await this.clock.sleep(reconnectDelayMs);
      }
    }
  }

  private async connect(connection: Connection): Promise<void> {
    const guarded = (act: () => void) => {
      try {
        act();
      } catch (error) {
        this.fail(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const socket = await Bun.connect<Connection>({
      hostname: this.load.host ?? "127.0.0.1",
      port: this.load.port,
      data: connection,
      socket: {
        data: (_socket, chunk) => guarded(() => this.received(connection, chunk)),
        drain: () => guarded(() => connection.unsent && this.write(connection, connection.unsent)),
        close: () => guarded(() => this.closed(connection)),
        error: () => {},
      },
    });
    if (this.isClosing) socket.terminate();
    else connection.socket = socket;
  }

  private result(): LoadResult {
    return {
      requests: this.histogram.count,
      requestsPerSecond: this.histogram.count / this.load.seconds,
      p50Ms: this.histogram.percentileMs(0.5),
      p90Ms: this.histogram.percentileMs(0.9),
      p99Ms: this.histogram.percentileMs(0.99),
      maxMs: this.histogram.maxMs,
      statuses: this.statuses,
      lost: this.lost,
    };
  }
}
