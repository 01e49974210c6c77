/**
 * The write API as JSON Schema: the one source of what the server validates, of the OpenAPI document and of
 * the types that clients use. `x-send` on a field is the end of its error message: what to send instead.
 */
import Type, { type Static } from "typebox";
import { nullable } from "./api/schema.ts";
import { apiErrorStatus, errorStatus } from "./errors.ts";
import { limits } from "./limits.ts";
import { nameRules } from "./names.ts";
import { timestampAliases } from "./timestamp-aliases.ts";

/** An id that the company gave. */
export const identifier = (description: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: limits.identifierCharacters }), Type.Number()], {
    description,
    "x-send": `a non-empty string of at most ${limits.identifierCharacters} characters, or a number whose digits a string keeps exactly`,
  });

const uri = (description: string) =>
  nullable(Type.String({ format: "uri" }), {
    description,
    "x-send": "an absolute http, https or data:image/ URL",
  });

const reservedTrait = (description: string) =>
  nullable(Type.String(), { description, "x-send": "a string, or null" });

const messageId = Type.Optional(
  nullable(Type.String({ minLength: 1, maxLength: limits.messageIdCharacters }), {
    description:
      "Identifies this message, so that sending it again does not store it twice: within 24 hours, another message of the same type with this messageId is answered 201 and not stored. An identify and a track may share a messageId. The Idempotency-Key header does the same; if both are sent, messageId counts.",
    "x-send": `a string of 1 to ${limits.messageIdCharacters} characters`,
  }),
);

/** Customer traits: six reserved keys with meanings, any other key is a custom trait. */
const Traits = Type.Object(
  {
    name: Type.Optional(reservedTrait("Display name of the user.")),
    avatar: Type.Optional(uri("URL of the user's avatar image.")),
    plan: Type.Optional(reservedTrait("Pricing plan. Enables retention cohorts by plan.")),
    acquisitionChannel: Type.Optional(
      reservedTrait("Where the customer came from. Enables retention cohorts by channel."),
    ),
    companySize: Type.Optional(
      reservedTrait("Company size bucket. Enables retention cohorts by company size."),
    ),
    segment: Type.Optional(reservedTrait("Segment of the company. Enables retention cohorts by segment.")),
  },
  {
    description:
      "Customer traits, merged one level deep into the stored traits: keys that are not sent are kept, a null overwrites.",
    "x-send": "a JSON object",
  },
);

/** The keys of traits with meanings. */
export const reservedTraits: ReadonlySet<string> = new Set(Object.keys(Traits.properties));

/** Neither format has the other's addresses whole: `email` lacks 실례@실례.테스트, `idn-email` joe@[127.0.0.1]. */
const emailOf = (format: "email" | "idn-email") =>
  // Both formats take control characters, line breaks too, between quotes: RFC 5321 has none there.
  Type.String({ format, maxLength: limits.emailCharacters, pattern: "^[^\\x00-\\x1f\\x7f]*$" });

/** Attributes of an account: three reserved keys with meanings, any other key is a custom attribute. */
const AccountAttributes = Type.Object(
  {
    owner: Type.Optional(
      nullable(Type.String({ ...nameRules, maxLength: limits.emailCharacters }), {
        description: "E-mail address or name of the team member who looks after the account.",
        "x-send": `an e-mail address or a name of at most ${limits.emailCharacters} characters, or null`,
      }),
    ),
    renewsAt: Type.Optional(
      Type.Union([Type.String({ format: "date" }), Type.String({ format: "date-time" }), Type.Null()], {
        description: "When the contract renews: a date, or a date-time with Z or an offset.",
        "x-send": "a date such as 2027-03-31, a date-time with Z or an offset, or null",
      }),
    ),
    contractValue: Type.Optional(
      nullable(Type.Number({ minimum: 0 }), {
        description: "Value of the contract per year.",
        "x-send": "a number from 0, or null",
      }),
    ),
  },
  {
    description:
      "Beyond the specification: attributes of the account, merged one level deep into the stored attributes. Keys that are not sent are kept, a null overwrites.",
    "x-send": "a JSON object",
  },
);

/** The schemas of attributes with meanings, by their keys. */
export const reservedAttributes = AccountAttributes.properties;

const AccountBody = Type.Object(
  {
    id: identifier("Unique identifier of the account in your system."),
    name: Type.String({ description: "Display name of the account.", "x-send": "a string" }),
    avatar: Type.Optional(uri("URL of the account's avatar image.")),
    properties: Type.Optional(nullable(AccountAttributes, { "x-send": "a JSON object" })),
  },
  {
    description: "Account or workspace that the user belongs to. Null: the user leaves the account.",
    "x-send": "an object with id and name, or null",
  },
);

/** An account of an imported file. */
export const ImportedAccount = Type.Object(
  {
    ...AccountBody.properties,
    name: Type.Optional(nullable(Type.String(), { "x-send": "a string" })),
    messageId,
  },
  { "x-send": "a JSON object with id" },
);

export const IdentifyBody = Type.Object(
  {
    userId: identifier("Unique identifier of the user in your system. Track with the same value."),
    email: Type.Union([emailOf("email"), emailOf("idn-email")], {
      description: "E-mail address of the user.",
      "x-send": `a valid e-mail address of at most ${limits.emailCharacters} characters`,
    }),
    properties: Type.Optional(nullable(Traits, { "x-send": "a JSON object" })),
    isAccountOwner: Type.Optional(
      nullable(Type.Boolean(), {
        description: "Whether the user owns the account.",
        "x-send": "true or false",
      }),
    ),
    account: Type.Optional(nullable(AccountBody, { "x-send": "an object with id and name, or null" })),
    messageId,
  },
  { "x-send": "a JSON object with userId and email" },
);

const timestamp = (description: string) =>
  Type.Optional(
    nullable(Type.String(), {
      description,
      "x-send":
        "an ISO 8601 date-time with Z or an offset such as 2026-05-17T09:30:00Z, or a date such as 2026-05-17, of the years 1970 to 2299",
    }),
  );

export const EventName = Type.String({
  minLength: 1,
  maxLength: limits.eventNameCharacters,
  // White space of any kind: \s has all of it but U+0085.
  pattern: "^[^\\s\\u0085]*$",
  description: "Name of the event, without white space.",
  "x-send": `a name of 1 to ${limits.eventNameCharacters} characters without spaces, e.g. order_completed`,
});

export const TrackBody = Type.Object(
  {
    userId: identifier("The userId of a user who has been identified."),
    event: EventName,
    properties: Type.Optional(
      nullable(Type.Object({}), {
        description:
          "Free-form metadata of the event. Events with the following names are billing events if they have a subscriptionId or, for payments, an amount: subscription_started, subscription_changed, subscription_canceled, subscription_paused, subscription_resumed, cancellation_scheduled, cancellation_withdrawn, trial_started, trial_converted, trial_ending, payment_succeeded, payment_failed, payment_refunded, payment_disputed; card_updated and card_removed are, if they have cardExpires (2026-11). The properties of a billing event are checked: amount and amountAfterDiscount (whole minor units), currency (ISO 4217), interval (day, week, month or year, with a number before it unless the number is 1), quantity, plan, currentPeriodEnd, trialEndsAt, endsAt, discountEndsAt, invoiceId, reason, feedback. accountId names the account that pays. Billing events are no activity, and browser tokens cannot send them.",
        "x-send": "a JSON object",
      }),
    ),
    timestamp: timestamp(
      "When the event happened: a date-time with Z or an offset, or a date, which is the start of that day in the organization's timezone. Default: now.",
    ),
    ...Object.fromEntries(timestampAliases.map((alias) => [alias, timestamp("Another name of timestamp.")])),
    messageId,
  },
  { "x-send": "a JSON object with userId and event" },
);

const itemType = (type: "identify" | "track") =>
  Type.Literal(type, { description: "Type of the item.", "x-send": '"identify" or "track"' });

/** An identify among the items of a batch, with an optional time from which its traits are true. */
export const BatchIdentify = Type.Object(
  {
    type: itemType("identify"),
    ...IdentifyBody.properties,
    timestamp: timestamp(
      "When these traits were true. Traits with a later timestamp win. Default, and latest possible: now.",
    ),
  },
  { "x-send": "a JSON object with type, userId and email" },
);

export const BatchTrack = Type.Object(
  { type: itemType("track"), ...TrackBody.properties },
  { "x-send": "a JSON object with type, userId and event" },
);

export const BatchBody = Type.Object({
  batch: Type.Array(Type.Union([BatchIdentify, BatchTrack]), {
    minItems: 1,
    maxItems: limits.batchItems,
    description:
      "Items are stored in this order. An invalid item is rejected, and the other items are stored.",
    "x-send": `an array of 1 to ${limits.batchItems} items`,
  }),
});

export const SuccessBody = Type.Object({ success: Type.Literal(true) });

const errorFields = {
  message: Type.String({ description: "For people: which field failed, why, and what to send." }),
  statusCode: Type.Integer({ description: "Equals the HTTP status." }),
  name: Type.Enum(Object.keys(errorStatus), { description: "For programs: the kind of error." }),
};

export const BatchSuccessBody = Type.Object({
  success: Type.Literal(true),
  accepted: Type.Integer({ description: "Items that were stored." }),
  duplicates: Type.Integer({ description: "Items that were already stored, by their messageId." }),
  rejected: Type.Array(
    Type.Object({
      index: Type.Integer({ description: "Index of the item in the batch, from 0." }),
      ...errorFields,
    }),
  ),
});

export type BatchAnswer = Static<typeof BatchSuccessBody>;

export const ErrorBody = Type.Object(errorFields);

export type ErrorAnswer = Static<typeof ErrorBody>;

/** Every error of /api. */
export const ApiErrorBody = Type.Object({
  ...errorFields,
  name: Type.Enum(Object.keys(apiErrorStatus), { description: "For programs: the kind of error." }),
  version: Type.Optional(
    Type.Integer({ minimum: 0, description: "Only with `conflict`: the current version." }),
  ),
});

export type ApiErrorAnswer = Static<typeof ApiErrorBody>;
