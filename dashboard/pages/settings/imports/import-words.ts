/** Words for uploaded files, their states and what their columns become. */
import type { Changes, Reads } from "../../../api/query.ts";
import { numbers } from "../../../text/format.ts";

export type Listed = Reads["/api/imports"]["answer"]["imports"][number];
export type Detail = Reads["/api/imports/:id"]["answer"];
export type Preview = NonNullable<Detail["preview"]>;
export type SentMapping = Changes["POST /api/imports/:id/check"]["body"];
export type SentRole = Preview["columns"][number]["role"];
export type Kind = NonNullable<SentMapping["kind"]>;
export type Tool = NonNullable<SentMapping["from"]>;

/** While something is done with a file. */
export const oftenMs = 1_000;
/** Another owner may begin something. */
export const seldomMs = 30_000;

/** Whether something is being done with the file. */
export function isActive({ state }: Pick<Listed, "state">): boolean {
  return state === "reading" || state === "checking" || state === "running";
}

export const stateWords: Readonly<Record<Listed["state"], string>> = {
  reading: "Being read",
  ready: "Not checked yet",
  checking: "Dry run",
  checked: "Checked, not imported",
  running: "Being imported",
  done: "Imported",
  failed: "Failed",
  deleted: "File deleted",
};

export const toolNames: Readonly<Record<Tool, string>> = {
  mixpanel: "Mixpanel",
  amplitude: "Amplitude",
  posthog: "PostHog",
  segment: "Segment",
  rudderstack: "RudderStack",
  stripe: "Stripe",
};

export const kindNames: Readonly<Record<Kind, string>> = {
  events: "Events",
  users: "Users",
  accounts: "Accounts",
};

const otherWords = { events: "property", users: "trait", accounts: "attribute" } as const;

/** What a column can become in a file of this kind. */
export function roleChoices(kind: Kind): readonly { readonly value: SentRole; readonly label: string }[] {
  const other = otherWords[kind];
  return [
    ...rolesOfKind[kind].map((value) => ({ value, label: roleNames[value] })),
    { value: "property", label: `A ${other}`.replace("A a", "An a") },
    { value: "number", label: `A number, as ${other}` },
    { value: "ignore", label: "Ignore" },
  ];
}

const roleNames: Readonly<Record<Exclude<SentRole, "property" | "number" | "ignore">, string>> = {
  userId: "User id",
  event: "Event",
  timestamp: "Time",
  messageId: "Message id",
  email: "E-mail",
  isAccountOwner: "Owns the account",
  account: "Account",
  accountId: "Account id",
  accountName: "Account name",
  properties: "Object of all others",
};

const rolesOfKind = {
  events: ["userId", "event", "timestamp", "messageId", "properties"],
  users: [
    "userId",
    "email",
    "account",
    "accountId",
    "accountName",
    "isAccountOwner",
    "timestamp",
    "messageId",
    "properties",
  ],
  accounts: ["accountId", "accountName", "timestamp", "messageId", "properties"],
} as const;

/** Rows and their outcomes in a line. */
export function outcomeWords({ progress }: Pick<Listed, "progress">): string {
  if (progress === null) return "–";
  const { stored, duplicates, rejected } = progress;
  return [
    `${numbers.count(stored)} stored`,
    ...(duplicates === 0 ? [] : [`${numbers.count(duplicates)} known`]),
    ...(rejected === 0 ? [] : [`${numbers.count(rejected)} rejected`]),
  ].join(", ");
}
