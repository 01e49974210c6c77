/** The pages of an organization and of its settings, in the order in which they are offered. */
import type { Role } from "../../contract/roles.ts";
import type { IconName } from "../parts/icons.tsx";

export interface NavigationEntry {
  readonly to:
    | "/o/$organization/overview"
    | "/o/$organization/users"
    | "/o/$organization/accounts"
    | "/o/$organization/retention"
    | "/o/$organization/events"
    | "/o/$organization/sources"
    | "/o/$organization/model"
    | "/o/$organization/start"
    | "/o/$organization/settings";
  readonly label: string;
  readonly icon: IconName;
  /** Said of it in the command palette. */
  readonly about: string;
}

export const navigation: readonly (readonly NavigationEntry[])[] = [
  [
    {
      to: "/o/$organization/overview",
      label: "Overview",
      icon: "overview",
      about: "How healthy everybody is today",
    },
    { to: "/o/$organization/users", label: "Users", icon: "users", about: "Who is at risk, and why" },
    {
      to: "/o/$organization/accounts",
      label: "Accounts",
      icon: "accounts",
      about: "Companies and their health",
    },
  ],
  [
    {
      to: "/o/$organization/retention",
      label: "Retention",
      icon: "retention",
      about: "Who comes back, by cohort",
    },
    {
      to: "/o/$organization/events",
      label: "Events",
      icon: "events",
      about: "What arrives, live and over time",
    },
    {
      to: "/o/$organization/sources",
      label: "Sources",
      icon: "sources",
      about: "What sends, how it is connected, and what fell silent",
    },
    { to: "/o/$organization/model", label: "Model", icon: "model", about: "How good the predictions are" },
  ],
  [
    { to: "/o/$organization/start", label: "Start", icon: "start", about: "Send the first events" },
    {
      to: "/o/$organization/settings",
      label: "Settings",
      icon: "settings",
      about: "Tokens, members, what counts",
    },
  ],
];

export interface SettingsEntry {
  readonly to:
    | "/o/$organization/settings/organization"
    | "/o/$organization/settings/scores"
    | "/o/$organization/settings/exclusions"
    | "/o/$organization/settings/tokens"
    | "/o/$organization/settings/keys"
    | "/o/$organization/settings/members"
    | "/o/$organization/settings/audit"
    | "/o/$organization/settings/account";
  readonly label: string;
  /** Smaller roles do not see it. */
  readonly least: Role;
  /** Said of it in the command palette. */
  readonly about: string;
  /** Further words by which the command palette finds it. */
  readonly words: string;
}

export const settingsPages: readonly SettingsEntry[] = [
  {
    ...{ to: "/o/$organization/settings/organization", label: "Organization", least: "viewer" },
    about: "Name, timezone, limits",
    words: "rename days rate requests keep events",
  },
  {
    ...{ to: "/o/$organization/settings/scores", label: "Scores", least: "viewer" },
    about: "Churn horizon, weights, events that count",
    words: "health engagement week key passive left",
  },
  {
    ...{ to: "/o/$organization/settings/exclusions", label: "Exclusions", least: "viewer" },
    about: "Users that count in no figure",
    words: "exclude rule bot test internal",
  },
  {
    ...{ to: "/o/$organization/settings/tokens", label: "Project tokens", least: "member" },
    about: "Tokens that write, for your application",
    words: "create revoke server browser api",
  },
  {
    ...{ to: "/o/$organization/settings/keys", label: "Read keys", least: "owner" },
    about: "Keys that read, for other programs",
    words: "create revoke api",
  },
  {
    ...{ to: "/o/$organization/settings/members", label: "Members", least: "viewer" },
    about: "The team, roles, invitations",
    words: "invite people remove owner viewer",
  },
  {
    ...{ to: "/o/$organization/settings/audit", label: "Audit log", least: "owner" },
    about: "Changes, by person and time",
    words: "history",
  },
  {
    ...{ to: "/o/$organization/settings/account", label: "Your account", least: "viewer" },
    about: "Name, e-mail, password, sessions",
    words: "email profile sign out leave found new organization",
  },
];
