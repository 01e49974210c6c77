/**
 * Retention computed again, one user after the other, from the sent data alone, to compare with the
 * warehouse's answers. Simple on purpose, with the runtime's own calendar instead of the product's
 * arithmetic.
 */
import type { Group } from "../../server/analytics/retention/cohorts.ts";
import type { RetentionQuestion } from "../../server/analytics/retention/retention-question.ts";
import { parseEventTime } from "../../server/calendar/event-time.ts";
import { Zone } from "../../server/calendar/zone.ts";

export interface Facts {
  readonly timezone: string;
  /** In the order in which they became known. */
  readonly users: readonly number[];
  readonly events: readonly { readonly user: number; readonly event: string; readonly timeMs: number }[];
  /** The sent traits and accounts of users with their times, in the order of arrival; an account of 0 is
   * none. */
  readonly words: readonly Word[];
  readonly owners: ReadonlySet<number>;
  readonly accounts: ReadonlyMap<number, { readonly id: string; readonly name: string }>;
  readonly excluded?: ReadonlySet<number>;
}

export interface Word {
  readonly user: number;
  readonly atMs: number;
  readonly traits: Readonly<Record<string, unknown>>;
  readonly account?: number;
}

export interface CountedCell extends Group {
  readonly cohortDay: number;
  readonly cohortUsers: number;
  readonly period: number;
  readonly users: number;
  readonly isComplete: boolean;
}

interface Member {
  readonly user: number;
  readonly cohortDay: number;
  readonly text: string | null;
}

export class RetentionRecount {
  readonly #facts: Facts;
  readonly #question: RetentionQuestion;
  readonly #zone: Zone;
  readonly #days = new Map<number, number>();
  readonly #eventsOf: ReadonlyMap<number, Facts["events"]>;
  readonly #wordsOf: ReadonlyMap<number, readonly Word[]>;
  readonly #returnDays = new Map<number, number[]>();
  readonly #members: readonly Member[];
  /** The values with groups of their own. */
  readonly #shown: ReadonlySet<string>;

  constructor(facts: Facts, question: RetentionQuestion) {
    this.#facts = facts;
    this.#question = question;
    this.#zone = new Zone(facts.timezone);
    this.#eventsOf = Map.groupBy(facts.events, ({ user }) => user);
    this.#wordsOf = Map.groupBy(
      facts.words.toSorted((a, b) => a.atMs - b.atMs),
      ({ user }) => user,
    );
    for (const { user, event, timeMs } of facts.events) {
      const day = this.#dayOf(timeMs);
      if (day > question.today || !this.#isChosen(event, question.returnEvent)) continue;
      const days = this.#returnDays.get(user) ?? [];
      days.push(day);
      this.#returnDays.set(user, days);
    }
    this.#members = this.#allMembers();
    const sizes = new Map<string, number>();
    for (const { text } of this.#members) if (text !== null) sizes.set(text, (sizes.get(text) ?? 0) + 1);
    const ranked = [...sizes].sort(
      ([a, n], [b, m]) => m - n || Buffer.compare(Buffer.from(a), Buffer.from(b)),
    );
    this.#shown = new Set(ranked.slice(0, 20).map(([text]) => text));
  }

  /** Every cell of the table, sorted by `cellOrder`. */
  cells(): CountedCell[] {
    const { periods, today, measure, horizonDays } = this.#question;
    const cells: CountedCell[] = [];
    const cohorts = Map.groupBy(this.#members, (member) =>
      JSON.stringify([this.#groupOf(member), member.cohortDay]),
    );
    for (const members of cohorts.values()) {
      const [first] = members;
      if (first === undefined) continue;
      let start = first.cohortDay;
      for (let period = 0; period < periods && start <= today; period += 1) {
        const next = this.#next(start);
        const users = members.filter(({ user }) => this.#isActive(user, start, next)).length;
        cells.push({
          ...this.#groupOf(first),
          cohortDay: first.cohortDay,
          cohortUsers: members.length,
          period,
          users,
          isComplete: today >= next + (measure === "in" ? 0 : horizonDays),
        });
        start = next;
      }
    }
    return cells.sort(cellOrder);
  }

  /** The users of a cell who were active, or were not, ascending. */
  people(cell: Group & { cohortDay: number; period: number }, retained: boolean): number[] {
    let start = cell.cohortDay;
    for (let period = 0; period < cell.period; period += 1) start = this.#next(start);
    return this.#members
      .filter((member) => {
        const { kind, value } = this.#groupOf(member);
        return member.cohortDay === cell.cohortDay && kind === cell.kind && value === cell.value;
      })
      .map(({ user }) => user)
      .filter((user) => this.#isActive(user, start, this.#next(start)) === retained)
      .sort((a, b) => a - b);
  }

  #allMembers(): Member[] {
    const { fromDay, toDay, today, split } = this.#question;
    const [firstCohort, lastCohort] = [this.#start(fromDay), this.#start(toDay)];
    return this.#facts.users.flatMap((user) => {
      const entryDay = this.#entryDay(user);
      if (entryDay === undefined || entryDay > today || this.#facts.excluded?.has(user)) return [];
      const cohortDay = this.#start(entryDay);
      if (cohortDay < firstCohort || cohortDay > lastCohort) return [];
      return [{ user, cohortDay, text: split === null ? null : this.#splitText(user, entryDay) }];
    });
  }

  #groupOf({ text }: Member): Group {
    if (this.#question.split === null) return { kind: "all", value: null };
    if (text === null) return { kind: "none", value: null };
    return this.#shown.has(text) ? { kind: "value", value: text } : { kind: "other", value: null };
  }

  #isActive(user: number, start: number, next: number): boolean {
    const end = this.#question.measure === "in" ? next : Number.POSITIVE_INFINITY;
    return this.#returnDays.get(user)?.some((day) => day >= start && day < end) ?? false;
  }

  #entryDay(user: number): number | undefined {
    const { entry } = this.#question;
    if (entry.kind === "signUp") return this.#signUpDay(user);
    const entryEvent = entry.kind === "event" ? entry.event : null;
    const days = (this.#eventsOf.get(user) ?? [])
      .filter(({ event }) => this.#isChosen(event, entryEvent))
      .map(({ timeMs }) => this.#dayOf(timeMs));
    return days.length === 0 ? undefined : Math.min(...days);
  }

  /** Whether it is this event, or any that is engagement. */
  #isChosen(event: string, chosen: string | null): boolean {
    return chosen === null ? !this.#question.passiveEvents.includes(event) : event === chosen;
  }

  #signUpDay(user: number): number {
    for (const trait of ["createdAt", "created_at", "signedUpAt"]) {
      const text = this.#lastWord(user, Number.POSITIVE_INFINITY, ({ traits }) => traits[trait]);
      const ms = typeof text === "string" ? parseEventTime(text, this.#zone) : undefined;
      if (ms !== undefined) return this.#dayOf(ms);
    }
    return this.#dayOf(this.#wordsOf.get(user)?.[0]?.atMs ?? Number.NaN);
  }

  #splitText(user: number, entryDay: number): string | null {
    const { trait, of, asOf } = this.#question.split ?? { trait: "", of: "user", asOf: "now" };
    const day = asOf === "now" ? Number.POSITIVE_INFINITY : entryDay;
    const traitOf = (subject: number) => textOf(this.#lastWord(subject, day, ({ traits }) => traits[trait]));
    if (of === "user") return traitOf(user);
    const number = this.#lastWord(user, day, ({ account }) => account);
    const account = this.#facts.accounts.get(typeof number === "number" ? number : 0);
    if (account === undefined) return null;
    if (trait === "id" || trait === "name") return account[trait];
    const speaker = this.#speakerOf(Number(number));
    return speaker === undefined ? null : traitOf(speaker);
  }

  /** The account's owner who has been known longest, otherwise its newest member. */
  #speakerOf(account: number): number | undefined {
    const members = this.#facts.users.filter(
      (user) => this.#lastWord(user, Number.POSITIVE_INFINITY, (word) => word.account) === account,
    );
    return members.find((user) => this.#facts.owners.has(user)) ?? members.at(-1);
  }

  /** The last value sent of a user until the end of a day; for a day before all values, the first one
   * ever. */
  #lastWord(user: number, day: number, read: (word: Word) => unknown): unknown {
    const words = this.#wordsOf.get(user) ?? [];
    const saying = words.filter((word) => read(word) !== undefined);
    const until = saying.filter(({ atMs }) => this.#dayOf(atMs) <= day);
    const word = until.at(-1) ?? (words.every(({ atMs }) => this.#dayOf(atMs) > day) ? saying[0] : undefined);
    return word === undefined ? undefined : read(word);
  }

  #dayOf(ms: number): number {
    const known = this.#days.get(ms);
    if (known !== undefined) return known;
    const date = Temporal.Instant.fromEpochMilliseconds(ms)
      .toZonedDateTimeISO(this.#facts.timezone)
      .toPlainDate();
    const day = Date.UTC(date.year, date.month - 1, date.day) / 86_400_000;
    this.#days.set(ms, day);
    return day;
  }

  #start(day: number): number {
    const { name, weekStart } = this.#question.period;
    for (let start = day; ; start -= 1) {
      const date = new Date(start * 86_400_000);
      if (name === "day" || (name === "month" && date.getUTCDate() === 1)) return start;
      if (name === "week" && date.getUTCDay() === weekStart % 7) return start;
    }
  }

  /** The start of the next period. */
  #next(start: number): number {
    for (let day = start + 1; ; day += 1) if (this.#start(day) !== start) return day;
  }
}

/** How a trait's value reads; null for none. */
function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return [...text].slice(0, 256).join("");
}

/** By group, cohort and period. */
export function cellOrder(a: CountedCell, b: CountedCell): number {
  const [left, right] = [`${a.kind} ${a.value ?? ""}`, `${b.kind} ${b.value ?? ""}`];
  if (left !== right) return left < right ? -1 : 1;
  return a.cohortDay - b.cohortDay || a.period - b.period;
}
