/**
 * People as JSON Schema: who signs in, of which organizations they are members, what they may do there, and
 * what of an organization is kept in its settings. Bodies and answers of the routes that intake answers
 * itself.
 *
 * Every refusal has the one format of errors. 401 means either that nobody is signed in or that the role has
 * no right; GET /api/session, which needs no right, tells which.
 */
import Type, { type Static } from "typebox";
import { closedObject, Field, listOf, nullable, objectOrNull, objects, Parameter } from "./api/schema.ts";
import { auditActions, auditLimits } from "./audit.ts";
import { limits } from "./limits.ts";
import { peopleLimits } from "./member-limits.ts";
import { mailAddressRules, nameRules } from "./names.ts";
import { roles } from "./roles.ts";

/** The cookie that a session is. Scripts cannot read it. */
export const sessionCookie = "rekindle_session";
/** The cookie of a browser in which a person has signed in: guesses from elsewhere cannot hold it up. */
export const deviceCookie = "rekindle_device";

/** The name of the session cookie over https: browsers take a cookie with this prefix only from this very
 * host, and only over https. */
export const secureSessionCookie = `__Host-${sessionCookie}`;

/** The header, and its value, that every request of a session other than GET and HEAD must have: a form of
 * another site cannot send it. */
export const sessionHeader = { name: "X-Rekindle", value: "dashboard" } as const;

/** The query parameter that says which of the person's organizations is meant. */
export const organizationParameter = "organization";

const id = Type.Integer({ minimum: 1 });

/** An e-mail as it is sent: read without the spaces around it, and compared without regard to case. */
const email = Type.String({
  minLength: 3,
  maxLength: limits.emailCharacters,
  ...mailAddressRules,
  "x-send": "an e-mail address such as ada@example.com",
});
const name = Type.String({
  ...nameRules,
  maxLength: peopleLimits.nameCharacters,
  "x-send": `1 to ${peopleLimits.nameCharacters} characters and no control character`,
});
const newPassword = Type.String({
  minLength: peopleLimits.passwordMinCharacters,
  maxLength: peopleLimits.passwordMaxCharacters,
  description: "Neither the e-mail address nor one of the most common passwords.",
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
  "x-send": "an IANA timezone such as Europe/Paris",
});
const role = Type.Enum([...roles], { "x-send": `one of ${roles.join(", ")}` });
const rate = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  "x-send": "a whole number from 1 to 1000000",
});
const keepEventsDays = nullable(
  Type.Integer({ minimum: 1, maximum: 36_500, "x-send": "a whole number of days from 1 to 36500, or null" }),
  {
    description:
      "Raw events older than this many days are deleted; figures are kept. Null: raw events are kept for ever.",
  },
);

export const InstallationAnswer = Type.Object({
  claimed: Field.boolean("Whether the installation has been claimed: it has a first team member."),
  remoteImages: Field.boolean(
    "Whether pages load pictures of users and accounts from other hosts (REMOTE_IMAGES).",
  ),
  sendsEmail: Field.boolean("Whether the installation sends e-mail (SMTP_URL)."),
});

export const ClaimBody = closedObject({ code, name, email, password: newPassword });
export const SignInBody = closedObject({ email, password: presentPassword });

/** The signed-in person and their memberships. */
export const SessionAnswer = Type.Object({
  person: Type.Object({ id, name: Type.String(), email: Type.String() }),
  organizations: listOf("By name.", {
    id,
    name: Type.String(),
    timezone: Type.String(),
    role: Type.Enum([...roles]),
  }),
});
export type SessionAnswer = Static<typeof SessionAnswer>;

/** Email and password are changed only with the current password. A new password signs out everywhere
 * else. */
export const PersonChangeBody = closedObject(
  {
    name: Type.Optional(name),
    email: Type.Optional(email),
    currentPassword: Type.Optional(presentPassword),
    newPassword: Type.Optional(newPassword),
  },
  { minProperties: 1, "x-send": "a JSON object with at least one of name, email, newPassword" },
);
export const PersonAnswer = SessionAnswer.properties.person;

export const InvitationLookupBody = closedObject({ code });
export const InvitationLookupAnswer = Type.Object({
  organization: Type.Object({ name: Type.String() }),
  email: Type.String(),
  role: Type.Enum([...roles]),
});
export const InvitationAcceptBody = closedObject({
  code,
  name: Type.Optional({
    ...name,
    description: "The name of a new team member. Leave it out if the e-mail address can already sign in.",
  }),
  password: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: peopleLimits.passwordMaxCharacters,
      description:
        "The password to sign in with. For a new team member at least 10 characters. Not needed if already signed in.",
      "x-send": "the password",
    }),
  ),
});
export const PasswordResetBody = closedObject({ code, password: newPassword });

export const OrganizationCreateBody = closedObject({ name, timezone });
export const OrganizationCreateAnswer = Type.Object({ id });

const organizationFields = {
  name: Type.String(),
  timezone: Field.text("The IANA timezone of all days."),
  requestsPerSecond: Field.integer("Requests a second that each project token may send."),
  itemsPerSecond: Field.integer("Items a second that each project token may send in batches."),
  keepEventsDays,
};
export const OrganizationAnswer = Type.Object({
  id,
  ...organizationFields,
  maxRequestsPerSecond: Field.integer("The highest value that owners may set in this installation."),
  maxItemsPerSecond: Field.integer("The highest value that owners may set in this installation."),
  today: Field.day("The current day in the organization's timezone."),
  createdAt: Field.instant("When it was created."),
});
export const OrganizationChangeBody = closedObject(
  {
    name: Type.Optional(name),
    timezone: Type.Optional(timezone),
    requestsPerSecond: Type.Optional(rate),
    itemsPerSecond: Type.Optional(
      nullable(rate, { description: "Null: ten times requestsPerSecond, and at least 10,000." }),
    ),
    keepEventsDays: Type.Optional(keepEventsDays),
  },
  {
    minProperties: 1,
    "x-send": `a JSON object with at least one of ${Object.keys(organizationFields).join(", ")}`,
  },
);

export const MembersAnswer = Type.Object({
  members: objects({
    id: Type.Integer({ minimum: 1, description: "The team member's id." }),
    name: Type.String(),
    email: Type.String(),
    role: Type.Enum([...roles]),
    joinedAt: Field.instant("When the team member joined the organization."),
    lastSeenAt: nullable(Field.instant("When the team member was last active, to the hour. Null if never.")),
  }),
  invitations: listOf("Invitations that can still be accepted. Empty for other roles than owner.", {
    id,
    email: Type.String(),
    role: Type.Enum([...roles]),
    createdAt: Field.instant("When it was made."),
    expiresAt: Field.instant("When the invitation's link stops working."),
    invitedBy: nullable(Field.text("The name of the team member who invited."), {
      description: "Null: invited on the command line.",
    }),
  }),
});
export const MemberChangeBody = closedObject({ role });
export const MemberRemovalParameters = closedObject({
  readKeys: Parameter.Enum(["revoke", "keep"], {
    default: "revoke",
    description:
      "What happens with the team member's read keys: revoke them, or keep them and move them to the owner who removes the team member.",
  }),
});
/** A change that is done has nothing more to say. */
export const MemberAnswer = Type.Object({ id, role: Type.Enum([...roles]) });

export const InvitationCreateBody = closedObject({ email, role });
export const InvitationCreateAnswer = Type.Object({
  id,
  link: Field.text("The link to send to the invited person. It is shown only once."),
  notMailedBecause: Field.textOrNull("Why the link was not sent by e-mail. Null if it was sent."),
});

const credential = {
  id,
  name: Type.String(),
  lastFour: Field.text("The last four characters of the secret. The rest is not stored in readable form."),
  createdAt: Field.instant("When it was created."),
  lastUsedAt: nullable(Field.instant("When it was last used. Null if never.")),
  revokedAt: nullable(Field.instant("When it was revoked. Null while it is valid.")),
  madeBy: objectOrNull(
    "The team member who made it, or the owner who kept it. Null: made on the command line.",
    {
      id,
      name: Type.String(),
    },
  ),
};
/** `server` does all that the write API says. `browser` is for a token in a page, which is public. `arm` asks
 * for arms of control groups, and nothing else. */
export const tokenScopes = ["server", "browser", "arm"] as const;
export type TokenScope = (typeof tokenScopes)[number];
const scope = Type.Enum([...tokenScopes], {
  description:
    "`server`: may do everything in the write API. `browser`: for pages, may send track and identify. For an existing user it " +
    "changes neither the e-mail address nor isAccountOwner nor the account; it never merges two identified users; webhooks refuse it. `arm`: may ask POST /arm, and nothing else.",
  "x-send": `one of ${tokenScopes.join(", ")}`,
});
const joinsAccounts = Type.Boolean({
  description:
    "Only for the scope `browser`, and only set by an owner: pages may assign an existing account to a user who was first identified in the same visit, within 24 hours.",
  "x-send": "true or false",
});
export const TokensAnswer = Type.Object({ tokens: objects({ ...credential, scope, joinsAccounts }) });
export const TokenCreateBody = closedObject({
  name,
  scope: Type.Optional({ ...scope, default: "server" }),
  joinsAccounts: Type.Optional({ ...joinsAccounts, default: false }),
});
export const TokenCreateAnswer = Type.Object({
  id,
  token: Field.text("The secret. It is shown only once."),
});

/** The rights that a read key may have beside `read`, which every one has. */
const readKeyRights = ["read", "assist", "manage", "erase"] as const;
const rights = Type.Array(Type.Enum([...readKeyRights]), {
  maxItems: readKeyRights.length,
  uniqueItems: true,
  description:
    "assist: an assistant may add notes and tasks and handle alerts by the Model Context Protocol, 30 times an hour. manage: may change settings and work with customers. erase: may erase users and accounts.",
  "x-send": `an array of ${readKeyRights.join(", ")}`,
});
export const ReadKeysAnswer = Type.Object({
  readKeys: objects({ ...credential, rights }),
});
export const ReadKeyCreateBody = closedObject({ name, rights });
export const ReadKeyCreateAnswer = Type.Object({
  id,
  readKey: Field.text("The secret. It is shown only once."),
});

export const AuditLogParameters = closedObject({
  limit: Parameter.positive(auditLimits.entriesPerPage, 50, "At most this many entries."),
  before: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Only entries older than the entry with this id.",
    }),
  ),
});
export const AuditLogAnswer = Type.Object({
  entries: listOf("The newest first.", {
    id,
    at: Field.instant("When the change was made."),
    person: objectOrNull(
      "The team member who made the change. Null: the command line, a read key or the service itself; `detail.by` says which.",
      { id, name: Type.String() },
    ),
    action: Type.Enum([...auditActions]),
    summary: Field.text("The change in words."),
    detail: Type.Record(Type.String(), Type.Unknown(), {
      description: "What was changed, with `from` and `to` if a value was changed.",
    }),
  }),
});

export const ErasuresAnswer = Type.Object({
  erasures: listOf("In the order in which they were asked for.", {
    id,
    kind: Type.Enum(["user", "account"]),
    requestedAt: Field.instant("When it was asked for."),
    erasedAt: nullable(Field.instant("When the last of the data was deleted."), {
      description: "Null while data is deleted.",
    }),
    events: Field.count("Events of the user; of an account, events that lost it."),
    versions: Field.count("Stored versions of the user or the account."),
    rejectedEvents: Field.count("Rejected events that named the user or the account."),
    inboxRows: Field.count("Rows that were received and not loaded yet."),
    days: Field.count("Days whose figures were computed again."),
  }),
});

/** How the deletion of an organization is asked for. */
export const OrganizationDeletionParameters = closedObject({
  name: Field.text("The organization's name, to confirm."),
});
