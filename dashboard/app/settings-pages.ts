/** The pages of an organization's settings, in the order in which they are offered. They are not needed
 * before the palette or the settings are opened. */

import { pages } from "../../contract/pages.ts";
import type { Role } from "../../contract/roles.ts";
import type { OrganizationPage } from "./navigation.ts";

export interface SettingsEntry {
  readonly to: OrganizationPage;
  readonly label: string;
  /** Smaller roles do not see it. */
  readonly least: Role;
  /** Its description in the command palette. */
  readonly about: string;
  /** Further words by which the command palette finds it. */
  readonly words: string;
}

export const settingsPages: readonly SettingsEntry[] = [
  {
    to: pages.organizationSettings,
    label: "Organization",
    least: "viewer",
    about: "Name, timezone, limits",
    words: "rename days rate requests keep events",
  },
  {
    to: pages.scoreSettings,
    label: "Scores",
    least: "viewer",
    about: "Churn horizon, weights, events that count",
    words: "health engagement week key passive left",
  },
  {
    to: pages.currencySettings,
    label: "Currencies",
    least: "viewer",
    about: "Reporting currency of revenue, rates",
    words: "mrr money exchange currencies usd eur billing",
  },
  {
    to: pages.exclusionSettings,
    label: "Exclusions",
    least: "viewer",
    about: "Users that count in no figure",
    words: "exclude rule bot test internal",
  },
  {
    to: pages.tokenSettings,
    label: "Project tokens",
    least: "member",
    about: "Tokens that write, for your application",
    words: "create revoke server browser api",
  },
  {
    to: pages.keySettings,
    label: "Read keys",
    least: "owner",
    about: "Keys that read, for other programs",
    words: "create revoke api",
  },
  {
    to: pages.assistantSettings,
    label: "Assistants",
    least: "viewer",
    about: "AI assistants: keys, set-ups, what they wrote",
    words: "ai mcp claude cursor codex chatgpt llm agent",
  },
  {
    to: pages.memberSettings,
    label: "Members",
    least: "viewer",
    about: "The team, roles, invitations",
    words: "invite people remove owner viewer",
  },
  {
    to: pages.alertRuleSettings,
    label: "Alert rules",
    least: "viewer",
    about: "When alerts open, and who gets them",
    words: "rule alert condition preview template steps playbook control group hold-out cooldown pause",
  },
  {
    to: pages.destinationSettings,
    label: "Destinations",
    least: "viewer",
    about: "Where messages are sent, and their log",
    words: "webhook slack email notification delivery pause test",
  },
  {
    to: pages.importSettings,
    label: "Import",
    least: "owner",
    about: "Files of users, accounts and events",
    words: "csv upload json history export mixpanel amplitude segment posthog stripe",
  },
  {
    to: pages.auditSettings,
    label: "Audit log",
    least: "owner",
    about: "Changes, by person and time",
    words: "history",
  },
  {
    to: pages.accountSettings,
    label: "Your account",
    least: "viewer",
    about: "Name, e-mail, password, sessions",
    words: "email profile sign out leave found new organization",
  },
];
