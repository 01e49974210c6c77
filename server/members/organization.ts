/** Reads and changes an organization itself: its fields, tokens, read keys and audit log. */
import type { RouteAnswer, RouteBody } from "../../contract/api/routes.ts";
import { peopleLimits } from "../../contract/member-limits.ts";
import { noSuch, Refusal } from "../../contract/refusal.ts";
import { formatDay } from "../calendar/days.ts";
import { Zone, zoneNamed } from "../calendar/zone.ts";
import type { Actor, AuditPage } from "../ledger/audit.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  type Credential,
  createProjectToken,
  createReadKey,
  rightsOfKeys,
  scopeOf,
} from "../ledger/stores/credentials.ts";
import { itemsPerSecond, type Organization } from "../ledger/stores/organization-rows.ts";

/** The ledger, and what remembers of it what is changed here. */
export interface OrganizationParts {
  readonly ledger: Ledger;
  /** Tokens, keys and organizations that were looked up are looked up again. */
  readonly forget: () => void;
  /** Writes down when tokens and keys were last used. */
  readonly recordUse: () => Promise<void>;
  /** The most that owners may set. The command line may set more. */
  readonly maxRequestsPerSecond: number;
}

/** A change of an organization: its author and time. */
interface Ordered {
  readonly organization: number;
  readonly by: Actor;
  readonly nowMs: number;
}

/** The organization's fields. */
export function organizationAnswer(
  organization: Organization,
  nowMs: number,
  maximum: number,
): RouteAnswer<"GET /api/organization"> {
  const { id, name, timezone, requestsPerSecond, keepEventsDays, createdAtMs } = organization;
  return {
    id,
    name,
    timezone,
    today: formatDay(new Zone(timezone).dayOf(nowMs)),
    requestsPerSecond,
    itemsPerSecond: itemsPerSecond(organization),
    keepEventsDays,
    ...maximaOf(organization, maximum),
    createdAt: new Date(createdAtMs).toISOString(),
  };
}

/** The highest rate that owners may set: the installation's maximum, or the organization's own rate if it is
 * higher. Items follow requests as they do by default. */
function maximaOf(organization: Organization, maximum: number) {
  const { requestsPerSecond } = organization;
  const ofInstallation = itemsPerSecond({ requestsPerSecond: maximum, itemsPerSecondSet: null });
  return {
    maxRequestsPerSecond: Math.max(maximum, requestsPerSecond),
    maxItemsPerSecond: Math.max(ofInstallation, itemsPerSecond(organization)),
  };
}

/** @throws Refusal when a rate is beyond what owners may set */
function refuseBeyond(maxima: ReturnType<typeof maximaOf>, sent: RouteBody<"PATCH /api/organization">): void {
  const wanted = [
    ["requestsPerSecond", sent.requestsPerSecond, maxima.maxRequestsPerSecond],
    ["itemsPerSecond", sent.itemsPerSecond, maxima.maxItemsPerSecond],
  ] as const;
  for (const [field, rate, most] of wanted) {
    if ((rate ?? 0) <= most) continue;
    throw new Refusal(
      `${field} may be ${most} at most in this installation: send less, or ask whoever runs it.`,
    );
  }
}

/** Changes what is sent. @throws Refusal */
export async function updateOrganization(
  { ledger, forget, maxRequestsPerSecond: maximum }: OrganizationParts,
  { organization, by, nowMs }: Ordered,
  before: Organization,
  sent: RouteBody<"PATCH /api/organization">,
): Promise<RouteAnswer<"GET /api/organization">> {
  const { name, timezone, requestsPerSecond, itemsPerSecond: items, keepEventsDays } = sent;
  refuseBeyond(maximaOf(before, maximum), sent);
  const after = await ledger.organizations.set(
    organization,
    {
      ...(name !== undefined && { name: name.trim() }),
      ...(timezone !== undefined && { timezone: knownZone(timezone) }),
      ...(requestsPerSecond !== undefined && { requestsPerSecond }),
      ...(items !== undefined && { itemsPerSecondSet: items }),
      ...(keepEventsDays !== undefined && { keepEventsDays }),
    },
    by,
    nowMs,
  );
  forget();
  return organizationAnswer(after, nowMs, maximum);
}

/** The timezone in its usual spelling. @throws Refusal when there is none of this name */
export function knownZone(name: string): string {
  const zone = zoneNamed(name.trim());
  if (zone === undefined) {
    throw new Refusal("timezone is not known: send an IANA timezone such as Europe/Paris.");
  }
  return zone;
}

/** The project tokens, revoked ones too. */
export async function tokensOf(
  { ledger, recordUse }: OrganizationParts,
  organization: number,
): Promise<RouteAnswer<"GET /api/tokens">> {
  await recordUse();
  const tokens = await ledger.tokens.list(organization);
  return {
    tokens: tokens.map((token) => ({
      ...credentialAnswer(token),
      scope: scopeOf(token),
      joinsAccounts: token.rights.includes("join"),
    })),
  };
}

/** The read keys, revoked ones too. */
export async function readKeysOf(
  { ledger, recordUse }: OrganizationParts,
  organization: number,
): Promise<RouteAnswer<"GET /api/read-keys">> {
  await recordUse();
  const keys = await ledger.readKeys.list(organization);
  return {
    readKeys: keys.map((key) => ({
      ...credentialAnswer(key),
      rights: (["read", ...rightsOfKeys] as const).filter((right) => key.rights.includes(right)),
    })),
  };
}

/** A new project token, shown this once. @throws Refusal when there are too many */
export async function newToken(
  { ledger }: OrganizationParts,
  { organization, by, nowMs }: Ordered,
  { name, scope = "server", joinsAccounts = false }: RouteBody<"POST /api/tokens">,
) {
  await refuseTooMany(ledger.tokens, organization);
  const wanted = { organization, name: name.trim(), nowMs, scope, joinsAccounts };
  const { id, secret } = await createProjectToken(ledger.tokens, wanted, by);
  return { id, token: secret };
}

/** A new read key, shown this once. @throws Refusal when there are too many */
export async function newReadKey(
  { ledger }: OrganizationParts,
  { organization, by, nowMs }: Ordered,
  { name, rights }: RouteBody<"POST /api/read-keys">,
) {
  await refuseTooMany(ledger.readKeys, organization);
  const more = rights.filter((right) => right !== "read");
  const wanted = { organization, name: name.trim(), nowMs, more };
  const { id, secret } = await createReadKey(ledger.readKeys, wanted, by);
  return { id, readKey: secret };
}

/** Revokes a project token or a read key; it is refused from now on.
 * @throws ApiError when the organization has none with this id */
export async function revoke(
  kind: "tokens" | "readKeys",
  { ledger, forget }: OrganizationParts,
  { organization, by, nowMs }: Ordered,
  id: number,
): Promise<void> {
  const own = await ledger[kind].list(organization);
  if (!own.some((credential) => credential.id === id)) {
    throw noSuch(kind === "tokens" ? "project token" : "read key");
  }
  await ledger[kind].revoke(id, by, nowMs);
  forget();
}

/** The audit log, the newest entries first. */
export async function auditLogOf(
  { ledger }: { readonly ledger: Pick<Ledger, "audit"> },
  organization: number,
  page: AuditPage,
): Promise<RouteAnswer<"GET /api/audit-log">> {
  const entries = await ledger.audit.list(organization, page);
  return {
    entries: entries.map(({ id, atMs, person, action, summary, detail }) => ({
      id,
      at: new Date(atMs).toISOString(),
      person,
      action,
      summary,
      detail: { ...detail },
    })),
  };
}

async function refuseTooMany(store: Ledger["tokens"], organization: number): Promise<void> {
  const { credentialsPerOrganization: most } = peopleLimits;
  const living = (await store.list(organization)).filter(({ revokedAtMs }) => revokedAtMs === null);
  if (living.length >= most)
    throw new Refusal(`There are ${most} already: revoke one before you make another.`);
}

function credentialAnswer(credential: Credential) {
  const { id, name, lastFour, createdAtMs, lastUsedAtMs, revokedAtMs, madeBy } = credential;
  const instant = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    id,
    name,
    lastFour,
    createdAt: new Date(createdAtMs).toISOString(),
    lastUsedAt: instant(lastUsedAtMs),
    revokedAt: instant(revokedAtMs),
    madeBy,
  };
}
