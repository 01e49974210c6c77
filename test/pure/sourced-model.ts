/** Random histories of items from connected sources and the write API, and a simple model of the rules. */
import fc from "fast-check";
import { admitSourced } from "../../server/intake/admission/admit-sourced.ts";
import { isInvalid } from "../../server/intake/admission/json.ts";
import type { SourcedItem } from "../../server/intake/admission/sourced.ts";
import type { Decidable, SourcedOutcome } from "../../server/intake/decide/requests.ts";
import { arrivalIn } from "./support.ts";

const arrival = arrivalIn("Europe/Paris");
export const nowMs = arrival.receivedAtMs;

/** A sent item: one of a source, or a request to the write API. */
export type Sent = { readonly organization: number } & (
  | { readonly by: "source"; readonly item: SourcedItem }
  | {
      readonly by: "api";
      readonly type: "identify" | "track";
      readonly userId: string;
      readonly name: string;
    }
);

const id = fc.constantFrom("a", "b", "c", "d");
const atMs = fc.constantFrom(1, 2, 3).map((hours) => nowMs - hours * 3_600_000);
const messageId = fc.oneof(fc.constant(null), fc.constantFrom("m", "n"));
const organization = fc.constantFrom(1, 2);
const person = fc.oneof(
  fc.record({ userId: id }),
  fc.record({ anonymousId: id }),
  fc.record({ userId: id, anonymousId: id }),
);
const item: fc.Arbitrary<SourcedItem> = fc.oneof(
  fc
    .tuple(
      person,
      atMs,
      messageId,
      fc.constantFrom({}, { plan: "pro" }, { plan: "free" }),
      fc.oneof(fc.constant(undefined), id),
    )
    .map(([who, at, message, traits, previousId]) => ({
      ...who,
      type: "identify" as const,
      atMs: at,
      messageId: message,
      traits,
      previousId,
    })),
  fc.tuple(person, atMs, messageId).map(([who, at, message]) => ({
    ...who,
    type: "track" as const,
    atMs: at,
    messageId: message,
    event: "e",
    properties: {},
    isActivity: true,
  })),
  fc.record({ type: fc.constant("alias" as const), previousId: id, userId: id, atMs, messageId }),
);
const sent: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ by: fc.constant("source" as const), organization, item }) },
  {
    weight: 1,
    arbitrary: fc.record({
      by: fc.constant("api" as const),
      organization,
      type: fc.constantFrom("identify" as const, "track" as const),
      userId: id,
      name: fc.constant("e"),
    }),
  },
);
/** Every event has its own name, by which it is known again. */
export const history = fc.array(sent, { minLength: 1, maxLength: 60 }).map((all) =>
  all.map((one, index): Sent => {
    const name = `event_${index}`;
    if (one.by === "api") return { ...one, name };
    return one.item.type === "track" ? { ...one, item: { ...one.item, event: name } } : one;
  }),
);

export function admitted(one: Sent): Decidable {
  const { organization: of } = one;
  if (one.by === "source") {
    const made = admitSourced(one.item, { ...arrival, organization: of }, () => undefined);
    if (isInvalid(made)) throw new Error(made.invalid);
    return made;
  }
  const { userId, name: event } = one;
  const common = { organization: of, userId, messageId: null, receivedAtMs: nowMs };
  return one.type === "track"
    ? { ...common, kind: "track", event, timeMs: nowMs, day: 20_000, properties: "{}", isOfPast: false }
    : {
        ...common,
        kind: "identify",
        email: "a@example.com",
        traits: {},
        isAccountOwner: undefined,
        account: undefined,
        timestampMs: nowMs,
        zone: arrival.zone,
      };
}

/** The name of a visitor's id here. A user's id is its own name. */
export const visitor = (one: string) => `visitor ${one}`;

/** A simple model of the rules, for one organization and one request at a time. */
export class Model {
  readonly users = new Set<string>();
  /** From ids of either kind to users. */
  readonly links = new Map<string, { readonly to: string; readonly atMs: number }>();
  /** The user of each event, or the id under which it is held. */
  readonly events = new Map<string, string>();
  /** When the events happened that wait. */
  readonly #waiting = new Map<string, number>();
  /** When ids were erased, or users to whom they were linked. */
  readonly #erasedAtMs = new Map<string, number>();
  readonly #remembered = new Set<string>();

  take(one: Sent): SourcedOutcome {
    if (one.by === "api") return one.type === "track" ? this.#track(one) : this.#identify(one.userId);
    const { messageId, type } = one.item;
    const message = messageId && `${type === "track" ? type : "identify"} ${messageId}`;
    if (message !== null && this.#remembered.has(message)) return "duplicate";
    const outcome = this.#item(one.item);
    if (message !== null && (outcome === "stored" || outcome === "held")) this.#remembered.add(message);
    return outcome;
  }

  /** Erases a user, with the data of the ids that are linked to the user. */
  erase(userId: string, atMs: number): void {
    const linked = [...this.links].filter(([, { to }]) => to === userId).map(([one]) => one);
    this.users.delete(userId);
    for (const one of [userId, ...linked]) {
      this.#erasedAtMs.set(one, atMs);
      this.links.delete(one);
    }
    for (const [event, whose] of this.events) if (whose === userId) this.events.delete(event);
  }

  #wasErased(one: string, timestampMs: number): boolean {
    return timestampMs < (this.#erasedAtMs.get(one) ?? 0);
  }

  isWaiting(event: string): boolean {
    return this.#waiting.has(event);
  }

  #track({ userId, name }: Extract<Sent, { by: "api" }>): SourcedOutcome {
    if (!this.users.has(userId)) return "not_found";
    this.events.set(name, userId);
    return "stored";
  }

  #identify(userId: string): SourcedOutcome {
    const link = this.links.get(userId);
    this.users.add(userId);
    this.links.delete(userId);
    this.#settle();
    if (link !== undefined && !this.users.has(link.to)) this.#linkBoth(link.to, userId, link.atMs);
    return "stored";
  }

  #item(said: SourcedItem): SourcedOutcome {
    if (said.type === "alias") {
      const { previousId, userId } = said;
      if (previousId === userId) return "stored";
      const isTurned = this.users.has(previousId);
      if (isTurned && this.users.has(userId)) return { invalid: "" };
      const [id, other] = isTurned ? [userId, previousId] : [previousId, userId];
      if ([other, id, visitor(id)].some((one) => this.#wasErased(one, said.atMs))) return "duplicate";
      this.#linkBoth(id, other, said.atMs);
      return "stored";
    }
    if (said.type === "account") return "stored";
    const { userId, anonymousId } = said;
    const isIdentify = said.type === "identify" && userId !== undefined;
    const person = userId ?? visitor(anonymousId ?? "");
    const all = [person, ...(isIdentify ? [] : [this.#whose(person)])];
    if (userId === anonymousId && anonymousId !== undefined) all.push(visitor(anonymousId));
    if (all.some((one) => this.#wasErased(one, said.atMs))) return "duplicate";
    if (isIdentify) {
      this.#identify(userId);
      if (anonymousId !== undefined) this.#link(visitor(anonymousId), userId, said.atMs);
      const { previousId } = said;
      if (previousId !== undefined && !this.users.has(previousId)) this.#link(previousId, userId, said.atMs);
      return "stored";
    }
    const whose = this.#whose(person);
    const isKnown = this.users.has(whose);
    if (said.type === "track") {
      this.events.set(said.event, whose);
      if (!isKnown) this.#waiting.set(said.event, said.atMs);
    }
    return isKnown ? "stored" : "held";
  }

  #whose(one: string): string {
    return this.users.has(one) ? one : (this.links.get(one)?.to ?? one);
  }

  #linkBoth(from: string, to: string, atMsOfLink: number): void {
    this.#link(from, to, atMsOfLink);
    this.#link(visitor(from), to, atMsOfLink);
  }

  #link(from: string, to: string, atMsOfLink: number): void {
    const whose = this.#whose(to);
    if (whose === from || this.#wasErased(from, atMsOfLink)) return;
    if ((this.links.get(from)?.atMs ?? 0) > atMsOfLink) return;
    this.links.set(from, { to: whose, atMs: atMsOfLink });
    for (const [other, link] of this.links)
      if (link.to === from) this.links.set(other, { ...link, to: whose });
    this.#settle();
  }

  /** Events that are held under an id move on to the user who has the id now. */
  #settle(): void {
    for (const [event, atMs] of this.#waiting) {
      const whose = this.#whose(this.events.get(event) ?? "");
      this.events.set(event, whose);
      if (!this.users.has(whose)) continue;
      this.#waiting.delete(event);
      if (this.#wasErased(whose, atMs)) this.events.delete(event);
    }
  }
}
