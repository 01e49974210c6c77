/** The pages of an organization, in the order in which they are offered. */
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
