/**
 * The week in sentences: what changed, by how much, whether that is more than weeks usually differ, and whom to call
 * first. Every word follows from figures that are handed in; what is not known is said to be not known. Pure.
 */
import { type JudgedChange, judgeChange, outageWeeks, type UsualChange } from "../scoring/scoring.ts";
import {
  change,
  count,
  counted,
  dayPart,
  joined,
  named,
  type Part,
  type Piece,
  partsOf,
  share,
} from "./sentence.ts";

/** Users of seven days. */
export interface WeekOfUsers {
  readonly active: number;
  readonly new: number;
  readonly resurrecting: number;
  readonly dormant: number;
}

/** Health of all users on one day; days in days since 1970-01-01. */
export interface HealthOfUsers {
  readonly day: number;
  readonly healthy: number;
  readonly watch: number;
  readonly atRisk: number;
  readonly onboarding: number;
  readonly withRisk: number;
  readonly expectedChurn: number | null;
}

export interface ToCall {
  readonly id: string;
  readonly label: string;
  /** Null for a user. */
  readonly members: number | null;
  readonly health: number | null;
  readonly risk: number | null;
  readonly change: number | null;
  readonly reason: string | null;
}

export interface WeekFigures {
  /** The last of the seven days. */
  readonly toDay: number;
  /** The oldest first; the last are the seven days. */
  readonly weeks: readonly WeekOfUsers[];
  readonly stoppedSince: number | null;
  /** Null before the first scores. */
  readonly scores: {
    readonly sinceDay: number | null;
    readonly horizonDays: number;
    readonly baseRate: number | null;
    readonly isProven: boolean;
    /** Whether any model is good enough to be shown. */
    readonly hasModel: boolean;
    /** Once a week, the oldest first. */
    readonly health: readonly HealthOfUsers[];
    readonly movement: readonly {
      readonly from: string | null;
      readonly to: string | null;
      readonly count: number;
    }[];
    readonly call: {
      readonly kind: "user" | "account";
      /** How many are at risk altogether. */
      readonly total: number;
      readonly first: readonly ToCall[];
    };
  } | null;
}

export interface Sentence {
  readonly about: "data" | "active" | "lifecycle" | "health" | "risk" | "call";
  readonly tone: "good" | "bad" | "neutral";
  readonly text: string;
  readonly parts: readonly Part[];
  readonly usual: UsualChange | null;
  readonly isUnusual: boolean | null;
}

type Scores = NonNullable<WeekFigures["scores"]>;

/** The sentences about a week, the weightiest first. */
export function weekSummary(figures: WeekFigures): Sentence[] {
  const covered = coveredWeeks(figures.weeks);
  if (covered.length === 0 && figures.weeks.every(({ active }) => active === 0)) {
    return [
      sentence("data", "neutral", [
        "No user did anything in the last half year, so there is nothing to say of the week.",
      ]),
    ];
  }
  return [
    ...(figures.stoppedSince === null ? [] : [stopped(figures.stoppedSince)]),
    ...aboutActivity(figures, covered),
    ...(figures.scores === null ? [notScored()] : aboutScores(figures.scores)),
  ];
}

/** Weeks that are wholly within the data, the newest first: the one in which it begins is cut off. */
function coveredWeeks(weeks: readonly WeekOfUsers[]): readonly WeekOfUsers[] {
  const first = weeks.findIndex(({ active }) => active > 0);
  return first < 0 ? [] : weeks.slice(first === 0 ? 0 : first + 1).toReversed();
}

function stopped(day: number): Sentence {
  return sentence("data", "bad", [
    "Far fewer users than usual are active since ",
    dayPart(day),
    ": probably a source has stopped sending. Look at that first; until it is mended the figures below say little.",
  ]);
}

function aboutActivity({ toDay, weeks }: WeekFigures, covered: readonly WeekOfUsers[]): Sentence[] {
  const now = weeks.at(-1);
  if (now === undefined) return [];
  const days: Piece = ["in the 7 days to ", dayPart(toDay)];
  if (covered.length < 2) {
    const are = now.active === 1 ? " was" : " were";
    return [
      sentence("active", "neutral", [
        [counted(now.active, "user"), `${are} active `, days],
        ". The data does not cover the 7 days before, so nothing can be compared yet.",
      ]),
    ];
  }
  const outages = outageWeeks(covered.map(({ active }) => active));
  const levels = (of: (week: WeekOfUsers) => number) =>
    covered.map((week, index) => (index > 1 && outages.has(index) ? null : of(week)));
  const active = judgeChange(levels((week) => week.active));
  const stayedAway = judgeChange(levels((week) => week.dormant));
  return [
    activeSentence(now.active, covered[1]?.active ?? 0, days, active),
    sentence(
      "lifecycle",
      toneOf(stayedAway, "below"),
      [
        [count(now.new), " of them were active for the first time and ", count(now.resurrecting)],
        [
          " came back after a week or more away. Of those of the week before, ",
          count(now.dormant),
          " stayed away",
        ],
        [awayTail(stayedAway), "."],
      ],
      stayedAway,
    ),
  ];
}

function activeSentence(
  now: number,
  before: number,
  days: Piece,
  judged: JudgedChange | undefined,
): Sentence {
  const difference = now - before;
  const compared: Piece =
    difference === 0
      ? ", as many as in the 7 days before"
      : [
          [
            ", ",
            count(Math.abs(difference)),
            difference > 0 ? " more" : " fewer",
            " than in the 7 days before",
          ],
          before === 0 ? "" : [" (", change(difference / before), ")"],
        ];
  return sentence(
    "active",
    toneOf(judged, "above"),
    [
      [counted(now, "user"), now === 1 ? " was" : " were", " active ", days, compared, ". "],
      judgedWords(judged),
    ],
    judged,
  );
}

const judgements = {
  below: "That is below what is usual from one week to the next.",
  within: "That is usual from one week to the next.",
  above: "That is above what is usual from one week to the next.",
} as const;

function judgedWords(judged: JudgedChange | undefined): string {
  const side = judged?.side;
  return side == null ? "There are too few weeks yet to say whether that is usual." : judgements[side];
}

/** What is usual is no news. @param good on which side of the usual the news is good */
function toneOf(judged: JudgedChange | undefined, good: "above" | "below"): Sentence["tone"] {
  if (judged?.side == null || judged.side === "within") return "neutral";
  return judged.side === good ? "good" : "bad";
}

/** Of those who stayed away, beside how many did so a week before. */
function awayTail(judged: JudgedChange | undefined): Piece {
  if (judged === undefined || judged.change === 0)
    return judged === undefined ? "" : ", as many as a week earlier";
  const by: Piece = [
    ", ",
    count(Math.abs(judged.change)),
    judged.change > 0 ? " more" : " fewer",
    " than a week earlier",
  ];
  if (judged.side === null) return by;
  return [by, judged.side === "within" ? ", which is usual" : `, which is ${judged.side} the usual`];
}

function notScored(): Sentence {
  return sentence("health", "neutral", [
    "Nobody has been scored yet, so nothing can be said of health, and of whom to call. Scores are worked out every night.",
  ]);
}

function aboutScores(scores: Scores): Sentence[] {
  const now = scores.health.at(-1);
  return [
    ...(now === undefined ? [] : [healthSentence(scores, now), riskSentence(scores, now)]),
    callSentence(scores),
  ];
}

/** Colours from worse to better; who is onboarding is neither. */
const ranks: Readonly<Record<string, number>> = { churned: 0, at_risk: 1, watch: 2, healthy: 3 };

function healthSentence({ health, movement, sinceDay }: Scores, now: HealthOfUsers): Sentence {
  const there = now.healthy + now.watch + now.atRisk + now.onboarding;
  const byWeek = new Map(health.map((each) => [Math.floor((now.day - each.day) / 7), each.atRisk]));
  const oldest = Math.max(...byWeek.keys());
  const judged = judgeChange(Array.from({ length: oldest + 1 }, (_, week) => byWeek.get(week) ?? null));
  return sentence(
    "health",
    toneOf(judged, "below"),
    [
      [
        count(now.atRisk),
        " of ",
        counted(there, "user"),
        now.atRisk === 1 || there === 1 ? " is" : " are",
        " at risk",
      ],
      atRiskCompared(judged),
      sinceDay === null ? "" : movedSince(movement, sinceDay),
    ],
    judged,
  );
}

function atRiskCompared(judged: JudgedChange | undefined): Piece {
  if (judged === undefined) return "; there are no scores of a week ago to compare with.";
  const { change: by } = judged;
  const compared: Piece =
    by === 0
      ? ", as many as a week ago. "
      : [", ", count(Math.abs(by)), by > 0 ? " more" : " fewer", " than a week ago. "];
  return [compared, judgedWords(judged)];
}

function movedSince(movement: Scores["movement"], sinceDay: number): Piece {
  const sum = (counts: (from: number, to: number) => boolean) =>
    movement.reduce((total, { from, to, count }) => {
      const [before, after] = [ranks[from ?? ""], ranks[to ?? ""]];
      return before !== undefined && after !== undefined && counts(before, after) ? total + count : total;
    }, 0);
  const fell = sum((before, after) => after < before && after > 0);
  const rose = sum((before, after) => after > before);
  const churned = movement
    .filter(({ from, to }) => from !== null && from !== "churned" && to === "churned")
    .reduce((total, each) => total + each.count, 0);
  return [
    [" Since ", dayPart(sinceDay), ", ", counted(fell, "user"), " fell to a worse colour, ", count(rose)],
    [" rose to a better one, and ", count(churned), " churned."],
  ];
}

function riskSentence({ horizonDays, baseRate, isProven, hasModel }: Scores, now: HealthOfUsers): Sentence {
  const { withRisk, expectedChurn } = now;
  if (expectedChurn === null || withRisk === 0) {
    return sentence("risk", "neutral", [
      hasModel
        ? "Nobody is there who could churn."
        : "No churn risk is shown, because no model was good enough in the back-test. The page Model says why.",
    ]);
  }
  const rounded = Math.round(expectedChurn);
  return sentence("risk", "neutral", [
    ["Of ", counted(withRisk, "user"), withRisk === 1 ? " who has" : " who have", " not churned, "],
    [
      rounded === 0 ? "fewer than one" : ["about ", count(rounded)],
      " (",
      share(expectedChurn / withRisk),
      ") ",
    ],
    `${rounded < 2 ? "is" : "are"} expected to do nothing for ${horizonDays} days`,
    baseRate === null ? "." : ["; in the back-test ", share(baseRate), " did."],
    isProven ? "" : " The model is not proven on this organization's data yet.",
  ]);
}

function callSentence({ call, sinceDay }: Scores): Sentence {
  const { kind, total } = call;
  const [first, ...rest] = call.first;
  if (first === undefined) {
    return sentence("call", "good", [`No ${kind} is at risk, so nobody has to be called first.`]);
  }
  const others = rest.length === 0 ? "" : [" Then ", joined(rest.map((each) => named(kind, each))), "."];
  const rule = kind === "account" ? "largest" : "ones whose health fell most";
  const known: Piece[] = [
    ...(first.members === null ? [] : [counted(first.members, "member")]),
    ...(first.health === null ? [] : [["health ", count(Math.round(first.health)), fallOf(first, sinceDay)]]),
    ...(first.risk === null ? [] : [["churn risk ", share(Math.round(first.risk * 100) / 100)]]),
  ];
  return sentence("call", "bad", [
    ["Call ", named(kind, first), " first: ", joined(known)],
    [first.reason === null ? "." : ` (${first.reason}).`, others],
    rest.length === 0
      ? total === 1
        ? ` It is the only ${kind} at risk.`
        : ""
      : [` They are the ${rule} of `, counted(total, `${kind} at risk`, `${kind}s at risk`), "."],
  ]);
}

/** Of a whole point and more; less is not told. */
function fallOf({ change: by }: ToCall, sinceDay: number | null): Piece {
  if (by === null || sinceDay === null || Math.abs(by) < 1) return "";
  const points = Math.round(Math.abs(by));
  const direction = by < 0 ? "less" : "more";
  return [", ", counted(points, `point ${direction}`, `points ${direction}`), " than on ", dayPart(sinceDay)];
}

function sentence(
  about: Sentence["about"],
  tone: Sentence["tone"],
  pieces: readonly Piece[],
  judged?: JudgedChange,
): Sentence {
  const parts = partsOf(...pieces);
  const text = parts.map((part) => part.text).join("");
  const isUnusual = judged?.side == null ? null : judged.side !== "within";
  return { about, tone, text, parts, usual: judged?.usual ?? null, isUnusual };
}
