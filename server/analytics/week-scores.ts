/** The week's sentences about scores: health and its change, churn risk, and the call list. Pure. */
import { formatDay } from "../calendar/days.ts";
import { type JudgedChange, judgeChange } from "../scoring/statistics/usual.ts";
import {
  count,
  counted,
  dayPart,
  joined,
  type ListBehind,
  named,
  type Piece,
  share,
  usersBehind,
} from "./sentence.ts";
import { judgedWords, type Sentence, sentence, toneOf } from "./week-sentence.ts";

/** Health of all users on one day; days in days since 1970-01-01. */
export interface HealthOfUsers {
  readonly day: number;
  readonly healthy: number;
  readonly watch: number;
  readonly atRisk: number;
  readonly onboarding: number;
  /** Idle for the churn horizon and not churned, by a declared churn target. */
  readonly inactive: number;
  readonly withRisk: number;
  readonly expectedChurn: number | null;
}

/** The first of the call list. */
export interface ToCall {
  readonly kind: "user" | "account";
  readonly id: string;
  readonly label: string;
  /** Why, in one sentence without its full stop. */
  readonly reason: string;
}

/** Scores of the newest day, and of a week before. */
export interface ScoresOfWeek {
  readonly sinceDay: number | null;
  readonly horizonDays: number;
  readonly baseRate: number | null;
  readonly isProven: boolean;
  /** Whether any model is good enough to be shown. */
  readonly hasModel: boolean;
  /** Whether there is none because there is too little data for one. */
  readonly lacksData: boolean;
  /** Once a week, the oldest first. */
  readonly health: readonly HealthOfUsers[];
  readonly movement: readonly {
    readonly from: string | null;
    readonly to: string | null;
    readonly count: number;
    /** Of them: moved by another model, scale or other settings alone. */
    readonly byRules: number;
  }[];
  readonly call: ToCallFirst;
}

export interface ToCallFirst {
  /** Whether accounts have scores, too, and can be on the list. */
  readonly hasAccounts: boolean;
  readonly first: readonly ToCall[];
}

/** The sentence before the first scores. */
export function notScored(): Sentence {
  return sentence("health", "neutral", [
    "There are no scores yet. Users and accounts are scored every night.",
  ]);
}

/** Users who were active in the week before and not in this one. */
export interface StoppedUsers {
  readonly users: number;
  readonly list: ListBehind;
}

/** Health, churn risk and the call list. @param isOfSegment whether they are those of a segment's users */
export function aboutScores(
  scores: ScoresOfWeek,
  { isOfSegment, stopped }: { readonly isOfSegment: boolean; readonly stopped: StoppedUsers },
): Sentence[] {
  const now = scores.health.at(-1);
  const call = callSentence(scores, stopped);
  if (now !== undefined) return [healthSentence(scores, now), riskSentence(scores, now), call];
  const none = sentence("health", "neutral", ["No user of the segment has scores."]);
  return [...(isOfSegment ? [none] : []), call];
}

/** Health bands from worse to better; onboarding is neither. */
const ranks: Readonly<Record<string, number>> = { at_risk: 1, watch: 2, healthy: 3 };

function healthSentence(
  { health, movement, sinceDay, horizonDays }: ScoresOfWeek,
  now: HealthOfUsers,
): Sentence {
  const there = now.healthy + now.watch + now.atRisk + now.onboarding;
  const byWeek = new Map(health.map((each) => [Math.floor((now.day - each.day) / 7), each.atRisk]));
  const oldest = Math.max(...byWeek.keys());
  // The weeks before as they would have been by the rules of now: another model is no news about users.
  const byRules = movement.reduce(
    (sum, each) => sum + (Number(each.to === "at_risk") - Number(each.from === "at_risk")) * each.byRules,
    0,
  );
  const judged = judgeChange(
    Array.from({ length: oldest + 1 }, (_, week) => {
      const atRisk = byWeek.get(week) ?? null;
      return atRisk === null || week === 0 ? atRisk : atRisk + byRules;
    }),
  );
  return sentence(
    "health",
    toneOf(judged, "below"),
    [
      [
        count(now.atRisk, usersBehind({ healthBand: "at_risk" })),
        " of ",
        counted(there, "user", usersBehind({ isPresent: "true" })),
        " at risk",
        // In its first weeks a company would read "0 of 50 at risk", and nearly all of them cannot be.
        2 * now.onboarding > there
          ? [", ", count(now.onboarding, usersBehind({ healthBand: "onboarding" })), " too new to judge"]
          : "",
      ],
      atRiskCompared(judged),
      sinceDay === null ? "" : movedSince(movement, sinceDay),
      inactiveWords(now.inactive, horizonDays),
    ],
    judged,
  );
}

function atRiskCompared(judged: JudgedChange | undefined): Piece {
  if (judged === undefined) return ". No scores of a week ago.";
  const { change: by } = judged;
  const compared: Piece =
    by === 0
      ? ", as many as a week ago. "
      : [", ", count(Math.abs(by)), by > 0 ? " more" : " fewer", " than a week ago. "];
  return [compared, judgedWords(judged)];
}

function movedSince(movement: ScoresOfWeek["movement"], sinceDay: number): Piece {
  const sum = (counts: (from: string | null, to: string | null) => boolean) =>
    movement.reduce(
      (total, { from, to, count, byRules }) => (counts(from, to) ? total + count - byRules : total),
      0,
    );
  const better = (from: string | null, to: string | null) => {
    const [before, after] = [ranks[from ?? ""], ranks[to ?? ""]];
    return before !== undefined && after !== undefined && after > before;
  };
  const isThere = (healthBand: string | null) =>
    healthBand !== null && healthBand !== "churned" && healthBand !== "none";
  const moved = (value: number, way: string) =>
    count(value, usersBehind({ moved: way, since: formatDay(sinceDay) }));
  const worse = sum((from, to) => better(to, from));
  const left = sum((from, to) => from !== null && from !== "churned" && to === "churned");
  const back = sum((from, to) => from === "churned" && isThere(to));
  return [
    [" Since ", dayPart(sinceDay), ": ", moved(worse, "worse"), " worse, "],
    [moved(sum(better), "better"), " better, "],
    [moved(left, "churned"), " churned, ", moved(back, "returned"), " returned."],
  ];
}

/** With a declared churn target "churned" alone would hide those that only stopped. */
function inactiveWords(inactive: number, horizonDays: number): Piece {
  if (inactive === 0) return "";
  const users = counted(inactive, "user", usersBehind({ state: "inactive" }));
  return [" ", users, ` silent for ${horizonDays} days and not churned.`];
}

function riskSentence(
  { horizonDays, baseRate, isProven, hasModel, lacksData }: ScoresOfWeek,
  now: HealthOfUsers,
): Sentence {
  const { withRisk, expectedChurn } = now;
  if (expectedChurn === null || withRisk === 0) {
    return sentence("risk", "neutral", [
      hasModel
        ? "There are no users who can churn."
        : lacksData
          ? "Too little data for a churn risk: users are ordered by activity."
          : "No churn risk is shown: no model is good enough yet. The page Model has the reasons.",
    ]);
  }
  const rounded = Math.round(expectedChurn);
  const there = now.healthy + now.watch + now.atRisk + now.onboarding;
  const list = withRisk === there ? usersBehind({ isPresent: "true" }) : undefined;
  return sentence("risk", "neutral", [
    [rounded === 0 ? "Fewer than one" : ["About ", count(rounded)], " of ", counted(withRisk, "user", list)],
    [" (", share(expectedChurn / withRisk), `) will leave in the next ${horizonDays} days.`],
    baseRate === null ? "" : [" Usual: ", share(baseRate), "."],
    isProven ? "" : " The model is not proven on your data.",
  ]);
}

const rule = "a high churn risk or a sharp fall in health";

function callSentence(
  { call: { hasAccounts, first: called }, hasModel, sinceDay }: ScoresOfWeek,
  stopped: StoppedUsers,
): Sentence {
  const [first, ...rest] = called;
  // Without risks, or without scores of a week ago, nobody can be on the list: that is no good news.
  if (first === undefined && (!hasModel || sinceDay === null)) {
    const { users, list } = stopped;
    const have = users === 1 ? "has" : "have";
    return sentence("call", "neutral", [counted(users, "user", list), ` ${have} not come this week.`]);
  }
  if (first === undefined) {
    return sentence("call", "good", [`No ${hasAccounts ? "account and no user" : "user"} has ${rule}.`]);
  }
  const others = rest.length === 0 ? "" : [" Then ", joined(rest.map((each) => named(each.kind, each))), "."];
  return sentence("call", "bad", ["Call ", named(first.kind, first), ` first: ${first.reason}.`, others]);
}
