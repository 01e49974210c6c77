/** Settings of sources, as JSON Schema: Stripe's signing secrets, and how the webhooks of other
 * tools are read. */
import Type, { type Static } from "typebox";
import { closedObject, Field, listOf, nullable, objects } from "./api/schema.ts";

export const sourceSettingLimits = {
  webhooksPerOrganization: 20,
  pathCharacters: 200,
  keysPerTable: 50,
  keyCharacters: 100,
  signingSecrets: 2,
  signingSecretCharacters: 200,
  webhookSecretCharacters: 200,
  signatureHeaderCharacters: 100,
  signaturePrefixCharacters: 20,
  /** Of a request that tries a mapping. */
  tryBytes: 256 * 1024,
} as const;

const { pathCharacters, keysPerTable, keyCharacters } = sourceSettingLimits;

const aPath = "a path such as data.user.id, items[0].name or $.account.id";
/** Keys with dots between, places in brackets; `$` is the whole body. The server's reader of paths takes the
 * same. */
const pathPattern =
  '^(\\$|[^.\\[\\]"\\s]+|\\[(\\d{1,4}|"([^"\\\\\\u0000-\\u001f]|\\\\["\\\\/bfnrt])*")\\])' +
  '(\\.[^.\\[\\]"\\s]+|\\[(\\d{1,4}|"([^"\\\\\\u0000-\\u001f]|\\\\["\\\\/bfnrt])*")\\])*$';

const path = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: pathCharacters,
    pattern: pathPattern,
    description: `Path: ${description}`,
    "x-send": aPath,
  });

const pathOrTable = (description: string) =>
  Type.Union(
    [
      path("of an object."),
      Type.Record(Type.String(), path("of the value of this key."), {
        maxProperties: keysPerTable,
        propertyNames: Type.String({
          minLength: 1,
          maxLength: keyCharacters,
          "x-send": `names of 1 to ${keyCharacters} characters`,
        }),
        "x-send": `a path, or an object of at most ${keysPerTable} paths by key`,
      }),
    ],
    {
      description: `${description} A path of an object, or a path for each key.`,
      "x-send": `${aPath}, or an object of at most ${keysPerTable} such paths by key`,
    },
  );

/** How a webhook's body becomes users and events. Paths start at each item; paths with `$` start at the whole
 * body. */
export const WebhookMapping = closedObject(
  {
    items: Type.Optional(path("of the list of items, or of a single item. Default: the body is the item.")),
    userId: Type.Optional(path("of the user's id.")),
    anonymousId: Type.Optional(path("of an id of a visitor who was not identified yet.")),
    email: Type.Optional(path("of the user's e-mail address.")),
    event: Type.Optional(
      Type.Union(
        [
          closedObject({ path: path("of the event's name.") }),
          closedObject({
            text: Type.String({ minLength: 1, maxLength: 256, pattern: "\\S", "x-send": "a name" }),
          }),
        ],
        {
          description: "The event's name: a path, or a fixed text. Without a name, items are no events.",
          "x-send": 'an object {"path": …} or {"text": …}',
        },
      ),
    ),
    isActivity: Type.Optional(
      Type.Boolean({
        description:
          "Whether the event is an activity of the user. False: it happens without the user. Default: true.",
        "x-send": "true or false",
      }),
    ),
    timestamp: Type.Optional(
      path("of the time: RFC 3339, or seconds or milliseconds since 1970. Default: the time of arrival."),
    ),
    messageId: Type.Optional(path("of an id of the message. Messages with the same id are stored once.")),
    account: Type.Optional(
      closedObject(
        {
          id: path("of the account's id."),
          name: Type.Optional(path("of the account's name.")),
          properties: Type.Optional(pathOrTable("The account's attributes.")),
        },
        { "x-send": "an object with id and perhaps name, both paths, and perhaps properties" },
      ),
    ),
    traits: Type.Optional(pathOrTable("The user's traits.")),
    properties: Type.Optional(pathOrTable("The event's properties.")),
  },
  { "x-send": "an object of paths" },
);
export type WebhookMapping = Static<typeof WebhookMapping>;

/** Names of webhooks that mean something else in an address. */
export const reservedWebhookNames = ["stripe", "try"] as const;

const webhookName = Type.String({
  pattern: "^[a-z0-9][a-z0-9_-]{0,39}$",
  description: "The webhook's name, which is part of its address.",
  "x-send": "1 to 40 small letters, digits, hyphens and underscores",
});

/** Billing tools whose webhooks are read without a mapping. */
export const webhookPresets = ["paddle", "chargebee", "revenuecat", "lemonsqueezy", "polar"] as const;
export type WebhookPreset = (typeof webhookPresets)[number];

const preset = Type.Enum([...webhookPresets], {
  description: "The billing tool that sends, in place of a mapping: its events become billing events.",
  "x-send": `one of ${webhookPresets.join(", ")}`,
});

const secret = Type.String({
  maxLength: sourceSettingLimits.webhookSecretCharacters,
  pattern: "^[!-~][ -~]{6,}[!-~]$",
  description:
    "The secret with which requests are verified from now on. Paddle: the secret key of the destination. LemonSqueezy, Polar: the signing secret. Chargebee: user:password of basic authentication. RevenueCat: the value of the Authorization header. With a mapping: the key of the HMAC of `signature`.",
  "x-send": `8 to ${sourceSettingLimits.webhookSecretCharacters} characters of ASCII, as the tool has them`,
});

const HeaderSignature = closedObject({
  header: Type.String({
    pattern: "^[A-Za-z0-9-]+$",
    maxLength: sourceSettingLimits.signatureHeaderCharacters,
    description: "The header with the signature, e.g. X-Hub-Signature-256.",
    "x-send": "the name of a header, such as X-Hub-Signature-256",
  }),
  algorithm: Type.Enum(["sha1", "sha256", "sha512"], {
    description: "The hash of the HMAC over the body.",
    "x-send": "one of sha1, sha256, sha512",
  }),
  encoding: Type.Enum(["hex", "base64"], { "x-send": "hex or base64" }),
  prefix: Type.Optional(
    Type.String({
      pattern: "^[!-~]*$",
      maxLength: sourceSettingLimits.signaturePrefixCharacters,
      description: "Text before the signature in the header, such as sha256=.",
      "x-send": "the text before the signature, such as sha256=",
    }),
  ),
});
/** A header with an HMAC of the body. */
export type HeaderSignature = Static<typeof HeaderSignature>;

/** How requests of a webhook with a mapping are signed. */
export const WebhookSignature = Type.Union([Type.Literal("standard-webhooks"), HeaderSignature], {
  description:
    "How the tool signs, for a webhook with a mapping: `standard-webhooks` (webhook-id, webhook-timestamp, webhook-signature), or a header with an HMAC of the body. Requests without a valid signature by `secret` are refused.",
  "x-send": '"standard-webhooks", or an object {"header": …, "algorithm": …, "encoding": …, "prefix": …}',
});
export type WebhookSignature = Static<typeof WebhookSignature>;

/** What becomes of a billing tool's test purchases. */
const testModes = ["ignore", "take"] as const;
export type TestMode = (typeof testModes)[number];

const testMode = Type.Enum([...testModes], {
  description:
    "Purchases of the tool's test mode, sandbox or simulator: `ignore` stores nothing and counts the warning `test_mode_ignored`; `take` stores them like real purchases, for a first look.",
  "x-send": `one of ${testModes.join(", ")}`,
});

export const WebhookAnswer = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  name: webhookName,
  mapping: nullable(WebhookMapping, { description: "Null if the webhook has a preset." }),
  preset: nullable(preset, { description: "Null if the webhook has a mapping." }),
  secret: nullable(Type.Object({ lastFour: Type.String() }), {
    description: "Only the last four characters are shown again. Null: requests are not verified.",
  }),
  signature: nullable(WebhookSignature, {
    description: "Null unless the webhook has a mapping and a secret.",
  }),
  testMode: nullable(testMode, { description: "Null if the webhook has a mapping." }),
  createdAt: Field.instant("When the webhook was made."),
  updatedAt: Field.instant("When the webhook was last changed."),
});

export const WebhooksAnswer = Type.Object({
  webhooks: Type.Array(WebhookAnswer, { description: "By name." }),
});

export const WebhookCreateBody = closedObject({
  name: webhookName,
  mapping: Type.Optional(WebhookMapping),
  preset: Type.Optional(preset),
  secret: Type.Optional(secret),
  signature: Type.Optional(WebhookSignature),
  testMode: Type.Optional(testMode),
});
export type WebhookCreateBody = Static<typeof WebhookCreateBody>;

export const WebhookChangeBody = closedObject(
  {
    mapping: Type.Optional(WebhookMapping),
    secret: Type.Optional(
      nullable(secret, { description: "Null stops verifying.", "x-send": "the secret, or null" }),
    ),
    signature: Type.Optional(WebhookSignature),
    testMode: Type.Optional(testMode),
  },
  {
    minProperties: 1,
    "x-send":
      "a JSON object with mapping, secret or signature, or with secret or testMode for a webhook with a preset",
  },
);
export type WebhookChangeBody = Static<typeof WebhookChangeBody>;

export const WebhookTryBody = closedObject({
  mapping: Type.Optional(WebhookMapping),
  preset: Type.Optional(preset),
  payload: Type.Unknown({ description: "A body as the tool sends it.", "x-send": "any JSON" }),
});

/** One item of a sample, and what would come of it. */
const TriedItem = Type.Object({
  sent: Type.Unknown({ description: "The item as it was sent." }),
  invalid: nullable(Field.text("Why the item is invalid. Null if it is valid.")),
  ignored: nullable(Field.text("Why the item is ignored. Null if it is not ignored.")),
  items: objects({
    type: Type.Enum(["identify", "track", "alias", "account"]),
    at: Field.instant("The time of the event, or from which the traits are true."),
    messageId: nullable(Type.String()),
    userId: nullable(Type.String()),
    anonymousId: nullable(Type.String()),
    email: nullable(Type.String()),
    event: nullable(Type.String()),
    isActivity: nullable(Type.Boolean()),
    account: nullable(
      Type.Object({
        id: Type.String(),
        name: nullable(Type.String()),
        properties: nullable(Type.Record(Type.String(), Type.Unknown())),
      }),
    ),
    traits: nullable(Type.Record(Type.String(), Type.Unknown())),
    properties: nullable(Type.Record(Type.String(), Type.Unknown())),
  }),
});
export type TriedItem = Static<typeof TriedItem>;

export const WebhookTryAnswer = Type.Object({
  invalid: Field.textOrNull("Why the body as a whole cannot be read. Null if it can be read."),
  items: Type.Array(TriedItem, { description: "The first 20 items." }),
});

/** The treatment of an unmatched customer of Stripe. */
const unknownCustomers = ["create", "wait"] as const;

const unknownCustomersField = Type.Enum([...unknownCustomers], {
  description:
    "What happens with an unmatched customer, who belongs to no known user. `wait`: holds the customer's items for 30 days, until a user with the customer's e-mail address, or named by a checkout or metadata, is known. `create`: creates a user with the customer's id.",
  "x-send": `one of ${unknownCustomers.join(", ")}`,
});

export const StripeSettingsAnswer = Type.Object({
  signingSecrets: listOf(
    "Only the last four characters of each secret are shown again. Without a signing secret, signatures are not verified.",
    { lastFour: Type.String() },
  ),
  unknownCustomers: unknownCustomersField,
  testMode,
  updatedAt: nullable(Field.instant("When it was changed last."), {
    description: "Null before the first change.",
  }),
});

export const StripeSettingsChangeBody = closedObject(
  {
    signingSecrets: Type.Optional(
      Type.Array(
        Type.String({
          pattern: "^whsec_[A-Za-z0-9+/=_-]{8,}$",
          maxLength: sourceSettingLimits.signingSecretCharacters,
          "x-send": "the signing secret of the endpoint in Stripe, which begins with whsec_",
        }),
        {
          maxItems: sourceSettingLimits.signingSecrets,
          description:
            "All signing secrets that are accepted from now on. Empty: signatures are not verified.",
          "x-send": `at most ${sourceSettingLimits.signingSecrets} signing secrets`,
        },
      ),
    ),
    unknownCustomers: Type.Optional(unknownCustomersField),
    testMode: Type.Optional(testMode),
  },
  { minProperties: 1, "x-send": "a JSON object with signingSecrets, unknownCustomers or testMode" },
);
export type StripeSettingsChangeBody = Static<typeof StripeSettingsChangeBody>;
