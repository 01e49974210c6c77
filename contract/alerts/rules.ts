/** Alert rules: their conditions, limits and templates. Pages import values of it, so it has no import. */

type JsonObject = import("../json.ts").JsonObject;
type SenderName = import("../sources.ts").SenderName;

export const ruleLimits = {
  perOrganization: 100,
  nameCharacters: 80,
  /** Days that a rise or a fall spans. */
  changeDays: 28,
  /** Days of other conditions, and of the cooldown. */
  days: 365,
  destinations: 20,
  /** Percent that use may have to rise by. */
  usageUpPercent: 1_000,
  /** Seats that an account needs at least, so that rules about seats look at it. */
  minSeats: 1_000_000,
  defaultMinSeats: 5,
  /** Rows in one message to Slack or by e-mail. */
  messageRows: 20,
  defaultCap: 20,
  maxCap: 1_000,
  maxHoldOutShare: 0.9,
  alertNoteCharacters: 1_000,
  reasons: 5,
  /** Tasks among them. */
  steps: 10,
  tasks: 5,
  /** Alerts are kept so long after they fired. */
  keptDays: 730,
} as const;

/** The users or accounts that a rule is about: all, or the members of a segment. */
export interface RuleScope {
  readonly kind: "users" | "accounts";
  /** The id of a segment of this kind. */
  readonly segment?: number;
}

/** States that a rule may wait for. A churned entity never fires. */
export const ruleStates = ["new", "active", "inactive", "canceling"] as const;

/** A condition that holds on a day, or not. */
export type StateCondition =
  /** In this risk band or a higher one. */
  | { readonly kind: "riskBand"; readonly band: "medium" | "high" }
  | { readonly kind: "healthBelow"; readonly below: number }
  /** The churn risk rose by so much: .1 are ten percentage points. */
  | { readonly kind: "riskUp"; readonly by: number; readonly days: number }
  /** Health fell by this many points. */
  | { readonly kind: "healthDown"; readonly by: number; readonly days: number }
  | { readonly kind: "state"; readonly state: (typeof ruleStates)[number] }
  | { readonly kind: "inSegment"; readonly segment: number }
  /** An event that the entity had done before was not done for this many days. */
  | { readonly kind: "keyEventUnseen"; readonly event: string; readonly days: number }
  /** Events of 28 days against the 28 days before. */
  | { readonly kind: "usageDown"; readonly percent: number }
  /** Events of 28 days against the 28 days before. Nobody's first 28 days are compared with. */
  | { readonly kind: "usageUp"; readonly percent: number }
  /** Seats used, in percent of the seats of an account that has at least `minSeats`. */
  | { readonly kind: "seatsAbove" | "seatsBelow"; readonly percent: number; readonly minSeats: number }
  /** The pulse of an account, from 1 to 5. */
  | { readonly kind: "pulseAtMost"; readonly atMost: number }
  /** A source, or any source. The scope has no meaning: the entity is the source. */
  | { readonly kind: "sourceSilent"; readonly source?: SenderName };

/** Conditions that fire once per event and have no end. */
export const moments = [
  "event",
  "paymentFailed",
  "cardExpires",
  "cancellationScheduled",
  "lastOwnerRemoved",
] as const;

/** Conditions about an event. `event`: one of any name, such as `cancel_flow_opened`. `cardExpires`: the card
 * on file ends before the renewal, which is at most 30 days away. */
export type EventCondition =
  | { readonly kind: "event"; readonly event: string }
  | { readonly kind: "paymentFailed" | "cancellationScheduled" }
  | { readonly kind: "cardExpires" };

export type MomentCondition = EventCondition | { readonly kind: "lastOwnerRemoved" };

export type RuleCondition = StateCondition | MomentCondition;

/** Conditions about customers who could buy more. Nothing is at risk, so their alerts have no expected loss
 * and no control group, and work on them saves nobody. */
const opportunities = ["usageUp", "seatsAbove"] as const satisfies readonly RuleCondition["kind"][];

/** Conditions about figures that only accounts have. */
const ofAccountsOnly = [
  "seatsAbove",
  "seatsBelow",
  "pulseAtMost",
] as const satisfies readonly RuleCondition["kind"][];

/** The fields of each kind of condition. `source` and `minSeats` may be left out. */
export const fieldsOfCondition = {
  riskBand: ["band"],
  healthBelow: ["below"],
  riskUp: ["by", "days"],
  healthDown: ["by", "days"],
  state: ["state"],
  inSegment: ["segment"],
  keyEventUnseen: ["event", "days"],
  usageDown: ["percent"],
  usageUp: ["percent"],
  seatsAbove: ["percent", "minSeats"],
  seatsBelow: ["percent", "minSeats"],
  pulseAtMost: ["atMost"],
  sourceSilent: ["source"],
  event: ["event"],
  paymentFailed: [],
  cardExpires: [],
  cancellationScheduled: [],
  lastOwnerRemoved: [],
} as const satisfies Readonly<Record<RuleCondition["kind"], readonly string[]>>;

/** Entities that get their alert without a draw, and are left out of results of the hold-out. */
export interface RuleExemptions {
  /** The id of a segment of the scope's kind. */
  readonly segment?: number;
  /** Accounts with a higher MRR, and their users, in minor units of the organization's currency. */
  readonly mrrAbove?: number;
}

export const stepKinds = ["task", "message"] as const;

/** What happens so many days after an alert fired, if it is still open. */
export interface RuleStep {
  /** `message`: one more to the rule's destinations. */
  readonly kind: (typeof stepKinds)[number];
  /** 0: with the alert. A message has at least 1. */
  readonly afterDays: number;
  /** Of a task. Null of a message, as the two that follow. */
  readonly title: string | null;
  /** Days from the step to the task's due day. Null: any day. */
  readonly dueDays: number | null;
  /** The id of a team member. Null: whoever looks after the alert, at first the owner of the account. */
  readonly assignee: number | null;
}

/** When Slack and e-mail get their message: at 08:00 in the organization's timezone, or at once. Webhooks get
 * messages at once. */
export const ruleTimes = ["08:00", "at once"] as const;
export type RuleTime = (typeof ruleTimes)[number];

/** A rule as a team member saves it. */
export interface AlertRuleSettings {
  readonly name: string;
  readonly scope: RuleScope;
  readonly condition: RuleCondition;
  /** Days from an alert on in which the rule does not fire again for the entity. Null: the churn horizon. */
  readonly cooldownDays: number | null;
  /** Messages a day, to each destination. It limits no alerts. */
  readonly cap: number;
  readonly when: RuleTime;
  /** Ids of destinations. */
  readonly destinations: readonly number[];
  /** The share of alerts that is held back as a control group. 0: no control group. */
  readonly holdOutShare: number;
  readonly exemptions: RuleExemptions;
  readonly steps: readonly RuleStep[];
  readonly isPaused: boolean;
  /** Whether entities that are inside when the rule is saved fire. It counts when the rule is made or gets a
   * new version. */
  readonly includeCurrent: boolean;
}

/** Whether a condition is about an event, or about what events say of a card. */
export function isAboutEvent(condition: RuleCondition): condition is EventCondition {
  return isMoment(condition) && condition.kind !== "lastOwnerRemoved";
}

/** Whether an event that a company sends itself makes the alert, so that its arms can be asked for before. */
export function canBeAsked(condition: RuleCondition): boolean {
  return isAboutEvent(condition) && condition.kind !== "cardExpires";
}

/** Whether a condition is about customers who could buy more. */
export function isOpportunity({ kind }: Pick<RuleCondition, "kind">): boolean {
  return opportunities.some((one) => one === kind);
}

/** Whether only accounts have the figure of a condition. */
export function isOfAccountsOnly({ kind }: Pick<RuleCondition, "kind">): boolean {
  return ofAccountsOnly.some((one) => one === kind);
}

/** Whether a condition fires once per event. */
export function isMoment(condition: RuleCondition): condition is MomentCondition {
  return (moments as readonly string[]).includes(condition.kind);
}

/** Why an alert fired: one line of a list. `values` are figures behind the text. */
export interface AlertReason {
  readonly text: string;
  readonly values?: JsonObject;
}

/** The arm of an entry. `exempt`: it was left out before the draw. */
export const alertArms = ["treated", "control", "exempt"] as const;
export type AlertArm = (typeof alertArms)[number];

/** Why an alert closed. `gone`: the account has no members. `excluded`: the user or the account counts in no
 * figure. `ruleChanged`: the rule looks at something else now. */
export const alertClosings = ["resolved", "churned", "gone", "excluded", "ruleChanged"] as const;
export type AlertClosing = (typeof alertClosings)[number];

/** The words of team members about an alert. */
export const alertVerdicts = ["handled", "notUseful"] as const;
export type AlertVerdict = (typeof alertVerdicts)[number];

/** What came of the work on an alert or a call that is handled. */
export const workOutcomes = ["saved", "lost", "noAnswer", "wrongAlarm", "other"] as const;
export type WorkOutcome = (typeof workOutcomes)[number];

/** A rule that a page offers. Nothing is on before it is saved. */
export interface RuleTemplate {
  readonly key: string;
  readonly name: string;
  readonly scope: RuleScope;
  /** Of `keyEventUnseen` the event is chosen by the team member. */
  readonly condition: RuleCondition | { readonly kind: "keyEventUnseen"; readonly days: number };
}

const accounts = { kind: "accounts" } as const;

/** Templates of rules. */
export const ruleTemplates: readonly RuleTemplate[] = [
  {
    key: "high-risk",
    name: "Account enters high risk",
    scope: accounts,
    condition: { kind: "riskBand", band: "high" },
  },
  {
    key: "cancel-flow",
    name: "Cancel flow opened",
    scope: accounts,
    condition: { kind: "event", event: "cancel_flow_opened" },
  },
  { key: "payment-failed", name: "Payment failed", scope: accounts, condition: { kind: "paymentFailed" } },
  {
    key: "card-expires",
    name: "Card expires before renewal",
    scope: accounts,
    condition: { kind: "cardExpires" },
  },
  {
    key: "cancellation",
    name: "Cancellation scheduled",
    scope: accounts,
    condition: { kind: "cancellationScheduled" },
  },
  {
    key: "key-event",
    name: "Key event unused for 14 days",
    scope: accounts,
    condition: { kind: "keyEventUnseen", days: 14 },
  },
  {
    key: "last-owner",
    name: "Last owner removed",
    scope: accounts,
    condition: { kind: "lastOwnerRemoved" },
  },
  {
    key: "usage-down",
    name: "Usage down 50% in 4 weeks",
    scope: accounts,
    condition: { kind: "usageDown", percent: 50 },
  },
  {
    key: "usage-up",
    name: "Usage up 50% in 4 weeks (an opportunity)",
    scope: accounts,
    condition: { kind: "usageUp", percent: 50 },
  },
  {
    key: "seats-full",
    name: "Seats near the limit",
    scope: accounts,
    condition: { kind: "seatsAbove", percent: 90, minSeats: ruleLimits.defaultMinSeats },
  },
  {
    key: "seats-unused",
    name: "Few seats used",
    scope: accounts,
    condition: { kind: "seatsBelow", percent: 40, minSeats: ruleLimits.defaultMinSeats },
  },
  { key: "pulse-low", name: "Pulse low", scope: accounts, condition: { kind: "pulseAtMost", atMost: 2 } },
  { key: "source-silent", name: "Source silent", scope: accounts, condition: { kind: "sourceSilent" } },
];

/** Which alerts a list has. `open`: not closed, not snoozed, and without a verdict. `handled`: with a
 * verdict. */
export const alertStates = ["open", "snoozed", "handled", "closed", "all"] as const;
export type AlertState = (typeof alertStates)[number];
