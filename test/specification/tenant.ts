/** One organization among others, with a model of what it must hold: what was acknowledged to it, and nothing
 * else. */
import { expect } from "bun:test";
import type { Random } from "../../simulation/random.ts";
import type { Server } from "../server.ts";

type Row = Readonly<Record<string, unknown>>;

export interface Identify {
  readonly userId: string;
  readonly email: string;
  readonly properties?: Row;
  readonly isAccountOwner?: boolean;
  readonly account?: { readonly id: string; readonly name: string; readonly avatar?: string } | null;
  readonly messageId?: string;
}

export interface Track {
  readonly userId: string;
  readonly event: string;
  readonly timestamp: string;
  readonly properties: Row;
  readonly messageId?: string;
}

export type Item = ({ readonly type: "identify" } & Identify) | ({ readonly type: "track" } & Track);

interface ModelUser {
  readonly email: string;
  readonly properties: Row;
  readonly isAccountOwner: boolean | null;
  readonly account: string | null;
}

type Outcome = "stored" | "duplicate" | "not_found" | "invalid";

const statusOf = { stored: 201, duplicate: 201, not_found: 404, invalid: 400 } as const;

/** The data that an organization must have. */
class TenantModel {
  readonly #users = new Map<string, ModelUser>();
  readonly #accounts = new Map<string, { readonly name: string; readonly avatar: string | null }>();
  readonly #messageIds = new Set<string>();
  readonly #events: Track[] = [];

  /** The required outcome of a request. The model contains the request from then on. */
  take(item: Item): Outcome {
    if (item.type === "track" && /\s/.test(item.event)) return "invalid";
    // A user may be identified and tracked with one id.
    const key = item.messageId === undefined ? undefined : `${item.type} ${item.messageId}`;
    if (key !== undefined && this.#messageIds.has(key)) return "duplicate";
    if (item.type === "identify") this.#identify(item);
    else if (this.#users.has(item.userId)) this.#events.push(item);
    else return "not_found";
    if (key !== undefined) this.#messageIds.add(key);
    return "stored";
  }

  #identify({ userId, email, properties, isAccountOwner, account }: Identify): void {
    const before = this.#users.get(userId);
    if (account) {
      const avatar = account.avatar ?? this.#accounts.get(account.id)?.avatar ?? null;
      this.#accounts.set(account.id, { name: account.name, avatar });
    }
    this.#users.set(userId, {
      email,
      properties: { ...before?.properties, ...properties },
      isAccountOwner: isAccountOwner ?? before?.isAccountOwner ?? null,
      account: account === undefined ? (before?.account ?? null) : (account?.id ?? null),
    });
  }

  /** The rows of the export of users, in no order. */
  users(): Row[] {
    return [...this.#users].map(([userId, user]) => {
      const account = user.account === null ? null : this.#account(user.account);
      return { userId, ...user, account };
    });
  }

  /** The rows of the export of accounts, in no order. */
  accounts(): Row[] {
    // These senders give accounts no attributes.
    return [...this.#accounts.keys()].map((id) => ({ ...this.#account(id), properties: {} }));
  }

  #account(id: string): Row {
    return { id, ...this.#accounts.get(id) };
  }

  /** The rows of the export of events, in no order and without the time of receipt. */
  events(): Row[] {
    return this.#events.map(({ userId, event, timestamp, properties, messageId = null }) => {
      return { userId, event, timestamp, properties, messageId };
    });
  }

  /** How many users did something on each UTC day, as `2025-03-01`. */
  activeUsers(): Map<string, number> {
    const days = Map.groupBy(this.#events, ({ timestamp }) => timestamp.slice(0, 10));
    return new Map([...days].map(([day, events]) => [day, new Set(events.map(({ userId }) => userId)).size]));
  }
}

interface BatchAnswer {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly { readonly index: number; readonly statusCode: number }[];
}

/** An organization that is written to, its model, and the mark that is in every string which is its own. */
export class Tenant {
  readonly model = new TenantModel();
  readonly name: string;
  readonly mark: string;
  readonly token: string;
  readonly #server: Server;
  readonly #foreignMarks: readonly string[];

  constructor(server: Server, name: string, token: string, names: readonly string[]) {
    this.#server = server;
    this.name = name;
    this.mark = markOf(name);
    this.token = token;
    this.#foreignMarks = names.filter((other) => other !== name).map(markOf);
  }

  /** Text that came out for this organization must hold nothing of another's. */
  expectOwn(text: string): void {
    for (const mark of this.#foreignMarks) expect(text).not.toContain(mark);
  }

  async #post(path: string, token: string, body: unknown): Promise<{ status: number; body: unknown }> {
    // Each form of the header that is the same token.
    const forms = [`Basic ${token}`, `Bearer ${token}`, `Basic ${btoa(`${token}:`)}`];
    const Authorization = forms[JSON.stringify(body).length % forms.length] ?? "";
    const response = await this.#server.post(path, undefined, body, { Authorization });
    const text = await response.text();
    this.expectOwn(text);
    return { status: response.status, body: JSON.parse(text) };
  }

  /** Sends one request, and checks its answer against the model. */
  async send(item: Item, token = this.token): Promise<void> {
    const outcome = this.model.take(item);
    const { type, ...body } = item;
    const { status } = await this.#post(`/${type}`, token, body);
    expect([type, body, status]).toEqual([type, body, statusOf[outcome]]);
  }

  /** Sends a batch, and checks its answer against the model. */
  async sendBatch(batch: readonly Item[], token = this.token): Promise<void> {
    const outcomes = batch.map((item) => this.model.take(item));
    const count = (wanted: Outcome) => outcomes.filter((outcome) => outcome === wanted).length;
    const rejected = outcomes.flatMap((outcome, index) =>
      statusOf[outcome] === 201 ? [] : [{ index, statusCode: statusOf[outcome] }],
    );
    const { status, body } = await this.#post("/batch", token, { batch });
    if (rejected.length === batch.length) {
      expect(status).toBe(400);
      return;
    }
    const answer = body as BatchAnswer;
    const seen = answer.rejected.map(({ index, statusCode }) => ({ index, statusCode }));
    expect({ status, accepted: answer.accepted, duplicates: answer.duplicates, rejected: seen }).toEqual({
      status: 201,
      accepted: count("stored"),
      duplicates: count("duplicate"),
      rejected,
    });
  }

  /** Sends an item with a revoked token, which must have no effect. */
  async sendRevoked(item: Item, token: string): Promise<void> {
    const { type, ...body } = item;
    expect((await this.#post(`/${type}`, token, body)).status).toBe(401);
    expect((await this.#post("/batch", token, { batch: [item] })).status).toBe(401);
  }
}

function markOf(name: string): string {
  return `only-${name}-`;
}

/**
 * An item to send. Ids are the same in every organization, as are some e-mails, events and traits. All other
 * strings have the organization's mark.
 * @param lane names the users, accounts and message ids. Requests of one lane follow each other, so that the
 *   model knows their order.
 */
export function randomItem(random: Random, mark: string, lane: number): Item {
  const userId = `user-${lane}-${random.between(1, 6)}`;
  const own = () => `${mark}${random.between(1, 1_000)}`;
  const messageId = random.chance(0.4) ? { messageId: `message-${lane}-${random.between(1, 60)}` } : {};
  if (random.chance(0.7)) {
    const day = String(random.between(1, 28)).padStart(2, "0");
    const event = random.pick(["login", `${own()}`, `${own()}`, "with space"]);
    const timestamp = `2025-03-${day}T${String(random.between(10, 23))}:00:00.000Z`;
    return {
      type: "track",
      userId,
      event,
      timestamp,
      properties: { [own()]: own(), shared: own() },
      ...messageId,
    };
  }
  const id = `account-${lane}-${random.between(1, 3)}`;
  const avatar = random.chance(0.3) ? { avatar: `https://example.com/${own()}.png` } : {};
  return {
    type: "identify",
    userId,
    email: random.pick(["ada@example.com", `${own()}@example.com`]),
    ...(random.chance(0.8) && {
      properties: { plan: own(), [random.pick(["shared", own()])]: own(), nested: { of: own() } },
    }),
    ...(random.chance(0.3) && { isAccountOwner: random.chance(0.5) }),
    ...(random.chance(0.5) && { account: random.chance(0.1) ? null : { id, name: own(), ...avatar } }),
    ...messageId,
  };
}
