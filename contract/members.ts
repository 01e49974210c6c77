/**
 * People as JSON Schema: who signs in, of which organizations they are members, what they may do there, and what
 * of an organization is kept in its settings. Bodies and answers of the routes that intake answers itself.
 *
 * Every refusal has the one format of errors. 401 means either that nobody is signed in or that the role has no right;
 * GET /api/session, which needs no right, tells which.
 */
import Type, { type Static } from "typebox";
import { instant, nullable, Parameter } from "./api/api.ts";
import { auditActions, auditLimits } from "./audit.ts";
import { limits } from "./limits.ts";
import { peopleLimits } from "./member-limits.ts";
import { nameRules } from "./names.ts";
import { roles } from "./roles.ts";

/** The cookie that a session is. Scripts cannot read it. */
export const sessionCookie = "rekindle_session";
/** The cookie of a browser in which a person has signed in: guesses from elsewhere cannot hold it up. */
export const deviceCookie = "rekindle_device";

/** Its name where people come by https: browsers take a cookie of such a name from this very host only, and by https. */
export const secureSessionCookie = `__Host-${sessionCookie}`;

/** The header, and its value, that every request of a session other than GET and HEAD must have: a form of another
 * site cannot send it. */
export const sessionHeader = { name: "X-Rekindle", value: "dashboard" } as const;

/** The query parameter that says which of the person's organizations is meant. */
export const organizationParameter = "organization";

const strict = { additionalProperties: false } as const;
const id = Type.Integer({ minimum: 1 });

/** An e-mail as it is sent: read without the spaces around it, and compared without regard to case. */
const email = Type.String({
  minLength: 3,
  maxLength: limits.emailCharacters,
  pattern: "^\\s*[^\\s@]+@[^\\s@]+\\s*$",
  "x-send": "an e-mail address, ada@example.com say",
});
const name = Type.String({
  ...nameRules,
  maxLength: peopleLimits.nameCharacters,
  "x-send": `1 to ${peopleLimits.nameCharacters} characters and no control character`,
});
const newPassword = Type.String({
  minLength: peopleLimits.passwordMinCharacters,
  maxLength: peopleLimits.passwordMaxCharacters,
  description: "Neither the e-mail nor one of the most common passwords.",
  "x-send": `${peopleLimits.passwordMinCharacters} to ${peopleLimits.passwordMaxCharacters} characters`,
});
/** A password that is only compared has no lower bound. */
const presentPassword = Type.String({
  minLength: 1,
  maxLength: peopleLimits.passwordMaxCharacters,
  "x-send": "the password",
});
const code = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "The part of the link after #.",
  "x-send": "the part of the link after #",
});
const timezone = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "An IANA timezone.",
  "x-send": "an IANA timezone, Europe/Paris say",
});
const role = Type.Enum([...roles], { "x-send": `one of ${roles.join(", ")}` });
const rate = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  "x-send": "a whole number from 1 to 1000000",
});
const keepEventsDays = nullable(
  Type.Integer({ minimum: 1, maximum: 36_500, "x-send": "a whole number of days from 1 to 36500, or null" }),
  { description: "Raw events of older days are deleted, and figures kept; null keeps them for ever." },
);

export const InstallationAnswer = Type.Object({
  claimed: Type.Boolean({ description: "Whether anybody has an account yet." }),
  remoteImages: Type.Boolean({
    description: "Whether pages load pictures of users and accounts from other hosts (REMOTE_IMAGES).",
  }),
});

export const ClaimBody = Type.Object({ code, name, email, password: newPassword }, strict);
export const SignInBody = Type.Object({ email, password: presentPassword }, strict);

/** The signed-in person and their memberships. */
export const SessionAnswer = Type.Object({
  person: Type.Object({ id, name: Type.String(), email: Type.String() }),
  organizations: Type.Array(
    Type.Object({ id, name: Type.String(), timezone: Type.String(), role: Type.Enum([...roles]) }),
    { description: "By name." },
  ),
});
export type SessionAnswer = Static<typeof SessionAnswer>;

/** Email and password are changed only with the current password. A new password signs out everywhere else. */
export const PersonChangeBody = Type.Object(
  {
    name: Type.Optional(name),
    email: Type.Optional(email),
    currentPassword: Type.Optional(presentPassword),
    newPassword: Type.Optional(newPassword),
  },
  { ...strict, minProperties: 1, "x-send": "at least one of name, email, newPassword" },
);
export const PersonAnswer = SessionAnswer.properties.person;

export const InvitationLookupBody = Type.Object({ code }, strict);
export const InvitationLookupAnswer = Type.Object({
  organization: Type.Object({ name: Type.String() }),
  email: Type.String(),
  role: Type.Enum([...roles]),
});
export const InvitationAcceptBody = Type.Object(
  {
    code,
    name: Type.Optional({ ...name, description: "Makes an account. Left out by a person who has one." }),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: peopleLimits.passwordMaxCharacters,
        description:
          "Of the account. A new one needs at least 10 characters. Needless for a person who is signed in.",
        "x-send": "the password",
      }),
    ),
  },
  strict,
);
export const PasswordResetBody = Type.Object({ code, password: newPassword }, strict);

export const OrganizationCreateBody = Type.Object({ name, timezone }, strict);
export const OrganizationCreateAnswer = Type.Object({ id });

const organizationFields = {
  name: Type.String(),
  timezone: Type.String({ description: "IANA name; days are this zone's." }),
  requestsPerSecond: Type.Integer({ description: "That each project token may send." }),
  itemsPerSecond: Type.Integer({ description: "Of batches, that each project token may send." }),
  keepEventsDays,
};
export const OrganizationAnswer = Type.Object({
  id,
  ...organizationFields,
  maxRequestsPerSecond: Type.Integer({
    description: "Highest value that owners may set in this installation.",
  }),
  maxItemsPerSecond: Type.Integer({ description: "Highest value that owners may set in this installation." }),
  today: Type.String({ format: "date", description: "The day that it is in the timezone." }),
  createdAt: instant("When it was created."),
});
export const OrganizationChangeBody = Type.Object(
  {
    name: Type.Optional(name),
    timezone: Type.Optional(timezone),
    requestsPerSecond: Type.Optional(rate),
    itemsPerSecond: Type.Optional(
      nullable(rate, { description: "null is ten times the requests, and at least 10,000." }),
    ),
    keepEventsDays: Type.Optional(keepEventsDays),
  },
  {
    ...strict,
    minProperties: 1,
    "x-send": `a JSON object with at least one of ${Object.keys(organizationFields).join(", ")}`,
  },
);
export type OrganizationChangeBody = Static<typeof OrganizationChangeBody>;

export const MembersAnswer = Type.Object({
  members: Type.Array(
    Type.Object({
      id: Type.Integer({ minimum: 1, description: "The person's." }),
      name: Type.String(),
      email: Type.String(),
      role: Type.Enum([...roles]),
      joinedAt: instant("When the person joined the organization."),
      lastSeenAt: nullable(instant("When the person was last here, to the hour.")),
    }),
  ),
  invitations: Type.Array(
    Type.Object({
      id,
      email: Type.String(),
      role: Type.Enum([...roles]),
      createdAt: instant("When it was made."),
      expiresAt: instant("When its link stops working."),
      invitedBy: nullable(Type.String({ description: "A name." }), {
        description: "Null: the command line.",
      }),
    }),
    { description: "Those that can still be accepted." },
  ),
});
export const MemberChangeBody = Type.Object({ role }, strict);
export const MemberRemovalParameters = Type.Object(
  {
    readKeys: Parameter.Enum(["revoke", "keep"], {
      default: "revoke",
      description: "The member's read keys: revoke them, or move them to the owner who removes the member.",
    }),
  },
  strict,
);
/** A change that is done has nothing more to say. */
export const MemberAnswer = Type.Object({ id, role: Type.Enum([...roles]) });

export const InvitationCreateBody = Type.Object({ email, role }, strict);
export const InvitationCreateAnswer = Type.Object({
  id,
  link: Type.String({ description: "Shown this once, to be sent to who is invited." }),
});

const credential = {
  id,
  name: Type.String(),
  lastFour: Type.String({ description: "All that is kept of the secret that can be read." }),
  createdAt: instant("When it was created."),
  lastUsedAt: nullable(instant("When it was last used.")),
  revokedAt: nullable(instant("When it was revoked; null while it lives.")),
  madeBy: nullable(Type.Object({ id, name: Type.String() }), {
    description: "The person who made it, or the owner who kept it. Null: the command line.",
  }),
};
/** `server` does all that the write API says. `browser` is for a token in a page, which is public. */
export const tokenScopes = ["server", "browser"] as const;
export type TokenScope = (typeof tokenScopes)[number];
const scope = Type.Enum([...tokenScopes], {
  description:
    "`server` may do all that this API says. `browser` is for pages: it takes track and identify. Of a user who exists it " +
    "changes neither the e-mail nor isAccountOwner nor the account; it joins no two identified users; webhooks refuse it.",
  "x-send": `one of ${tokenScopes.join(", ")}`,
});
export const TokensAnswer = Type.Object({ tokens: Type.Array(Type.Object({ ...credential, scope })) });
export const TokenCreateBody = Type.Object(
  { name, scope: Type.Optional({ ...scope, default: "server" }) },
  strict,
);
export type TokenCreateBody = Static<typeof TokenCreateBody>;
export const TokenCreateAnswer = Type.Object({
  id,
  token: Type.String({ description: "Shown this once." }),
});

/** The rights that a read key may have beside `read`, which every one has. */
export const readKeyRights = ["read", "manage", "erase"] as const;
const rights = Type.Array(Type.Enum([...readKeyRights]), {
  maxItems: readKeyRights.length,
  uniqueItems: true,
  "x-send": `an array of ${readKeyRights.join(", ")}`,
});
export const ReadKeysAnswer = Type.Object({
  readKeys: Type.Array(Type.Object({ ...credential, rights })),
});
export const ReadKeyCreateBody = Type.Object({ name, rights }, strict);
export const ReadKeyCreateAnswer = Type.Object({
  id,
  readKey: Type.String({ description: "Shown this once." }),
});

export const AuditLogParameters = Type.Object(
  {
    limit: Parameter.Integer({
      minimum: 1,
      maximum: auditLimits.entriesPerPage,
      default: 50,
      description: "At most this many entries.",
    }),
    before: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Older than the entry with this id.",
      }),
    ),
  },
  strict,
);
export const AuditLogAnswer = Type.Object({
  entries: Type.Array(
    Type.Object({
      id,
      at: instant("When it was changed."),
      person: nullable(Type.Object({ id, name: Type.String() }), {
        description: "Null: the command line, a read key or the service itself; `detail.by` says which.",
      }),
      action: Type.Enum([...auditActions]),
      summary: Type.String({ description: "In words." }),
      detail: Type.Record(Type.String(), Type.Unknown(), {
        description: "Subject of the change; `from` and `to` where a value was changed.",
      }),
    }),
    { description: "The newest first." },
  ),
});

/** How the deletion of an organization is asked for. */
export const OrganizationDeletionParameters = Type.Object(
  { name: Type.String({ description: "The organization's name, to confirm." }) },
  { additionalProperties: false },
);
