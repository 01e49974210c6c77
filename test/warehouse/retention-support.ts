/** Random histories of users for tests of retention, and the questions that are asked of them. */
import type { Facts, Word } from "../../bench/history/retention-recount.ts";
import type { Entry, RetentionQuestion, Split } from "../../server/analytics/retention/retention-question.ts";
import { msPerDay, Zone } from "../../server/calendar/zone.ts";
import type { Random } from "../../simulation/random.ts";

const hourMs = 3_600_000;
const eventNames = ["opened", "saved", 'it\'s-"sent"\\'] as const;

export interface HistoryShape {
  readonly timezone: string;
  readonly users: number;
  /** The last day of the history. */
  readonly today: number;
  readonly days: number;
  /** Whether the values of traits are many, so that some stand together. */
  readonly manyValues?: boolean;
  /** Whether users also leave their account. */
  readonly leaving?: boolean;
}

const plans = ["free", "pro", "Ünï \"q\" 'ß'", "", "enterprise"];
const customs: readonly unknown[] = [
  1,
  2.5,
  true,
  false,
  null,
  "1",
  ["a"],
  { b: "c" },
  "x".repeat(300),
  "\\N",
];

/** Random data of some users: their events and traits, at any time and in any order. */
export function randomFacts(random: Random, shape: HistoryShape): Facts {
  const { timezone, users, today, days } = shape;
  const zone = new Zone(timezone);
  const anyMs = (from: number, to: number) => {
    const day = random.between(from, to);
    // At a day's edges most of all: there a wrong timezone shows.
    const startMs = zone.startOfDay(day);
    return random.pick([startMs, startMs + 1, startMs + 13 * hourMs, zone.startOfDay(day + 1) - 1]);
  };
  const events: { user: number; event: string; timeMs: number }[] = [];
  const words: Word[] = [];
  const owners = new Set<number>();
  const excluded = new Set<number>();
  for (let user = 1; user <= users; user += 1) {
    const from = today - random.between(0, days);
    const until = Math.min(today, from + random.between(0, days));
    const count = random.chance(0.08) ? 0 : random.between(1, 14);
    for (let n = 0; n < count; n += 1) {
      events.push({ user, event: random.pick(eventNames), timeMs: anyMs(from, until) });
    }
    words.push(...randomWords(random, user, () => anyMs(from - 20, until), shape));
    if (random.chance(0.2)) owners.add(user);
    if (random.chance(0.1)) excluded.add(user);
  }
  const accounts = new Map(
    [1, 2, 3, 4].map((number) => [number, { id: `a-${number}`, name: `Söhne ${number}` }]),
  );
  const known = Array.from({ length: users }, (_, index) => index + 1);
  return { timezone, users: known, events, words: shuffled(random, words), owners, accounts, excluded };
}

/** Each value of a trait is sent once for a user, and never two values at one instant. */
function randomWords(
  random: Random,
  user: number,
  anyMs: () => number,
  { manyValues, leaving, today }: HistoryShape,
): Word[] {
  const planValues = shuffled(random, manyValues ? Array.from({ length: 40 }, (_, n) => `plan ${n}`) : plans);
  const customValues = shuffled(random, customs);
  const accounts = shuffled(random, leaving ? [0, 1, 2, 3, 4] : [1, 2, 3, 4]);
  const times = new Set(Array.from({ length: random.between(1, 5) }, anyMs));
  return [...times].map((atMs, n) => {
    const account = random.chance(0.5) ? accounts.pop() : undefined;
    return {
      user,
      atMs,
      traits: {
        unique: `${user} ${n}`,
        ...(random.chance(0.6) && { plan: planValues.pop() }),
        ...(random.chance(0.5) && { 'cus"tom': customValues.pop() }),
        ...(n === 0 && signUpTraits(random, today)),
      },
      ...(account !== undefined && { account }),
    };
  });
}

function signUpTraits(random: Random, today: number): Record<string, unknown> {
  const date = new Date(
    (today - random.between(0, 90)) * msPerDay + random.between(0, 86_399) * 1_000,
  ).toISOString();
  const offset = random.pick(["Z", "z", "+05:30", "-03:00"]);
  const texts: unknown[] = [
    date.slice(0, 10),
    date.slice(0, 19) + offset,
    `${date.slice(0, 10)}t${date.slice(11, 19)}.123456${offset}`,
    `${date.slice(0, 10)}T23:59:60Z`,
    `${date.slice(0, 10)}T12:59:60Z`,
    date.slice(0, 19),
    "2026-02-30",
    "2025-02-29T10:00:00Z",
    "2026-03-01T24:00:00Z",
    "2026-03-01T10:60:00Z",
    "2026-03-01T10:00:61Z",
    "2026-03-01T10:00:00+24:00",
    "2026-03-01T10:00:00-05:60",
    "1969-12-31",
    "2300-01-01",
    "yesterday",
    1_760_000_000,
    null,
  ];
  const traits: Record<string, unknown> = {};
  for (const trait of ["createdAt", "created_at", "signedUpAt"]) {
    if (random.chance(0.4)) traits[trait] = random.pick(texts);
  }
  return traits;
}

export function shuffled<Value>(random: Random, values: readonly Value[]): Value[] {
  return values
    .map((value) => ({ value, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

/** Weekly retention from the first event, of the weeks until a day. */
export function weekly(organization: number, weeks: number, today: number): RetentionQuestion {
  return {
    organization,
    entry: { kind: "firstEvent" },
    returnEvent: null,
    passiveEvents: [],
    horizonDays: 28,
    period: { name: "week", weekStart: 1 },
    measure: "in",
    split: null,
    fromDay: today - 7 * (weeks - 1),
    toDay: today,
    periods: weeks,
    today,
    transitions: [],
  };
}

/** The chosen parts of a question about retention. */
export type Combination = Pick<RetentionQuestion, "entry" | "returnEvent" | "measure" | "split" | "period">;

const entries: readonly Entry[] = [
  { kind: "firstEvent" },
  { kind: "signUp" },
  { kind: "event", event: eventNames[1] },
  { kind: "event", event: eventNames[2] },
];
const returnEvents = [null, eventNames[0], eventNames[2]] as const;
const measures = ["in", "inOrAfter"] as const;
const splits: readonly (Split | null)[] = [
  null,
  ...(["entry", "now"] as const).flatMap((asOf): readonly Split[] => [
    ...["plan", 'cus"tom', "never said"].map((trait) => ({ trait, of: "user", asOf }) as const),
    ...["plan", 'cus"tom', "id", "name"].map((trait) => ({ trait, of: "account", asOf }) as const),
  ]),
];
const periods = [
  { name: "day", weekStart: 1 },
  { name: "week", weekStart: 1 },
  { name: "week", weekStart: 7 },
  { name: "month", weekStart: 1 },
] as const;

/** Every way to enter, to return, to measure and to split, as a list of 1,440. */
export function combinations(): Combination[] {
  return entries.flatMap((entry) =>
    returnEvents.flatMap((returnEvent) =>
      measures.flatMap((measure) =>
        splits.flatMap((split) => periods.map((period) => ({ entry, returnEvent, measure, split, period }))),
      ),
    ),
  );
}

/**
 * 60 different combinations. Each entry is with each return event in five of them, each split in four, each
 * period in 15 and each measure in 30.
 */
export function sampledCombinations(random: Random): Combination[] {
  const [split, period, measure] = [deal(random, splits), deal(random, periods), deal(random, measures)];
  const ways = entries.flatMap((entry) => returnEvents.map((returnEvent) => ({ entry, returnEvent })));
  // 5 divides the number of splits, so the five of one way have different ones.
  return ways.flatMap(({ entry, returnEvent }) =>
    Array.from({ length: 5 }, () => ({
      entry,
      returnEvent,
      measure: measure(),
      split: split(),
      period: period(),
    })),
  );
}

/** Gives the values in a random order, and in another one when all were given. */
function deal<Value>(random: Random, values: readonly Value[]): () => Value {
  let left: Value[] = [];
  return () => {
    if (left.length === 0) left = shuffled(random, values);
    const [next] = left.splice(0, 1) as [Value];
    return next;
  };
}

/** Fills a question up with days that suit its period. */
export function questionAbout(
  random: Random,
  combination: Combination,
  { timezone, today, days }: HistoryShape,
  organization: number,
): RetentionQuestion {
  const longest = combination.period.name === "day" ? 25 : days;
  const fromDay = today - random.between(0, longest);
  return {
    ...combination,
    organization,
    fromDay,
    toDay: random.chance(0.5) ? today : random.between(fromDay, Math.min(today, fromDay + longest)),
    periods: random.chance(0.5) ? 30 : random.between(1, 5),
    today,
    passiveEvents: random.pick([[], [eventNames[0]], [eventNames[1], "never sent"], eventNames]),
    horizonDays: random.pick([7, 28]),
    transitions: new Zone(timezone).transitions,
  };
}
