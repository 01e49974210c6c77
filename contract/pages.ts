/** The addresses of the dashboard's pages: the server answers these with the application, and its router has
 * exactly these. A name after a colon stands for one part of the path. */
export const pageAddresses = [
  "/",
  "/claim",
  "/sign-in",
  "/invitation",
  "/password",
  "/o/:organization",
  "/o/:organization/overview",
  "/o/:organization/start",
  "/o/:organization/users",
  "/o/:organization/users/:userId",
  "/o/:organization/accounts",
  "/o/:organization/accounts/:accountId",
  "/o/:organization/retention",
  "/o/:organization/events",
  "/o/:organization/sources",
  "/o/:organization/model",
  "/o/:organization/settings",
  "/o/:organization/settings/organization",
  "/o/:organization/settings/scores",
  "/o/:organization/settings/exclusions",
  "/o/:organization/settings/tokens",
  "/o/:organization/settings/keys",
  "/o/:organization/settings/members",
  "/o/:organization/settings/audit",
  "/o/:organization/settings/account",
] as const;

const partsOfAddresses = pageAddresses.map((address) => address.split("/"));

/** Whether a path, without a query and without a trailing slash, is the address of a page. */
export function isPageAddress(path: string): boolean {
  const parts = path.split("/");
  return partsOfAddresses.some(
    (address) => address.length === parts.length && parts.every((part, at) => canStandFor(part, address[at])),
  );
}

function canStandFor(part: string, ofAddress: string | undefined): boolean {
  if (ofAddress === ":organization") return /^[0-9]+$/.test(part);
  return ofAddress?.startsWith(":") ? part !== "" : part === ofAddress;
}
