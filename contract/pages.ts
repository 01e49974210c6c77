/** The addresses of the dashboard's pages. The server answers these with the application. The application's
 * router and its navigation take them from here. A name after `$` stands for one part of the path. */
export const pages = {
  home: "/",
  claim: "/claim",
  signIn: "/sign-in",
  invitation: "/invitation",
  password: "/password",
  agree: "/agree",
  unsubscribe: "/unsubscribe",
  organization: "/o/$organization",
  overview: "/o/$organization/overview",
  start: "/o/$organization/start",
  users: "/o/$organization/users",
  user: "/o/$organization/users/$userId",
  accounts: "/o/$organization/accounts",
  account: "/o/$organization/accounts/$accountId",
  segments: "/o/$organization/segments",
  alerts: "/o/$organization/alerts",
  tasks: "/o/$organization/tasks",
  results: "/o/$organization/results",
  winBack: "/o/$organization/win-back",
  retention: "/o/$organization/retention",
  revenue: "/o/$organization/revenue",
  renewals: "/o/$organization/renewals",
  events: "/o/$organization/events",
  sources: "/o/$organization/sources",
  model: "/o/$organization/model",
  settings: "/o/$organization/settings",
  organizationSettings: "/o/$organization/settings/organization",
  scoreSettings: "/o/$organization/settings/scores",
  currencySettings: "/o/$organization/settings/currencies",
  exclusionSettings: "/o/$organization/settings/exclusions",
  tokenSettings: "/o/$organization/settings/tokens",
  keySettings: "/o/$organization/settings/keys",
  assistantSettings: "/o/$organization/settings/assistants",
  memberSettings: "/o/$organization/settings/members",
  alertRuleSettings: "/o/$organization/settings/alert-rules",
  destinationSettings: "/o/$organization/settings/destinations",
  importSettings: "/o/$organization/settings/import",
  auditSettings: "/o/$organization/settings/audit",
  accountSettings: "/o/$organization/settings/account",
} as const;

export type PageAddress = (typeof pages)[keyof typeof pages];

export const pageAddresses: readonly PageAddress[] = Object.values(pages);

const partsOfAddresses = pageAddresses.map((address) => address.split("/"));

/** Whether a path, without a query and without a trailing slash, is the address of a page. */
export function isPageAddress(path: string): boolean {
  const parts = path.split("/");
  return partsOfAddresses.some(
    (address) => address.length === parts.length && parts.every((part, at) => canStandFor(part, address[at])),
  );
}

function canStandFor(part: string, ofAddress: string | undefined): boolean {
  if (ofAddress === "$organization") return /^[0-9]+$/.test(part);
  return ofAddress?.startsWith("$") ? part !== "" : part === ofAddress;
}
