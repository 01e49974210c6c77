/** The week's sentences about scores: health and its change, churn risk, and the call list. Pure. */
import { formatDay } from "../../calendar/calendar.ts";
import {
  callMemberDays,
  type JudgedChange,
  judgeChange,
  type RiskBand,
  sharpFallPoints,
} from "../../scoring/scoring.ts";
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

export interface ToCall {
  readonly id: string;
  readonly label: string;
  /** Members who were active in the last 90 days; null for a user. */
  readonly members: number | null;
  readonly health: number | null;
  readonly risk: number | null;
  readonly riskBand: RiskBand | null;
  readonly ratioToBaseRate: number | null;
  /** Of health within a week. */
  readonly change: number | null;
  /** The main reason of the churn risk, as words. */
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
  /** Whether there is none because there is too little data for one. */
  readonly lacksData: boolean;
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
  /** Users for the call list when it has no accounts. */
  readonly kind: "user" | "account";
  /** Whether accounts have scores, too. */
  readonly hasAccounts: boolean;
  /** Whether it is of a segment of users, which no account is in. */
  readonly isOfUsers: boolean;
  /** How many there are altogether. */
  readonly total: number;
  /** The day at whose start the scores were computed. */
  readonly day: number;
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
  const judged = judgeChange(Array.from({ length: oldest + 1 }, (_, week) => byWeek.get(week) ?? null));
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
    movement.reduce((total, { from, to, count }) => (counts(from, to) ? total + count : total), 0);
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

/** Explains why the call list falls back to users; null otherwise. */
export function callNote({ kind, hasAccounts, isOfUsers, first }: ToCallFirst): string | null {
  if (isOfUsers) return first.length > 0 ? "A segment of users has no accounts, only users." : null;
  return kind === "user" && hasAccounts && first.length > 0
    ? "The call list has no accounts, only users."
    : null;
}

/** The reason for a call: 12 members, 52% likely to leave; usually active daily, silent for 11 days. */
export function callReason({ id, members, risk, change: by, reason }: ToCall, day: number): Piece {
  const list: ListBehind = usersBehind({
    ...{ activeInAccount: id, activeFrom: formatDay(day - callMemberDays), activeTo: formatDay(day - 1) },
  });
  const size: Piece[] = members === null ? [] : [counted(members, "member", list)];
  const likely: Piece[] = risk === null ? [] : [[share(wholePercent(risk)), " likely to leave"]];
  const isSharp = by !== null && by <= -sharpFallPoints;
  const fall: Piece[] = isSharp ? [["health fell ", count(Math.round(-by)), " points in a week"]] : [];
  const lead = [...size, ...likely].flatMap((piece, index) => (index === 0 ? [piece] : [", ", piece]));
  const rest = [...fall, ...(reason === null ? [] : [reason])];
  return [lead, rest.map((piece, index) => [index === 0 && lead.length === 0 ? "" : "; ", piece])];
}

/** The complete call list. */
function listOfCalls({ kind }: Pick<ToCallFirst, "kind">): ListBehind {
  return { page: kind === "user" ? "users" : "accounts", query: { toCall: "true", sort: "risk" } };
}

const rule = "a high churn risk or a sharp fall in health";

function callSentence({ call, hasModel, sinceDay }: ScoresOfWeek, stopped: StoppedUsers): Sentence {
  const { kind, hasAccounts, total, day } = call;
  const [first, ...rest] = call.first;
  // Without risks, or without scores of a week ago, nobody can be on the list: that is no good news.
  if (first === undefined && (!hasModel || sinceDay === null)) {
    const { users, list } = stopped;
    const have = users === 1 ? "has" : "have";
    return sentence("call", "neutral", [counted(users, "user", list), ` ${have} not come this week.`]);
  }
  if (first === undefined) {
    return sentence("call", "good", [`No ${hasAccounts ? "account and no user" : kind} has ${rule}.`]);
  }
  const note = callNote(call);
  const others = rest.length === 0 ? "" : [" Then ", joined(rest.map((each) => named(kind, each))), "."];
  const list = listOfCalls(call);
  return sentence("call", "bad", [
    note === null ? "" : `${note} `,
    ["Call ", named(kind, first), " first: ", callReason(first, day), ".", others],
    total === 1
      ? ` It is the only ${kind} with ${rule}.`
      : [" They come first of ", counted(total, kind, list), ` with ${rule}.`],
  ]);
}

/** A risk in whole percent, rounded down as the pages do: 49.6 % is below a limit of 50 %. With 14 digits, because
 * 100 × 0.29 is 28.999999999999996. */
function wholePercent(risk: number): number {
  return Math.floor(Number((risk * 100).toPrecision(14))) / 100;
}
