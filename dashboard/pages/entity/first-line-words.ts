/** The first line of a page about a user or an account: what is wrong, since when, and what was done last.
 * Pure. */
import type { Reads } from "../../api/paths.ts";
import { dayText, numbers, todayIn } from "../../text/format.ts";
import { churnText, reasonLabel, type Score } from "./score-text.ts";

type HistoryDay = Reads["/api/users/:userId/score/history"]["answer"]["days"][number];

/** What the team did: a contact, a note, a task that is done. */
export interface Done {
  readonly what: string;
  /** When, as an instant. */
  readonly at: string;
  /** The team member, where it is known. */
  readonly by: string | null;
}

export interface FirstLine {
  /** What is wrong; null without scores. */
  readonly wrong: string | null;
  readonly isBad: boolean;
  readonly done: string;
}

interface Known {
  readonly score: Score;
  /** The oldest first. */
  readonly days: readonly HistoryDay[];
  readonly done: readonly Done[];
  readonly timezone: string;
  readonly what: "user" | "account";
}

/** What is wrong and since when, and what was done last. */
export function firstLine(known: Known): FirstLine {
  const wrong = wrongWords(known);
  return { wrong, isBad: isBad(known.score), done: doneWords(known) };
}

function isBad({ verdict, state, health }: Score): boolean {
  const bad: readonly Score["verdict"][] = ["churned", "account_churned", "high_risk", "at_risk", "watch"];
  return bad.includes(verdict) || state === "canceling" || health.capReasons.includes("payment_failed");
}

function wrongWords({ score, days, timezone, what }: Known): string | null {
  const { verdict, state, health, endsAt } = score;
  if (verdict === "no_score") return null;
  if (verdict === "churned") return churnText(score) ?? "Churned";
  if (verdict === "account_churned") return "The account has churned";
  const ends =
    state === "canceling" && endsAt !== null
      ? [`Cancels on ${dayText(todayIn(timezone, Date.parse(endsAt)))}`]
      : [];
  const overdue = health.capReasons.includes("payment_failed") ? ["A payment is overdue"] : [];
  const known = [...ends, ...overdue];
  const judged = bandWords[verdict];
  if (judged === undefined) {
    if (known.length > 0) return known.join(". ");
    return verdict === "new" ? `New: too little is known of this ${what}` : "Nothing is wrong";
  }
  const why = reasonOf(score);
  const since = sinceWords(score, days);
  return [...known, `${judged}${since}${why === undefined ? "" : `: ${why}`}`].join(". ");
}

const bandWords: Readonly<Partial<Record<Score["verdict"], string>>> = {
  high_risk: "High churn risk",
  at_risk: "At risk",
  watch: "Watch",
};

/** The weightiest reason that raises the risk; the change of health where no risk is known. */
function reasonOf({ risk, change }: Score): string | undefined {
  const [first] = (risk?.reasons ?? [])
    .filter(({ points, group }) => points >= 1 && group !== "other")
    .toSorted((a, b) => b.points - a.points);
  if (first !== undefined) {
    const label = reasonLabel(first.text);
    return `${label.charAt(0).toLowerCase()}${label.slice(1)}`;
  }
  const { text = null, health = null } = change ?? {};
  if (text === null || health === null) return undefined;
  if (health.total >= 0) return /silent for \d+ days?/.exec(text)?.[0];
  return text.slice(text.indexOf(": ") + 2).replace(/\.$/, "");
}

/** Since when the verdict holds, by the stored days. */
function sinceWords({ verdict, model }: Score, days: readonly HistoryDay[]): string {
  const [medium, high] = [model?.riskLimits.medium ?? 1, model?.riskLimits.high ?? 1];
  const isHigh = ({ risk }: HistoryDay) => risk !== null && risk >= high;
  const held: Readonly<Partial<Record<Score["verdict"], (day: HistoryDay) => boolean>>> = {
    high_risk: isHigh,
    at_risk: ({ healthBand }) => healthBand === "at_risk",
    watch: (day) => !isHigh(day) && (day.healthBand === "watch" || (day.risk !== null && day.risk >= medium)),
  };
  const holds = held[verdict];
  if (holds === undefined) return "";
  const last = days.findLastIndex((day) => !holds(day));
  const first = days[last + 1];
  if (first === undefined) return "";
  // Before the first stored day nothing is known.
  return last < 0 ? ` since ${dayText(first.day)} or longer` : ` since ${dayText(first.day)}`;
}

function doneWords({ done, timezone }: Pick<Known, "done" | "timezone">): string {
  const [last] = done.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  if (last === undefined) return "Nothing was done yet";
  const by = last.by === null ? "" : ` by ${last.by}`;
  return `Last done: ${last.what} on ${dayText(todayIn(timezone, Date.parse(last.at)))}${by}`;
}

/** The share of members, of those active in 90 days: the denominator of engagement, and of all sentences
 * about members. */
export function membersText({ active28, active90 }: { active28: number; active90: number }): string {
  return `${numbers.count(active28)} of ${numbers.count(active90)}`;
}
