/** The figures of an alert as text. */
import type { WorkOutcome } from "../../../contract/alerts/rules.ts";
import type { Reads } from "../../api/paths.ts";
import { counted, numbers } from "../../text/format.ts";
import type { Money } from "../../text/money.ts";

/** The outcomes of handled work in words. */
export const outcomeWords: Readonly<Record<WorkOutcome, string>> = {
  saved: "Saved",
  lost: "Lost",
  noAnswer: "No answer",
  wrongAlarm: "Wrong alarm",
  other: "Other",
};

/** An alert as the API answers it. */
export type Alert = Reads["/api/alerts"]["answer"]["alerts"][number];
type Rule = Reads["/api/alert-rules"]["answer"]["rules"][number];
type Kind = Rule["condition"]["kind"];

interface Figure {
  /** The word with which reasons name it. */
  readonly name: string;
  readonly text: (value: number | null) => string;
  /** The values in a sentence of their own. */
  readonly sentence?: (after: number, before: number | null) => string;
}

const risk: Figure = { name: "Churn risk", text: numbers.risk };
const health: Figure = { name: "Health", text: numbers.score };
const figures: Partial<Readonly<Record<Kind, Figure>>> = {
  riskBand: risk,
  riskUp: risk,
  healthBelow: health,
  healthDown: health,
  // Alerts of version 0.1.0 have this reason.
  usageDown: { name: "Volume of 28 days", text: numbers.count, sentence: usageSentence },
};

/** 58 actions in 28 days, 188 before (−69%) */
function usageSentence(after: number, before: number | null): string {
  const actions = `${counted(Math.round(after), "action")} in 28 days`;
  if (before === null) return actions;
  const change = before === 0 ? "" : ` (${numbers.wholeShareChange(after / before - 1)})`;
  return `${actions}, ${numbers.count(before)} before${change}`;
}

/** The values of an alert, and the reasons that do not repeat them. Without values if the rule has another
 * condition by now.
 * @param rule undefined until it is known */
export function figuresOf(
  { version, before, after, reasons }: Alert,
  rule: Rule | undefined,
): { readonly values: string | undefined; readonly reasons: readonly string[] } {
  const figure = rule?.version === version ? figures[rule.condition.kind] : undefined;
  if (figure === undefined || after === null) return { values: undefined, reasons };
  if (figure.sentence !== undefined) {
    return {
      values: figure.sentence(after, before),
      reasons: reasons.filter(
        (text) => !text.startsWith(figure.name) && !/^[\d,]+ actions? in 28 days/.test(text),
      ),
    };
  }
  const change = before === null ? figure.text(after) : `${figure.text(after)}, was ${figure.text(before)}`;
  return {
    values: `${figure.name} ${change}`,
    reasons: reasons.filter((text) => !text.startsWith(figure.name)),
  };
}

/** The figure by which alerts are ordered. Undefined for an alert without one. */
export function weightText(
  { expectedLoss, risk: share }: Alert,
  money: Money | undefined,
): string | undefined {
  if (expectedLoss !== null && money !== undefined) return `${money.short(expectedLoss)} expected loss`;
  return share === null ? undefined : `${numbers.risk(share)} churn risk`;
}

const closings: Readonly<Record<NonNullable<Alert["closedWhy"]>, string>> = {
  resolved: "Resolved",
  churned: "Churned",
  gone: "No members any more",
  excluded: "Excluded",
  ruleChanged: "Rule changed",
};

const verdicts: Readonly<Record<NonNullable<Alert["verdict"]>, string>> = {
  handled: "Handled",
  notUseful: "Not useful",
};

/** Why an alert closed. Undefined while it is open. */
export function closingText({ closedWhy }: Alert): string | undefined {
  return closedWhy === null ? undefined : closings[closedWhy];
}

/** The verdict and its author. Undefined without one. */
export function verdictText({ verdict, outcome, verdictBy }: Alert): string | undefined {
  if (verdict === null) return undefined;
  const said =
    outcome === null ? verdicts[verdict] : `${verdicts[verdict]}: ${outcomeWords[outcome].toLowerCase()}`;
  return verdictBy === null ? said : `${said}, by ${verdictBy.name}`;
}

/** The place of a page of alerts among all of them. */
export function placeText(total: number, offset: number, shown: number): string {
  const all = counted(total, "alert");
  return shown === 0 || shown === total
    ? all
    : `${numbers.count(offset + 1)} to ${numbers.count(offset + shown)} of ${all}`;
}
