/** The parts that the client's tests share. */
import { spyOn } from "bun:test";
import { type DropReason, type Failure, type Item, type Options, Rekindle } from "../../client/rekindle.ts";
import { Server } from "../server.ts";
import { Gate } from "./gate.ts";

/** Nearly as long as a test may take: what is waited for so long has failed, on however slow a machine. */
export const patienceMs = 150_000;

/** A client that is given time: an application would not wait so long for a flush, but is sent nothing slowly
 * on purpose. */
class PatientRekindle extends Rekindle {
  override flush(limitMs = patienceMs): Promise<boolean> {
    return super.flush(limitMs);
  }

  override close(limitMs = patienceMs): Promise<boolean> {
    return super.close(limitMs);
  }
}

/** A client, with the failures and drops that it reported to the application. */
export class Told {
  readonly client: Rekindle;
  readonly failures: (Failure & { readonly item: Item | undefined })[] = [];
  readonly drops: { readonly item: Item; readonly reason: DropReason }[] = [];

  constructor(options: Options) {
    this.client = new PatientRekindle({
      maxWaitMs: 20,
      timeoutMs: patienceMs,
      onError: (failure, item) => void this.failures.push({ ...failure, item }),
      onDrop: (item, reason) => void this.drops.push({ item, reason }),
      ...options,
    });
  }
}

/** A valid user. */
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

/** The client's limit for an answer, which passes when a test says so: of real milliseconds a slow machine
 * might need more for an answer that it should get. */
export function limitsOfAnswers() {
  const ms = 149_000;
  const set = globalThis.setTimeout;
  let pass: () => void = () => undefined;
  spyOn(globalThis, "setTimeout").mockImplementation(((act: () => void, ...rest: number[]) => {
    if (rest[0] === ms) pass = act;
    return set(act, ...rest);
  }) as typeof setTimeout);
  return { ms, pass: () => pass() };
}

/** Counts from now on the requests that the client begins, which the gate may see later, or not at all. */
export function countAttempts(gate: Gate): () => number {
  const fetching = spyOn(globalThis, "fetch");
  return () => fetching.mock.calls.filter(([address]) => String(address).startsWith(gate.url)).length;
}
