/**
 * A workload that knows what must be stored: senders that repeat every request, under the same message id,
 * until it is answered 201. So in the end exactly what was sent is stored, once, whatever happened between.
 */
import type { Server } from "../server.ts";
import { until } from "../until.ts";

const users = 40;
const senders = 24;

/** The final state that every event and every user must have. */
export interface Expected {
  readonly messageIds: ReadonlySet<string>;
  readonly traits: ReadonlyMap<string, Readonly<Record<string, number>>>;
}

export class Workload {
  readonly #server: () => Server;
  readonly #token: string;
  readonly #messageIds = new Set<string>();
  readonly #traits = new Map<string, Record<string, number>>();
  #running: Promise<unknown> = Promise.resolve();
  #stopping = false;
  #sent = 0;
  /** Answers that were neither 201 nor a refused or broken connection, nor a full service's 429 and 500. */
  readonly unexpected: string[] = [];

  readonly #pauseMs: number;

  /** @param server the server that runs now: it is another one after a restart. @param pauseMs of each
   * sender. */
  constructor(server: () => Server, token: string, pauseMs = 0) {
    this.#server = server;
    this.#token = token;
    this.#pauseMs = pauseMs;
  }

  get acknowledged(): number {
    return this.#messageIds.size;
  }

  /** The message ids of the events that are acknowledged by now. */
  acknowledgedIds(): readonly string[] {
    return [...this.#messageIds];
  }

  /** Identifies the users, then sends until `stop`. */
  async start(): Promise<void> {
    for (let user = 0; user < users; user++) await this.#identify(user);
    this.#running = Promise.all(Array.from({ length: senders }, (_, sender) => this.#send(sender)));
  }

  /** Waits until so many events are acknowledged. */
  async untilAcknowledged(count: number): Promise<void> {
    await until(
      `${count} events are acknowledged`,
      () => this.acknowledged,
      (acknowledged) => acknowledged >= count,
    );
  }

  /** Lets every request come through that was begun. */
  async stop(): Promise<Expected> {
    this.#stopping = true;
    await this.#running;
    return { messageIds: this.#messageIds, traits: this.#traits };
  }

  async #send(sender: number): Promise<void> {
    for (let turn = 0; !this.#stopping; turn++) {
      const user = (sender * 7 + turn) % users;
      if (turn % 10 === 9) await this.#identify(user);
      else await this.#track(user);
      if (this.#pauseMs > 0) await Bun.sleep(this.#pauseMs);
    }
  }

  async #track(user: number): Promise<void> {
    const messageId = crypto.randomUUID();
    const day = String(1 + (this.#sent % 28)).padStart(2, "0");
    await this.#untilStored("/track", {
      userId: `user-${user}`,
      event: `event_${this.#sent % 5}`,
      timestamp: `202${this.#sent % 2}-03-${day}T12:00:00Z`,
      properties: { n: this.#sent },
      messageId,
    });
    this.#messageIds.add(messageId);
  }

  /** Every identify brings one key that no other brings, so that a lost merge shows. */
  async #identify(user: number): Promise<void> {
    const n = this.#sent;
    const key = `key_${n % 300}_${user}`;
    const userId = `user-${user}`;
    const before = this.#traits.get(userId)?.[key];
    if (before !== undefined) return;
    this.#traits.set(userId, { ...this.#traits.get(userId), [key]: n });
    const body = {
      userId,
      email: `${userId}@example.com`,
      properties: { [key]: n },
      messageId: crypto.randomUUID(),
    };
    await this.#untilStored("/identify", body);
  }

  async #untilStored(path: string, body: object): Promise<void> {
    this.#sent += 1;
    await until(
      "a request is acknowledged",
      () => this.#status(path, body),
      (status) => status === 201,
    );
  }

  async #status(path: string, body: object): Promise<number> {
    try {
      const response = await this.#server().post(path, this.#token, body);
      const text = await response.text();
      if (![201, 429, 500].includes(response.status)) this.unexpected.push(`${response.status} ${text}`);
      return response.status;
    } catch {
      return 0;
    }
  }
}

/** Compares what is stored, by the exports, with what must be. */
export async function differences(
  server: Server,
  organization: string,
  expected: Expected,
): Promise<string[]> {
  const events = await server.exported("events", organization);
  const found = events.map((event) => String(event.messageId));
  const unique = new Set(found);
  const problems: string[] = [];
  if (found.length !== unique.size) problems.push(`${found.length - unique.size} events are stored twice`);
  const lost = [...expected.messageIds].filter((id) => !unique.has(id));
  if (lost.length > 0) problems.push(`${lost.length} acknowledged events are lost`);
  if (unique.size > expected.messageIds.size) problems.push("there are events that nobody sent");
  const users = new Map(
    (await server.exported("users", organization)).map((user) => [String(user.userId), user]),
  );
  for (const [userId, traits] of expected.traits) {
    if (!Bun.deepEquals(users.get(userId)?.properties, traits))
      problems.push(`the traits of ${userId} are wrong`);
  }
  return problems;
}
