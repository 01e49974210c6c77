/**
 * The filter language of lists and segments: conditions on users or on accounts, all of which have to be
 * true. A list takes them as parameters, and a segment keeps the same names and values as an object.
 */
import Type, { type Static } from "typebox";
import { ownerFilter } from "../api/list-fields.ts";
import { closedObject, Field, Parameter } from "../api/schema.ts";
import { HealthBand, RiskBand, State, Verdict } from "../api/score-parts.ts";
import { billingFilters } from "../billing/payers.ts";
import { pulseLimits } from "../pulse/pulse.ts";
import { comparedDays, segmentLimits } from "./segments.ts";

const flag = (description: string) => Type.Optional(Field.boolean(description));

const toCallText =
  "Not churned, and either the risk band is high or health fell by 15 points or more in the 7 days before the newest scores. Lists leave out users and accounts of a control group. GET /api/call-list ranks whom to call first.";

/** How health changed since the comparison date. */
const moves = ["changed", "worse", "better", "fell", "rose", "churned", "returned"] as const;

/** Conditions on changes of scores, for users and for accounts. */
const movementFilters = {
  isPresent: flag(
    "True: has a health score and has not churned. False: has no health score, or has churned.",
  ),
  healthBandBefore: Type.Optional(
    Field.oneOf(
      [...HealthBand.enum, "present"],
      "Health band at the comparison date (`since` or `comparedWithDays`). `present`: every health band but `churned` and `none`.",
    ),
  ),
  moved: Type.Optional(
    Field.oneOf(
      moves,
      "How health changed since the comparison date. `changed`: another health band. `worse`, `better`: a lower or a higher band, among at_risk, watch and healthy. `fell`, `rose`: a lower or a higher health score, of users and accounts that are active and had not churned. `churned`: not churned then, churned now. `returned`: churned then, not churned now.",
    ),
  ),
  comparedWithDays: Type.Optional(
    Type.Enum([...comparedDays], {
      description: `The comparison date of \`moved\` and \`healthBandBefore\`, in days before the newest scores: ${comparedDays.join(" or ")}. Default: 28.`,
    }),
  ),
  usageFellPercent: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description:
        "Use fell by at least this many per cent: the 28 days before the newest scores, vs the 28 days before that period. Users and accounts without use in the earlier 28 days do not match.",
    }),
  ),
  healthFellPoints: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description:
        "Health fell by at least this many points in `healthFellDays`. A fall that comes from another model, another scale or other settings does not count.",
    }),
  ),
  healthFellDays: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 28,
      description: "With healthFellPoints: days before the newest scores in which health fell. Default: 28.",
    }),
  ),
  toCall: flag(`Whether to call. ${toCallText}`),
} as const;

/** The weeks of a lifecycle: of the days from `activeFrom` to `activeTo`, and the 7 days before them. */
const stages = ["new", "returning", "resurrected", "dormant"] as const;

/** Conditions on the activity of users on given days. Excluded users count in no figure, so they never
 * match. */
const activityFilters = {
  activeFrom: Parameter.optionalDay(
    "Only users with an engagement event from this day to `activeTo`. Send both parameters.",
  ),
  activeTo: Parameter.optionalDay("The last day of the period that begins on `activeFrom`."),
  lifecycle: Type.Optional(
    Field.oneOf(
      stages,
      "With activeFrom and activeTo, by activity in that period and in the 7 days before it. `new`: first engagement event ever in the period. `returning`: active in both. `resurrected`: active in the period, not in the 7 days before, but earlier. `dormant`: active in the 7 days before, not in the period.",
    ),
  ),
} as const;

/** Conditions that name an account. Segments do not have them, because an erasure of the account would not
 * find them there: a fixed segment of accounts has numbers, and may be a condition. */
export const namingFilters = {
  account: Parameter.optionalName("Only users of the account with this id."),
  activeInAccount: Parameter.optionalName(
    "With activeFrom and activeTo: only users with an engagement event in the account with this id. They may belong to another account now.",
  ),
} as const;

const daysOf = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650, description }));

/** Filters by scores and by the last active day: the same for users and accounts. */
const scoreFilters = {
  verdict: Type.Optional(
    Type.Union([Verdict, Type.Literal("not_churned")], {
      description: "`not_churned`: every verdict but `churned` and `account_churned`.",
    }),
  ),
  state: Type.Optional(State),
  healthBand: Type.Optional(HealthBand),
  riskBand: Type.Optional(RiskBand),
  seenWithinDays: daysOf("Active in the last N days, today included: has an engagement event."),
  notSeenForDays: daysOf("Not active in the last N days, today included: has no engagement event."),
  ...movementFilters,
};

/** How a trait is compared. */
const traitMatches = ["is", "isNot", "contains", "isEmpty", "isNotEmpty"] as const;

const anyName = Type.String({ minLength: 1, maxLength: 256 });

const traitConditions = (what: "users" | "accounts", trait: "trait" | "attribute") =>
  Type.Optional(
    Type.Array(
      closedObject({
        trait: anyName,
        match: Type.Optional(Type.Enum([...traitMatches])),
        value: Type.Optional(Type.String({ maxLength: 256 })),
      }),
      {
        // Each is looked for in the traits of every user.
        maxItems: segmentLimits.traits,
        description: `Conditions on several ${trait}s, as JSON: \`[{"trait": "plan", "match": "is", "value": "pro"}]\`. Only ${what} that meet all of them.`,
      },
    ),
  );

/** The parameters of a list for one trait, beside `traits`. */
export const oneTrait = (what: "users" | "accounts", trait: "trait" | "attribute") => ({
  trait: Parameter.optionalName(`Only ${what} whose ${trait} with this name meets \`match\` and \`value\`.`),
  match: Parameter.Enum([...traitMatches], {
    default: "is",
    description: `How the ${trait} is compared. is: equals \`value\`. isNot: differs from \`value\`, or is missing. contains: contains \`value\`, in upper or lower case. isEmpty: is missing or empty. isNotEmpty: is neither.`,
  }),
  value: Type.Optional(
    Type.String({
      maxLength: 256,
      description:
        "The value to compare with. Numbers, booleans, lists and objects are compared as JSON, cut off after 256 characters.",
    }),
  ),
});

const EventCondition = closedObject({
  event: anyName,
  match: Type.Optional(
    Field.oneOf(
      ["atLeast", "fewerThan"],
      "Default: atLeast. `fewerThan` also matches users and accounts that never had the event.",
    ),
  ),
  times: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description: "Default: 1." })),
  days: Type.Integer({ minimum: 1, maximum: 3_650, description: "Days to look back, today included." }),
});

const eventConditions = (whose: string) =>
  Type.Optional(
    Type.Array(EventCondition, {
      maxItems: segmentLimits.events,
      description: `How often ${whose}, as JSON: \`[{"event": "report_exported", "times": 3, "days": 28}]\` means at least 3 times in 28 days, today included. With \`"match": "fewerThan"\` and without \`times\`: not once. All conditions have to be true. A condition may also name a passive event.`,
    }),
  );

const SegmentCondition = closedObject({
  segment: Type.Integer({ minimum: 1 }),
  match: Type.Optional(Type.Enum(["isIn", "isNotIn"], { description: "Default: isIn." })),
});

const segmentConditions = (description: string) =>
  Type.Optional(
    Type.Array(SegmentCondition, {
      maxItems: segmentLimits.segments,
      description: `Membership in segments by their ids, as JSON: \`[{"segment": 3}, {"segment": 4, "match": "isNotIn"}]\`. ${description}`,
    }),
  );

/** Conditions on users. */
export const userFilters = {
  traits: traitConditions("users", "trait"),
  ...scoreFilters,
  ...activityFilters,
  ...billingFilters,
  owner: ownerFilter,
  events: eventConditions("the user did an event"),
  segments: segmentConditions("A user is in a segment of accounts if the user's account is in the segment."),
};

const percentOfSeats = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, description }));
const pulseValue = (description: string) =>
  Type.Optional(Type.Integer({ minimum: pulseLimits.lowest, maximum: pulseLimits.highest, description }));

/** Conditions that only accounts have: seats and pulse in the newest scores. */
const seatsFilters = {
  seatsUsedFrom: percentOfSeats(
    "Seats used of at least this many per cent: account members active in 28 days ÷ seats bought. Accounts whose seats are unknown do not match.",
  ),
  seatsUsedTo: percentOfSeats(
    "Seats used of at most this many per cent. Accounts whose seats are unknown do not match.",
  ),
  pulseFrom: pulseValue("A pulse of at least this. Accounts without a pulse that counts do not match."),
  pulseTo: pulseValue("A pulse of at most this. Accounts without a pulse that counts do not match."),
};

/** Conditions on accounts. */
export const accountFilters = {
  traits: traitConditions("accounts", "attribute"),
  ...scoreFilters,
  ...billingFilters,
  ...seatsFilters,
  owner: ownerFilter,
  events: eventConditions("an event was done in the account"),
  segments: segmentConditions("Only segments of accounts."),
};

/** The filter of a segment: that of a segment of users has conditions of `userFilters` only, and that of a
 * segment of accounts of `accountFilters`. */
export const FilterSchema = closedObject(
  { ...userFilters, ...seatsFilters },
  { minProperties: 1, "x-send": "an object with at least one condition" },
);

/** Conditions on users or accounts, all of which have to be true. */
export type Filter = Static<typeof FilterSchema>;
/** How often an event was done. */
export type EventCondition = Static<typeof EventCondition>;
