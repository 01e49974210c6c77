/** The other work of the soak besides single requests, and its measurements. */
import { expect } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Server } from "../server.ts";
import { inLedger } from "../stored.ts";
import { until } from "../until.ts";

const itemsABatch = 100;
/** A steady load, and not as much as the machine can do. */
const [betweenBatchesMs, betweenErrandsMs] = [400, 500];
const importedUsers = 500;

/** A file of events, a JSON object a line. */
export function importedRows(rows: number): string {
  const row = (n: number) => ({
    userId: `user-${n % importedUsers}`,
    event: `event_${n % 7}`,
    timestamp: new Date(Date.UTC(2026, 0, 1) + n * 10_000).toISOString(),
    properties: { n },
  });
  return Array.from({ length: rows }, (_, n) => `${JSON.stringify(row(n))}\n`).join("");
}

/** Identifies the users of that file. */
export async function identifyImported(server: Server, token: string): Promise<void> {
  const batch = Array.from({ length: importedUsers }, (_, n) => ({
    type: "identify",
    userId: `user-${n}`,
    email: "ada@example.com",
  }));
  expect((await server.post("/batch", token, { batch })).status).toBe(201);
}

/** Waits until rows of the import are stored. An import that only starts when the server is dead opens the
 * ledger itself, and then the server cannot. */
export async function importHasBegun({ dataDir }: Server): Promise<void> {
  const rowsDone = () => inLedger(dataDir, (run) => run`SELECT id FROM imports WHERE rows_done > 0`);
  await until("rows of the import are stored", rowsDone, ({ length }) => length > 0);
}

/** Compressed batches, each sent under one key until it is answered 201. */
export class Batches {
  readonly #server: () => Server;
  readonly #token: string;
  #sent = 0;
  #stopping = false;
  #running: Promise<unknown> = Promise.resolve();
  /** Answers that were neither 201, 429 nor 500. */
  readonly unexpected: string[] = [];

  constructor(server: () => Server, token: string) {
    this.#server = server;
    this.#token = token;
  }

  async start(): Promise<void> {
    await this.#store("users", [{ type: "identify", userId: "u", email: "ada@example.com" }]);
    this.#running = Promise.all([1, 2].map(() => this.#send()));
  }

  /** @returns how many events must be stored. */
  async stop(): Promise<number> {
    this.#stopping = true;
    await this.#running;
    return this.#sent * itemsABatch;
  }

  /** How many different message ids are stored. It throws when one is stored twice. */
  async stored(): Promise<number> {
    const ids = (await this.#server().exported("events", "batches")).map(({ messageId }) => messageId);
    const different = new Set(ids).size;
    if (different !== ids.length) throw new Error(`${ids.length - different} events are stored twice`);
    return different;
  }

  async #send(): Promise<void> {
    while (!this.#stopping) {
      const n = this.#sent;
      this.#sent += 1;
      const item = (index: number) => ({ type: "track", userId: "u", event: "e", properties: { n, index } });
      await this.#store(
        `batch-${n}`,
        Array.from({ length: itemsABatch }, (_, index) => item(index)),
      );
      await Bun.sleep(betweenBatchesMs);
    }
  }

  async #store(key: string, batch: readonly object[]): Promise<void> {
    const body = Bun.gzipSync(JSON.stringify({ batch }));
    const headers = { "Content-Encoding": "gzip", "Idempotency-Key": key };
    await until("the batch is stored", async () => {
      try {
        const response = await this.#server().post("/batch", this.#token, body, headers);
        const text = await response.text();
        if (![201, 429, 500].includes(response.status)) this.unexpected.push(`${response.status} ${text}`);
        return response.status === 201;
      } catch {
        // The server is down for a moment.
        return false;
      }
    });
  }
}

/** The occasional work of users: they read figures, export, back up, erase users, and change the timezone. */
export class Errands {
  readonly #server: () => Server;
  readonly #token: string;
  readonly #folder: string;
  readonly #done = new Map<string, number>();
  readonly #erased: string[] = [];
  readonly failures: string[] = [];

  constructor(server: () => Server, token: string, folder: string) {
    this.#server = server;
    this.#token = token;
    this.#folder = folder;
  }

  /** Runs one errand after another until the end, and at least two of each, so that a slow machine has as
   * many as memory is judged by. Calls `look` between them. */
  async run(endMs: number, look: () => void): Promise<void> {
    const key = (await this.#server().command("key", "create", "--organization", "single")).trim();
    const errands: readonly (readonly [string, (n: number) => Promise<unknown>])[] = [
      ["figures", () => this.#figures(key)],
      ["erasures", (n) => this.#erase(`gone-${n}`)],
      ["figures", () => this.#figures(key)],
      [
        "exports",
        () => this.#server().command("export", "events", "--organization", "single", "--format", "csv"),
      ],
      ["timezones", (n) => this.#move(n)],
      ["backups", (n) => this.#backUp(n)],
    ];
    for (let n = 0; performance.now() < endMs || n < 2 * errands.length; n++) {
      const [name, errand] = errands[n % errands.length] ?? ["nothing", async () => undefined];
      try {
        await errand(n);
        this.#done.set(name, (this.#done.get(name) ?? 0) + 1);
      } catch (error) {
        this.failures.push(`${name}: ${error}`);
      }
      look();
      await Bun.sleep(betweenErrandsMs);
    }
  }

  summary(): string {
    return [...this.#done].map(([name, count]) => `${count} ${name}`).join(", ");
  }

  /** The erased users with remaining data. */
  async erasedLeft(): Promise<readonly string[]> {
    const users = new Set((await this.#server().exported("users", "erased")).map(({ userId }) => userId));
    const events = new Set((await this.#server().exported("events", "erased")).map(({ userId }) => userId));
    return this.#erased.filter((userId) => users.has(userId) || events.has(userId));
  }

  async #figures(key: string): Promise<void> {
    for (const path of ["/api/active-users?days=90", "/api/retention"]) {
      const response = await fetch(this.#server().url + path, {
        headers: { Authorization: `Bearer ${key}` },
      });
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      await response.json();
    }
  }

  async #erase(userId: string): Promise<void> {
    const track = { type: "track", userId, event: "e" };
    const batch = [{ type: "identify", userId, email: "ada@example.com" }, track, track];
    const response = await this.#server().post("/batch", this.#token, { batch });
    if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
    await this.#server().command("erase", "user", userId, "--organization", "erased");
    this.#erased.push(userId);
  }

  async #move(n: number): Promise<void> {
    const timezone = n % 12 < 6 ? "Australia/Lord_Howe" : "America/Santiago";
    await this.#server().command("organization", "set", "single", "--timezone", timezone);
  }

  async #backUp(n: number): Promise<void> {
    const folder = join(this.#folder, `backup-${n}`);
    await this.#server().command("backup", folder);
    rmSync(folder, { recursive: true });
  }
}

/** Watches the memory of both processes. After the first third of the time it must not grow any more. */
export class MemoryWatch {
  readonly #server: Server;
  readonly #megabytes: { readonly intake: number[]; readonly analysis: number[] } = {
    intake: [],
    analysis: [],
  };

  constructor(server: Server) {
    this.#server = server;
  }

  look(): void {
    this.#megabytes.intake.push(residentMegabytes(this.#server.pid));
    const analysis = this.#server.analysisPid();
    if (analysis !== undefined) this.#megabytes.analysis.push(residentMegabytes(analysis));
  }

  summary(): string {
    return Object.entries(this.#megabytes)
      .map(([name, all]) => {
        const { middle, last } = thirds(all);
        return `${name} ${middle.toFixed(0)} MB in the middle third, ${last.toFixed(0)} MB in the last`;
      })
      .join("; ");
  }

  /** A leak of a request's body a second would be far above these bounds. */
  expectFlat(): void {
    for (const all of Object.values(this.#megabytes)) {
      const { middle, last } = thirds(all);
      expect(last).toBeLessThan(middle * 1.3 + 50);
    }
  }
}

/** The medians of the middle and of the last third. */
function thirds(values: readonly number[]): { readonly middle: number; readonly last: number } {
  const third = Math.floor(values.length / 3);
  const median = (some: readonly number[]) =>
    some.toSorted((a, b) => a - b)[Math.floor(some.length / 2)] ?? 0;
  return { middle: median(values.slice(third, 2 * third)), last: median(values.slice(2 * third)) };
}

function residentMegabytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1_000;
}
