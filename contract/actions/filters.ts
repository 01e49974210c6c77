/**
 * The filter language of lists and segments: conditions on users or on accounts, all of which have to be
 * true. A list takes them as parameters, and a segment keeps the same names and values as an object.
 */
import Type, { type Static } from "typebox";
import { closedObject, Field, Parameter } from "../api/schema.ts";
import { HealthBand, RiskBand, State, Verdict } from "../api/score-parts.ts";
import { billingFilters } from "../billing/payers.ts";
import { comparedDays, segmentLimits } from "./segments.ts";
import { ownerFilter } from "./work-schemas.ts";

const flag = (description: string) => Type.Optional(Field.boolean(description));

const toCallText =
  "Not churned, by event or by silence, and either the risk band is high or health fell by 15 points or more against the scores of 7 days before the newest. Lists leave out controls of a hold-out. GET /api/call-list says whom to call first.";

/** How health went since the earlier scores. */
const moves = ["changed", "worse", "better", "fell", "rose", "churned", "returned"] as const;

/** By how scores went: the same for users and accounts. */
const movementFilters = {
  isPresent: flag("True: only those who have a health score and have not churned. False: only the others."),
  healthBandBefore: Type.Optional(
    Field.oneOf(
      [...HealthBand.enum, "present"],
      "Only those whose health had this health band in the scores that changes are told against (`since` or `comparedWithDays`). `present` is any but churned and none.",
    ),
  ),
  moved: Type.Optional(
    Field.oneOf(
      moves,
      "Only those whose health went this way since the earlier scores. `changed`: to another band. `worse`, `better`: from at_risk, watch or healthy to a lower or a higher one of them. `fell`, `rose`: the score, of those who are active and had not churned. `churned`, `returned`: to churned, and from churned.",
    ),
  ),
  comparedWithDays: Type.Optional(
    Type.Enum([...comparedDays], {
      description: `The earlier scores of \`moved\` and \`healthBandBefore\` are those of so many days before the newest: ${comparedDays.join(" or ")}. Default: 28.`,
    }),
  ),
  usageFellPercent: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description:
        "Only those whose use of the 28 days before the newest scores is lower by at least so many per cent than that of the 28 days before. Without use before there is nothing to fall.",
    }),
  ),
  healthFellPoints: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description:
        "Only those whose health fell by at least so many points in `healthFellDays`. What another model, scale or settings changed is no fall.",
    }),
  ),
  healthFellDays: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 28,
      description: "With healthFellPoints: within so many days before the newest scores. Default: 28.",
    }),
  ),
  toCall: flag(`True: only those with a high risk or a sharp fall. False: only the others. ${toCallText}`),
} as const;

/** The weeks of a lifecycle: of the days from `activeFrom` to `activeTo`, and the 7 days before them. */
const stages = ["new", "returning", "resurrected", "dormant"] as const;

/** By what was done on which days: of users. Excluded users count in no figure, so these filters leave them
 * out. */
const activityFilters = {
  activeFrom: Parameter.optionalDay(
    "Only users with an engagement event on this day or later, up to `activeTo`; send both.",
  ),
  activeTo: Parameter.optionalDay("The last of these days."),
  lifecycle: Type.Optional(
    Field.oneOf(
      stages,
      "With activeFrom and activeTo, of their users: `new` had their first engagement event ever on these days, `returning` were active in the 7 days before as well, `resurrected` earlier only. `dormant` were active in the 7 days before and not on these days.",
    ),
  ),
} as const;

/** Conditions that name an account. Segments do not have them, because an erasure of the account would not
 * find them there: a fixed segment of accounts has numbers, and may be a condition. */
export const namingFilters = {
  account: Parameter.optionalName("Only users of the account with this id."),
  activeInAccount: Parameter.optionalName(
    "With activeFrom and activeTo: only users with such an event that carries the account with this id. They may belong to another one now.",
  ),
} as const;

const daysOf = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650, description }));

/** Filters by scores and by the last active day: the same for users and accounts. */
const scoreFilters = {
  verdict: Type.Optional(
    Type.Union([Verdict, Type.Literal("not_churned")], {
      description: "`not_churned`: all but `churned` and `account_churned`.",
    }),
  ),
  state: Type.Optional(State),
  healthBand: Type.Optional(HealthBand),
  riskBand: Type.Optional(RiskBand),
  seenWithinDays: daysOf("Only those with an engagement event within so many days that end today."),
  notSeenForDays: daysOf("Only those without any engagement event within so many days that end today."),
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
        description: `Several ${trait}s at once, as JSON, each as above: only ${what} of whom all are true.`,
      },
    ),
  );

/** The parameters of a list for one trait, beside `traits`. */
export const oneTrait = (what: "users" | "accounts", trait: "trait" | "attribute") => ({
  trait: Parameter.optionalName(`Only ${what} whose ${trait} of this name …`),
  match: Parameter.Enum([...traitMatches], {
    default: "is",
    description: `… is the value, is not (also without the ${trait}), contains it whatever the case, is absent or empty, or is there.`,
  }),
  value: Type.Optional(
    Type.String({
      maxLength: 256,
      description: "The value; what is no string is compared as its JSON, cut off after 256 characters.",
    }),
  ),
});

const EventCondition = closedObject({
  event: anyName,
  match: Type.Optional(
    Field.oneOf(
      ["atLeast", "fewerThan"],
      "Default: atLeast. With `fewerThan` those without the event count.",
    ),
  ),
  times: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description: "Default: 1." })),
  days: Type.Integer({ minimum: 1, maximum: 3_650, description: "So many days, the last of them today." }),
});

const eventConditions = (whose: string) =>
  Type.Optional(
    Type.Array(EventCondition, {
      maxItems: segmentLimits.events,
      description: `How often ${whose}, as JSON: \`[{"event": "report_exported", "times": 3, "days": 28}]\` for at least 3 times within the 28 days that end today; with \`"match": "fewerThan"\` and without \`times\`, not once. Several are all true. Passive events count when they are named.`,
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
      description: `Membership of segments by their ids, as JSON: \`[{"segment": 3}, {"segment": 4, "match": "isNotIn"}]\`. ${description}`,
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
  segments: segmentConditions("A user is in a segment of accounts when the user's account is."),
};

/** Conditions on accounts. */
export const accountFilters = {
  traits: traitConditions("accounts", "attribute"),
  ...scoreFilters,
  ...billingFilters,
  owner: ownerFilter,
  events: eventConditions("an event was done that carries the account"),
  segments: segmentConditions("Only segments of accounts."),
};

/** The filter of a segment. That of a segment of accounts has conditions of `accountFilters` only. */
export const FilterSchema = closedObject(userFilters, {
  minProperties: 1,
  "x-send": "an object with at least one condition",
});

/** Conditions on users or accounts, all of which have to be true. */
export type Filter = Static<typeof FilterSchema>;
/** How often an event was done. */
export type EventCondition = Static<typeof EventCondition>;
