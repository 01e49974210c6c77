/** An alert rule while it is edited: numbers are texts, as they are typed. */
import {
  fieldsOfCondition,
  isOpportunity,
  moments,
  type RuleCondition,
  type RuleTemplate,
  type RuleTime,
  ruleLimits,
} from "../../../contract/alerts/rules.ts";
import type { Changes, Reads } from "../../api/paths.ts";

export type Rule = Reads["/api/alert-rules"]["answer"]["rules"][number];
type Body = Changes["POST /api/alert-rules"]["body"];
export type Kind = RuleCondition["kind"];
type Field = Exclude<keyof Body["condition"], "kind">;

/** The fields of the condition's form, for all kinds together. */
type Fields = Readonly<Record<Field, string>>;

export interface Draft extends Fields {
  readonly name: string;
  readonly scope: "users" | "accounts";
  /** The id of the segment of the scope. Empty for all users or accounts. */
  readonly scopeSegment: string;
  readonly kind: Kind;
  /** Empty: the cooldown is the churn horizon. */
  readonly cooldownDays: string;
  readonly cap: string;
  readonly when: RuleTime;
  readonly destinations: readonly number[];
  /** The share of the hold-out, in per cent. */
  readonly holdOut: string;
  /** Null exempts no MRR. Without an MRR a hold-out that begins has the default. */
  readonly exemptions: NonNullable<Body["exemptions"]>;
  readonly steps: readonly DraftStep[];
  readonly includeCurrent: boolean;
}

/** A step while it is edited. */
export interface DraftStep {
  readonly kind: "task" | "message";
  readonly afterDays: string;
  readonly title: string;
  /** Empty: no due day. */
  readonly dueDays: string;
  /** The id of a team member. Empty: the owner. */
  readonly assignee: string;
}

/** A new step: a task with the alert, or a message a week later. */
export function blankStep(kind: DraftStep["kind"]): DraftStep {
  return { kind, afterDays: kind === "task" ? "0" : "7", title: "", dueDays: "", assignee: "" };
}

const initial: Fields = {
  band: "high",
  below: "40",
  by: "10",
  days: "14",
  state: "inactive",
  segment: "",
  event: "",
  percent: "50",
  minSeats: String(ruleLimits.defaultMinSeats),
  atMost: "2",
  source: "",
};

/** A blank rule. */
export const blank: Draft = {
  ...initial,
  name: "",
  scope: "accounts",
  scopeSegment: "",
  kind: "riskBand",
  cooldownDays: "",
  cap: String(ruleLimits.defaultCap),
  when: "08:00",
  destinations: [],
  holdOut: "0",
  exemptions: {},
  steps: [],
  includeCurrent: false,
};

/** The draft with the name, the scope and the condition of a template. */
export function ofTemplate(draft: Draft, { name, scope, condition }: RuleTemplate): Draft {
  return {
    ...draft,
    ...initial,
    ...withoutSegments(draft),
    name,
    scope: scope.kind,
    ...typedCondition(condition),
  };
}

/** The change of a draft that takes another scope: segments are of users or of accounts. */
export function withoutSegments({ exemptions: { segment, ...exemptions } }: Draft): Partial<Draft> {
  return { scopeSegment: "", segment: "", exemptions };
}

/** The draft of a saved rule. */
export function ofRule(rule: Rule): Draft {
  const { name, scope, condition, cooldownDays, cap, when, destinations, holdOutShare } = rule;
  return {
    ...initial,
    name,
    scope: scope.kind,
    scopeSegment: scope.segment === undefined ? "" : String(scope.segment),
    ...typedCondition(condition),
    cooldownDays: cooldownDays === null ? "" : String(cooldownDays),
    cap: String(cap),
    when,
    destinations,
    holdOut: String(Math.round(1_000 * holdOutShare) / 10),
    includeCurrent: false,
    steps: rule.steps.map(({ kind, afterDays, title, dueDays, assignee }) => ({
      kind,
      afterDays: String(afterDays),
      title: title ?? "",
      dueDays: dueDays === null ? "" : String(dueDays),
      assignee: assignee === null ? "" : String(assignee),
    })),
    exemptions: { ...(holdOutShare > 0 && { mrrAbove: null }), ...rule.exemptions },
  };
}

function typedCondition({ kind, ...fields }: RuleTemplate["condition"] | Body["condition"]) {
  const typed = Object.entries(fields).map(([name, value]) => [
    name,
    // The share of a rise is typed in percentage points.
    String(kind === "riskUp" && name === "by" ? Math.round(1_000 * Number(value)) / 10 : value),
  ]);
  return { kind, ...(Object.fromEntries(typed) as Partial<Fields>) };
}

const numeric: readonly Field[] = ["below", "by", "days", "segment", "percent", "minSeats", "atMost"];

/** The condition as the API takes it. An empty source stands for any. */
function conditionOf(draft: Draft): Body["condition"] {
  const { kind } = draft;
  const sent = fieldsOfCondition[kind]
    .filter((name) => draft[name] !== "")
    .map((name) => [name, numeric.includes(name) ? Number(draft[name]) : draft[name]] as const);
  const condition = { kind, ...Object.fromEntries(sent) } as Body["condition"];
  return kind === "riskUp" && condition.by !== undefined
    ? { ...condition, by: condition.by / 100 }
    : condition;
}

/** The part of a rule that a preview needs. */
export function previewOf(draft: Draft): Changes["POST /api/alert-rules/preview"]["body"] {
  const { scope: kind, scopeSegment, cooldownDays } = draft;
  const isOfSegment = scopeSegment !== "" && hasScope(draft);
  return {
    scope: { kind, ...(isOfSegment && { segment: Number(scopeSegment) }) },
    condition: conditionOf(draft),
    cooldownDays: cooldownDays === "" ? null : Number(cooldownDays),
  };
}

/** A rule as the API takes it. */
export function bodyOf(draft: Draft): Body {
  const { name, cap, when, destinations, holdOut, exemptions, includeCurrent } = draft;
  return {
    name,
    ...previewOf(draft),
    cap: Number(cap),
    when,
    destinations: [...destinations],
    exemptions,
    holdOutShare: isOpportunity(draft) ? 0 : Number(holdOut) / 100,
    steps: hasScope(draft) ? draft.steps.map(sentStep) : [],
    includeCurrent: includeCurrent && !isMoment(draft),
  };
}

function sentStep({ kind, afterDays, title, dueDays, assignee }: DraftStep) {
  if (kind === "message") return { kind, afterDays: Number(afterDays) };
  return {
    kind,
    afterDays: Number(afterDays),
    title: title.trim(),
    dueDays: dueDays === "" ? null : Number(dueDays),
    assignee: assignee === "" ? null : Number(assignee),
  };
}

/** Whether a rule is about users or accounts: a silent source is neither. */
export function hasScope({ kind }: Pick<Draft, "kind">): boolean {
  return kind !== "sourceSilent";
}

/** Whether the condition fires once for each event. */
export function isMoment({ kind }: Draft): boolean {
  return moments.some((moment) => moment === kind);
}

/** Whether saving makes another version of a rule: with another condition or scope. */
export function makesVersion(draft: Draft, rule: Rule): boolean {
  const parts = (of: Draft) => {
    const { scope, condition } = previewOf(of);
    return JSON.stringify([scope, condition]);
  };
  return parts(draft) !== parts(ofRule(rule));
}
