/**
 * Changes of an organization, each with its entry in the audit log: the one way in which the command line, read keys
 * and people change anything that is not about people. The entry follows the change in a commit of its own.
 */
import type { SettingsChange } from "../../contract/settings.ts";
import type { Actor, AuditNote, AuditStore } from "./audit.ts";
import {
  type Credential,
  type Credentials,
  createProjectToken,
  createReadKey,
  type SecretPrefix,
  secretPrefix,
} from "./credentials.ts";
import type { DeadLetterSelection } from "./dead-letters.ts";
import type { ExclusionRule, StoredExclusionRule } from "./exclusions.ts";
import type { ErasureReceipt, Organization, OrganizationChange, SharedLedger } from "./ledger.ts";
import { type SettingsVersion, settingDifferences } from "./settings.ts";

/** Who changes what of which organization, and when. */
export interface Changing<Parts extends keyof SharedLedger> {
  readonly ledger: Pick<SharedLedger, Parts> & { readonly audit: Pick<AuditStore, "add"> };
  readonly organization: number;
  readonly by: Actor;
  readonly nowMs: number;
}

/** Creates an organization. @throws Refusal when the name is taken. */
export async function createOrganization(
  ledger: Pick<SharedLedger, "organizations" | "audit">,
  wanted: { readonly name: string; readonly timezone: string },
  by: Actor,
  nowMs: number,
): Promise<Organization> {
  const organization = await ledger.organizations.create({ ...wanted, nowMs });
  const { name, timezone } = organization;
  await note(
    { ledger, organization: organization.id, by, nowMs },
    {
      action: "organization.created",
      summary: `Created the organization ${name}`,
      detail: { name, timezone },
    },
  );
  return organization;
}

/** Changes what is given. @throws Refusal as `Organizations.set` does */
export async function changeOrganization(
  changing: Changing<"organizations">,
  change: OrganizationChange,
): Promise<Organization> {
  const { ledger, organization: id } = changing;
  const before = (await ledger.organizations.list()).find((one) => one.id === id);
  const after = await ledger.organizations.set(id, change);
  const fields = (["name", "timezone", "requestsPerSecond", "itemsPerSecondSet", "keepEventsDays"] as const)
    .filter((field) => before?.[field] !== after[field])
    .map((field) => [field, before?.[field], after[field]] as const);
  if (fields.length === 0) return after;
  await note(changing, {
    action: "organization.changed",
    summary: `Changed the organization's ${fields.map(([field]) => fieldNames[field]).join(", ")}`,
    detail: {
      from: Object.fromEntries(fields.map(([field, from]) => [fieldKeys[field], from])),
      to: Object.fromEntries(fields.map(([field, , to]) => [fieldKeys[field], to])),
    },
  });
  return after;
}

const fieldNames = {
  name: "name",
  timezone: "timezone",
  requestsPerSecond: "requests per second",
  itemsPerSecondSet: "items per second",
  keepEventsDays: "days that raw events are kept",
} as const;

/** As the API names them. */
const fieldKeys = {
  name: "name",
  timezone: "timezone",
  requestsPerSecond: "requestsPerSecond",
  itemsPerSecondSet: "itemsPerSecond",
  keepEventsDays: "keepEventsDays",
} as const;

/** Creates a project token, and returns it here and nowhere else, ever. */
export async function addProjectToken(
  changing: Changing<"tokens">,
  name: string,
): Promise<{ readonly id: number; readonly secret: string }> {
  const { ledger, organization, nowMs } = changing;
  const made = await recorded(ledger.tokens, (tokens) =>
    createProjectToken(tokens, { organization, name, nowMs }),
  );
  await note(changing, {
    action: "token.created",
    summary: `Created the project token ${shown(made.credential, secretPrefix.token)}`,
    detail: detailOf(made.credential),
  });
  return { id: made.credential.id, secret: made.secret };
}

/** Creates a read key, and returns it here and nowhere else, ever. */
export async function addReadKey(
  changing: Changing<"readKeys">,
  name: string,
  more: readonly ("erase" | "manage")[],
): Promise<{ readonly id: number; readonly secret: string }> {
  const { ledger, organization, nowMs } = changing;
  const made = await recorded(ledger.readKeys, (readKeys) =>
    createReadKey(readKeys, { organization, name, nowMs, more }),
  );
  const { rights } = made.credential;
  await note(changing, {
    action: "read_key.created",
    summary: `Created the read key ${shown(made.credential, secretPrefix.readKey)} with the rights ${rights.join(", ")}`,
    detail: { ...detailOf(made.credential), rights },
  });
  return { id: made.credential.id, secret: made.secret };
}

/** Keeps what the store made of a secret, beside the secret. */
async function recorded(
  store: Pick<Credentials, "create">,
  make: (store: Pick<Credentials, "create">) => Promise<string>,
): Promise<{ readonly credential: Credential; readonly secret: string }> {
  let credential: Credential | undefined;
  const secret = await make({
    create: async (wanted) => {
      credential = await store.create(wanted);
      return credential;
    },
  });
  if (credential === undefined) throw new Error("a secret was made without being stored");
  return { credential, secret };
}

/** Revokes a project token or a read key of whichever organization it is.
 * @throws Refusal when there is none with this id */
export async function revokeCredential(
  kind: "tokens" | "readKeys",
  { ledger, by, nowMs }: Omit<Changing<"tokens" | "readKeys">, "organization">,
  id: number,
): Promise<Credential> {
  const revoked = await ledger[kind].revoke(id, nowMs);
  // Revoking again changes nothing; the time is that of the first.
  if (revoked.revokedAtMs !== nowMs) return revoked;
  const [title, prefix] =
    kind === "tokens" ? ["project token", secretPrefix.token] : ["read key", secretPrefix.readKey];
  await note(
    { ledger, organization: revoked.organization, by, nowMs },
    {
      action: kind === "tokens" ? "token.revoked" : "read_key.revoked",
      summary: `Revoked the ${title} ${shown(revoked, prefix as SecretPrefix)}`,
      detail: detailOf(revoked),
    },
  );
  return revoked;
}

function shown({ name, lastFour }: Credential, prefix: SecretPrefix): string {
  return `${name} (${prefix}…${lastFour})`;
}

function detailOf({ id, name, lastFour }: Credential) {
  return { id, name, lastFour };
}

/** Changes settings. @throws Refusal as `SettingsStore.change` does */
export async function changeSettings(
  changing: Changing<"settings">,
  change: SettingsChange,
): Promise<SettingsVersion> {
  const { ledger, organization, by, nowMs } = changing;
  const before = await ledger.settings.get(organization);
  const after = await ledger.settings.change(organization, change, by.by, nowMs);
  if (after.version === before.version) return after;
  const differences = settingDifferences(before.settings, after.settings);
  const values = (side: "from" | "to") =>
    Object.fromEntries(differences.map((one) => [one.setting, one[side]]));
  await note(changing, {
    action: "settings.changed",
    summary: `Changed the settings ${differences.map(({ setting }) => setting).join(", ")}`,
    detail: { version: after.version, from: values("from"), to: values("to") },
  });
  return after;
}

/** Adds a rule. @throws Refusal as `ExclusionStore.add` does */
export async function addExclusion(
  changing: Changing<"exclusions">,
  rule: ExclusionRule,
): Promise<StoredExclusionRule> {
  const { ledger, organization, nowMs } = changing;
  const known = await ledger.exclusions.list(organization);
  const added = await ledger.exclusions.add(organization, rule, nowMs);
  if (known.some(({ id }) => id === added.id)) return added;
  await note(changing, {
    action: "exclusion.added",
    summary: `Left out of figures: ${ruleInWords(added)}`,
    detail: ruleDetail(added),
  });
  return added;
}

/** Removes a rule. @throws Refusal when the organization has no rule with this id */
export async function removeExclusion(changing: Changing<"exclusions">, id: number): Promise<void> {
  const { ledger, organization } = changing;
  const rule = (await ledger.exclusions.list(organization)).find((one) => one.id === id);
  await ledger.exclusions.remove(organization, id);
  if (rule === undefined) return;
  await note(changing, {
    action: "exclusion.removed",
    summary: `No longer left out of figures: ${ruleInWords(rule)}`,
    detail: ruleDetail(rule),
  });
}

/** Rules that may name one user are told without the name: the log outlives an erasure. */
const namesPeople: ReadonlySet<string> = new Set(["user", "email"]);

function ruleInWords({ id, kind, key, value }: StoredExclusionRule): string {
  if (namesPeople.has(kind)) return `${kind}, rule ${id}`;
  return kind === "trait" ? `trait ${key} = ${value}` : `${kind} ${value}`;
}

function ruleDetail({ id, kind, key, value }: StoredExclusionRule) {
  return namesPeople.has(kind) ? { id, kind } : { id, kind, key, value };
}

/** Sends dead letters to the warehouse again, or drops them. @returns how many.
 * @throws Refusal for an id that is none of the organization's */
export async function changeDeadLetters(
  what: "retry" | "drop",
  changing: Changing<"deadLetters">,
  ids: readonly number[] | undefined,
): Promise<number> {
  const { ledger, organization } = changing;
  const selection: DeadLetterSelection = { organization, ids };
  const rows = await ledger.deadLetters[what](selection);
  if (rows === 0) return rows;
  await note(changing, {
    action: what === "retry" ? "dead_letters.retried" : "dead_letters.dropped",
    summary: `${what === "retry" ? "Sent again" : "Dropped"}: ${rows} dead letter${rows === 1 ? "" : "s"}`,
    detail: { rows, ...(ids !== undefined && { ids: ids.slice(0, maxIdsTold) }) },
  });
  return rows;
}

const maxIdsTold = 100;

/** Notes that a user was erased; who it was is not kept. */
export function noteErasure(changing: Changing<never>, receipt: ErasureReceipt): Promise<void> {
  const { events, versions, deadLetters } = receipt;
  return note(changing, {
    action: "user.erased",
    summary: `Erased a user with ${events} event${events === 1 ? "" : "s"}`,
    detail: { events, versions, deadLetters },
  });
}

function note({ ledger, organization, by, nowMs }: Changing<never>, what: AuditNote): Promise<void> {
  return ledger.audit.add({ organization, actor: by, atMs: nowMs, ...what });
}
