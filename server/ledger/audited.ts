/** Changes of an organization and its credentials, each with its entry in the audit log: see changing.ts. */
import type { TokenScope } from "../../contract/people.ts";
import type { Actor } from "./audit.ts";
import { type Changing, note } from "./changing.ts";
import {
  type Credential,
  type Credentials,
  createProjectToken,
  createReadKey,
  type SecretPrefix,
  secretPrefix,
} from "./credentials.ts";
import type { Organization, OrganizationChange, SharedLedger } from "./ledger.ts";

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
  scope: TokenScope,
): Promise<{ readonly id: number; readonly secret: string }> {
  const { ledger, organization, by, nowMs } = changing;
  const made = await recorded(ledger.tokens, (tokens) =>
    createProjectToken(tokens, { organization, name, nowMs, scope, madeBy: by.person?.id ?? null }),
  );
  await note(changing, {
    action: "token.created",
    summary: `Created the project token ${shown(made.credential, secretPrefix.token)} with the scope ${scope}`,
    detail: { ...detailOf(made.credential), scope },
  });
  return { id: made.credential.id, secret: made.secret };
}

/** Creates a read key, and returns it here and nowhere else, ever. */
export async function addReadKey(
  changing: Changing<"readKeys">,
  name: string,
  more: readonly ("erase" | "manage")[],
): Promise<{ readonly id: number; readonly secret: string }> {
  const { ledger, organization, by, nowMs } = changing;
  const made = await recorded(ledger.readKeys, (readKeys) =>
    createReadKey(readKeys, { organization, name, nowMs, more, madeBy: by.person?.id ?? null }),
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
