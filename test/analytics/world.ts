/** An organization with random users, sent through HTTP, and everything that was sent. */
import { expect } from "bun:test";
import type { Random } from "../../simulation/random.ts";
import type { Server } from "../server.ts";
import { until, withinLimit } from "../until.ts";

export const msPerDay = 86_400_000;

export interface Happening {
  readonly userId: string;
  readonly event: string;
  readonly timeMs: number;
  /** Of the organization's timezone, in days since 1970-01-01, by the runtime's calendar and not by our
   * own. */
  readonly day: number;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Which account its user had when it was sent. */
  readonly account: string | null;
}

export interface Person {
  readonly userId: string;
  readonly email: string;
  readonly traits: Readonly<Record<string, unknown>>;
  account: string | null;
}

/** Names and values that formulas, SQL and CSV would trip over. */
const eventNames = [
  "opened",
  "Saved",
  "it's",
  'quote"d',
  "=1+1",
  "back\\slash",
  "naïve-é-🎈",
  "{limit:UInt32}",
];
const tiers = ["free", "pro", "=HYPERLINK(1)", "a,b\r\nc", 7, true, null, ["x"], "", 1e30];
const pages = ["/home", "/in'ner", "'; DROP TABLE events; --", 12, 1.5, false, null, { deep: 1 }, ""];

export class World {
  readonly name: string;
  readonly zone: string;
  readonly people = new Map<string, Person>();
  readonly events: Happening[] = [];
  readonly #passive = new Set<string>();
  readonly #server: Server;
  readonly #random: Random;
  readonly #format: Intl.DateTimeFormat;
  #token = "";
  #key = "";

  constructor(server: Server, random: Random, name: string, zone: string) {
    this.#server = server;
    this.#random = random;
    this.name = name;
    this.zone = zone;
    this.#format = new Intl.DateTimeFormat("en-CA", { timeZone: zone });
  }

  /** Sends people and events of so many days, some on days that are yet to come. By default these are more
   * than a year. */
  async fill(people: number, events: number, pastDays = 430): Promise<void> {
    this.#token = await this.#server.organization(this.name, "--timezone", this.zone);
    const created = await this.#server.command("key", "create", "--organization", this.name);
    this.#key = created.trim();
    for (let half = 0; half < 2; half += 1) {
      // In the second half some have gone to another account.
      const items: object[] = Array.from({ length: people }, (_, n) => this.#identify(`u${n}`));
      for (let n = 0; n < events / 2; n += 1) items.push(this.#track(people, pastDays));
      for (let start = 0; start < items.length; start += 2_000) {
        const batch = items.slice(start, start + 2_000);
        const response = await this.#server.post("/batch", this.#token, { batch });
        expect(await response.json()).toMatchObject({ accepted: batch.length, rejected: [] });
      }
    }
    await this.#server.exported("events", this.name);
  }

  /** Sets events as passive: users with only these events were not active. */
  async setPassive(...events: readonly string[]): Promise<void> {
    const options = events.flatMap((event) => ["--passive-event", event]);
    await this.#server.command("settings", "set", "--organization", this.name, ...options);
    for (const event of events) this.#passive.add(event);
  }

  /** The events that count in figures about users. */
  get engagement(): readonly Happening[] {
    return this.events.filter(({ event }) => !this.#passive.has(event));
  }

  /** Excludes users from figures. They and their events no longer count in any figure. */
  async exclude(...userIds: readonly string[]): Promise<void> {
    for (const userId of userIds) {
      await this.#server.command("exclude", "add", "--organization", this.name, "--user", userId);
      this.people.delete(userId);
    }
    await until(
      "all of them are excluded",
      async () => {
        const response = await this.get("/api/lifecycle");
        return ((await response.json()) as { freshness: { excludedUsers: number } }).freshness;
      },
      ({ excludedUsers }) => excludedUsers >= userIds.length,
    );
    const kept = this.events.filter(({ userId }) => this.people.has(userId));
    this.events.splice(0, this.events.length, ...kept);
  }

  /** The answer to a question, without how fresh it is. */
  async ask<Answer>(
    path: string,
    parameters: Readonly<Record<string, string | number>> = {},
  ): Promise<Answer> {
    const response = await this.get(path, parameters);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} ${JSON.stringify(parameters)}: ${text}`);
    const { freshness: _, ...answer } = JSON.parse(text);
    return answer;
  }

  get(path: string, parameters: Readonly<Record<string, string | number>> = {}): Promise<Response> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
    return patientGet(`${this.#server.url}${path}?${query}`, this.#key);
  }

  today(): number {
    return this.dayOf(Date.now());
  }

  dayOf(ms: number): number {
    return Date.parse(this.#format.format(ms)) / msPerDay;
  }

  #identify(userId: string) {
    const random = this.#random;
    const before = this.people.get(userId);
    const account = before !== undefined && random.chance(0.7) ? before.account : this.#account();
    const traits = before?.traits ?? {
      tier: random.pick(tiers),
      // Beyond 2^64: no value of the same user may be lost by it.
      ...(random.chance(0.3) && { large: 1e25 }),
      ...(random.chance(0.8) && { name: random.pick([`Ada ${userId}`, "=SUM(A1)", "Łukasz", 'say "hi"']) }),
    };
    const email = before?.email ?? `${random.pick(["ada", "BOB", "o'neil"])}.${userId}@example.com`;
    this.people.set(userId, { userId, email, traits, account });
    return {
      type: "identify",
      userId,
      email,
      properties: traits,
      account: account === null ? null : { id: account, name: `Name of ${account}` },
    };
  }

  #account(): string | null {
    return this.#random.pick([null, "acme", "=2+2", "o'neil & sons", "Zebra"]);
  }

  #track(people: number, pastDays: number) {
    const random = this.#random;
    // Squared: a few do much, and the last users nothing at all.
    const userId = `u${Math.floor(random.next() ** 2 * (people - 3))}`;
    const today = this.today();
    const day = random.chance(0.03) ? today + random.between(2, 40) : today - random.between(0, pastDays);
    // Around midnight too, where a wrong offset changes the day.
    const ms =
      (day + 0.5) * msPerDay + random.pick([0, random.between(-14, 14) * 3_600_000 + random.pick([0, -1])]);
    const properties = { page: random.pick(pages), n: random.between(0, 60) };
    const event = random.pick(eventNames);
    const account = this.people.get(userId)?.account ?? null;
    // Events within a day of now move two days back, so that midnight during the test changes nothing.
    const timeMs = Math.abs(ms - Date.now()) < msPerDay ? ms - 2 * msPerDay : ms;
    this.events.push({ userId, event, timeMs, day: this.dayOf(timeMs), properties, account });
    return { type: "track", userId, event, timestamp: new Date(timeMs).toISOString(), properties };
  }
}

/** Asks with a read key, as often as it takes: tests ask more than a key may in a second. */
export function patientGet(url: string, key: string): Promise<Response> {
  return withinLimit(() => fetch(url, { headers: { Authorization: `Bearer ${key}` } }));
}
