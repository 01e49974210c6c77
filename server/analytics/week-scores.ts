/** What scores say of a week: health and its movement, churn risk, and whom to call first. Pure. */
import { type JudgedChange, judgeChange } from "../scoring/scoring.ts";
import { count, counted, dayPart, joined, named, type Piece, share } from "./sentence.ts";
import { judgedWords, type Sentence, sentence, toneOf } from "./week-sentence.ts";

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

/** Scores of the newest day, and of a week before. */
export interface ScoresOfWeek {
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
  readonly call: ToCallFirst;
}

export interface ToCallFirst {
  readonly kind: "user" | "account";
  /** `atRisk`: the largest accounts at risk, or the users at risk whose health fell most. `highRisk`: the users with
   * the highest churn risk, because nobody is at risk by health. */
  readonly by: "atRisk" | "highRisk";
  /** Whether accounts have scores, too. */
  readonly hasAccounts: boolean;
  /** How many there are altogether. */
  readonly total: number;
  readonly first: readonly ToCall[];
}

/** What is said before the first scores. */
export function notScored(): Sentence {
  return sentence("health", "neutral", [
    "Nobody has been scored yet, so nothing can be said of health, and of whom to call. Scores are worked out every night.",
  ]);
}

/** Health, churn risk, and whom to call first. */
export function aboutScores(scores: ScoresOfWeek): Sentence[] {
  const now = scores.health.at(-1);
  return [
    ...(now === undefined ? [] : [healthSentence(scores, now), riskSentence(scores, now)]),
    callSentence(scores),
  ];
}

/** Colours from worse to better; who is onboarding is neither. */
const ranks: Readonly<Record<string, number>> = { churned: 0, at_risk: 1, watch: 2, healthy: 3 };

function healthSentence({ health, movement, sinceDay }: ScoresOfWeek, now: HealthOfUsers): Sentence {
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

function movedSince(movement: ScoresOfWeek["movement"], sinceDay: number): Piece {
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

function riskSentence(
  { horizonDays, baseRate, isProven, hasModel }: ScoresOfWeek,
  now: HealthOfUsers,
): Sentence {
  const { withRisk, expectedChurn } = now;
  if (expectedChurn === null || withRisk === 0) {
    return sentence("risk", "neutral", [
      hasModel
        ? "Nobody is there who could churn."
        : "No churn risk is shown, because no model was good enough when it was tried on past days. The page Model says why.",
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
    baseRate === null ? "." : ["; usually ", share(baseRate), " do (by the back-test)."],
    isProven ? "" : " The model is not proven on this organization's data yet.",
  ]);
}

/** Why not accounts are to be called, or not users at risk; null when it is them, or nobody. */
export function callNote({ kind, by, hasAccounts, first }: ToCallFirst): string | null {
  if (kind === "account" || first.length === 0) return null;
  const nobody = hasAccounts ? "No account is at risk" : "No user is at risk";
  if (by === "highRisk") return `${nobody}, but the churn risk of some users is high.`;
  return hasAccounts ? `${nobody}, but users are.` : null;
}

function callSentence({ call, sinceDay }: ScoresOfWeek): Sentence {
  const { kind, hasAccounts } = call;
  const [first, ...rest] = call.first;
  if (first === undefined) {
    const nobody = hasAccounts ? "No account and no user is at risk" : `No ${kind} is at risk`;
    return sentence("call", "good", [`${nobody}, so nobody has to be called first.`]);
  }
  const note = callNote(call);
  const others = rest.length === 0 ? "" : [" Then ", joined(rest.map((each) => named(kind, each))), "."];
  const known: Piece[] = [
    ...(first.members === null ? [] : [counted(first.members, "member")]),
    ...(first.health === null ? [] : [["health ", count(Math.floor(first.health)), fallOf(first, sinceDay)]]),
    ...(first.risk === null ? [] : [["churn risk ", share(wholePercent(first.risk))]]),
  ];
  return sentence("call", "bad", [
    note === null ? "" : `${note} `,
    ["Call ", named(kind, first), " first: ", joined(known)],
    [first.reason === null ? "." : ` (${first.reason}).`, others],
    ruleOf(call),
  ]);
}

/** Who those are that are named, of how many. */
function ruleOf({ kind, by, total, first }: ToCallFirst): Piece {
  const [one, several] =
    by === "atRisk"
      ? [`${kind} at risk`, `${kind}s at risk`]
      : ["user with a high churn risk", "users whose churn risk is high"];
  if (first.length === 1) return total === 1 ? ` It is the only ${one}.` : "";
  const fallen = by === "atRisk" ? "ones whose health fell most" : "ones with the highest churn risk";
  return [` They are the ${kind === "account" ? "largest" : fallen} of `, counted(total, one, several), "."];
}

/** A risk in whole percent, rounded down as the pages do: 49.6 % is of the band below 50 %. With 14 digits, because
 * 100 × 0.29 is 28.999999999999996. */
function wholePercent(risk: number): number {
  return Math.floor(Number((risk * 100).toPrecision(14))) / 100;
}

/** Of a whole point and more; less is not told. */
function fallOf({ change: by }: ToCall, sinceDay: number | null): Piece {
  if (by === null || sinceDay === null || Math.abs(by) < 1) return "";
  const points = Math.round(Math.abs(by));
  const direction = by < 0 ? "less" : "more";
  return [", ", counted(points, `point ${direction}`, `points ${direction}`), " than on ", dayPart(sinceDay)];
}
