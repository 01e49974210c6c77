/** What tests of the client share. */
import type { DropReason, Failure, Item, Options } from "../../client/rekindle.ts";
import { Rekindle } from "../../client/rekindle.ts";
import { Server } from "../server.ts";
import { Gate } from "./gate.ts";

/** A client, and what it told the application. */
export class Told {
  readonly client: Rekindle;
  readonly failures: (Failure & { readonly item: Item | undefined })[] = [];
  readonly drops: { readonly item: Item; readonly reason: DropReason }[] = [];

  constructor(options: Options) {
    this.client = new Rekindle({
      maxWaitMs: 20,
      onError: (failure, item) => void this.failures.push({ ...failure, item }),
      onDrop: (item, reason) => void this.drops.push({ item, reason }),
      ...options,
    });
  }
}

/** A user whom nobody doubts. */
export const ada = (userId: string | number = "ada") => ({ userId, email: "ada@example.com" });

/** The events that an organization has, in the order of their time. */
async function storedEvents(server: Server, organization: string) {
  const rows = await server.exported("events", organization);
  return rows.sort((a, b) => String(a.timestamp).localeCompare(String(b.timestamp)));
}

/** A server with an organization, and a gate before it. */
export class ClientBench {
  readonly server: Server;
  readonly token: string;
  readonly #organization: string;
  #gate: Gate;

  private constructor(server: Server, token: string, organization: string, gate: Gate) {
    this.server = server;
    this.token = token;
    this.#organization = organization;
    this.#gate = gate;
  }

  static async start(organization: string): Promise<ClientBench> {
    const server = await Server.start();
    const token = await server.organization(organization);
    return new ClientBench(server, token, organization, await Gate.before(() => server.url));
  }

  get gate(): Gate {
    return this.#gate;
  }

  /** Puts a gate in the place of the one that there is, which has seen nothing. */
  async renewGate(): Promise<void> {
    this.#gate.close();
    this.#gate = await Gate.before(() => this.server.url);
  }

  async stop(): Promise<void> {
    this.#gate.close();
    await this.server.stop();
  }

  /** A client that sends through the gate. */
  client(options: object = {}): Told {
    return new Told({ token: this.token, host: this.gate.url, ...options });
  }

  /** The stored events of a user, in the order of their time. */
  async eventsOf(userId: string) {
    const rows = await storedEvents(this.server, this.#organization);
    return rows.filter((row) => row.userId === userId);
  }
}

/** Waits until something holds. */
export async function until(what: string, holds: () => boolean, limitMs = 20_000): Promise<void> {
  const deadlineMs = performance.now() + limitMs;
  while (!holds()) {
    if (performance.now() > deadlineMs) throw new Error(`it did not happen: ${what}`);
    await Bun.sleep(5);
  }
}
