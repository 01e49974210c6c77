/** The pages of an organization, in the order in which they are offered. */

import { pages } from "../../contract/pages.ts";
import type { IconName } from "../parts/icons.tsx";

/** A page that needs no more than the organization. */
export type OrganizationPage = (typeof pages)[Exclude<
  keyof typeof pages,
  | "home"
  | "claim"
  | "signIn"
  | "invitation"
  | "password"
  | "agree"
  | "unsubscribe"
  | "organization"
  | "user"
  | "account"
>];

export interface NavigationEntry {
  readonly to: OrganizationPage;
  readonly label: string;
  readonly icon: IconName;
  /** Its description in the command palette. */
  readonly about: string;
}

type Main =
  | "overview"
  | "users"
  | "accounts"
  | "segments"
  | "alerts"
  | "tasks"
  | "results"
  | "retention"
  | "revenue"
  | "events"
  | "sources"
  | "model"
  | "start"
  | "settings";

/** The name of a main page is also that of its icon, and with a capital letter its label. */
function entry(name: Main, about: string): NavigationEntry {
  return { to: pages[name], label: name.charAt(0).toUpperCase() + name.slice(1), icon: name, about };
}

export const navigation: readonly (readonly NavigationEntry[])[] = [
  [
    entry("overview", "Activity, health and churn risk today"),
    entry("users", "Health and churn risk of users"),
    entry("accounts", "Companies and their health"),
    entry("segments", "Saved filters over users or accounts"),
    entry("alerts", "Users and accounts that a rule found, by money"),
    entry("tasks", "Tasks of the team for users and accounts"),
    entry("results", "What was done last week, and what came of it"),
    {
      to: pages.winBack,
      label: "Win-back",
      icon: "retry",
      about: "Users and accounts that churned lately, by money",
    },
  ],
  [
    entry("retention", "Returning users by cohort"),
    entry("revenue", "MRR, its retention, and MRR at risk"),
    {
      to: pages.renewals,
      label: "Renewals",
      icon: "calendar",
      about: "What renews by month, what is expected, and what came",
    },
    entry("events", "Events live and over time"),
    entry("sources", "Connected tools, set-up, silent sources"),
    entry("model", "How good the predictions are"),
  ],
  [entry("start", "Send the first events"), entry("settings", "Tokens, members, scores")],
];
