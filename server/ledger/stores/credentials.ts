/**
 * Credentials: project tokens (`rk-`), which write and never read, and read keys (`rr-`), which read and
 * never write. Both are a prefix and 32 random characters. The ledger keeps a hash and the last four
 * characters.
 */
import { createHash, randomBytes } from "node:crypto";
import type { TokenScope } from "../../../contract/members.ts";
import { Refusal } from "../../../contract/refusal.ts";
import type { Actor, AuditNote } from "../audit.ts";
import { forUpdate, greatest, records } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import { noMemberForSecret } from "../rules/member-notes.ts";
import { exists, integer, nullable, RowOf, returningOne, run, select, sqlText, text } from "../sql.ts";
import { findOrganization, lockKnownOrganization, lockOrganization } from "./organization-rows.ts";

/** Every project token has `write`, `browser` or `arm`: its scope. One for pages may have `join`: pages may
 * give users accounts that exist. Every read key has `read`. With `erase` it may also erase users, with
 * `manage` it may change settings and rejected events, with `assist` an assistant may write by it. */
export type Right = RightOfTokens | RightOfKeys;
/** Rights beside `read` that a read key may be given. */
export const rightsOfKeys = ["assist", "manage", "erase"] as const;
type RightOfKeys = "read" | (typeof rightsOfKeys)[number];
export type RightOfTokens = "write" | "browser" | "join" | "arm";

export interface Credential {
  readonly id: number;
  readonly organization: number;
  readonly name: string;
  readonly rights: readonly Right[];
  /** The only part of the secret that is kept, beside its hash. */
  readonly lastFour: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** The person who made it, or an owner who took it over. Null for the command line. */
  readonly madeBy: { readonly id: number; readonly name: string } | null;
}

/** The prefix of each kind of secret. */
export const secretPrefix = { token: "rk-", readKey: "rr-" } as const;
export type SecretPrefix = (typeof secretPrefix)[keyof typeof secretPrefix];

interface Wanted {
  readonly organization: number;
  readonly name: string;
  readonly nowMs: number;
}

/** A credential that was just created. */
interface NewSecret {
  readonly id: number;
  /** It is stored nowhere. */
  readonly secret: string;
}

/** Creates a project token for an organization. Only this call returns it. */
export function createProjectToken(
  tokens: Pick<Credentials, "create">,
  {
    scope = "server",
    joinsAccounts = false,
    ...wanted
  }: Wanted & { readonly scope?: TokenScope; readonly joinsAccounts?: boolean },
  by: Actor,
): Promise<NewSecret> {
  if (joinsAccounts && scope !== "browser")
    throw new Refusal("joinsAccounts belongs to the scope browser: a server may give any account.");
  const rights: readonly Right[] = [
    scope === "server" ? "write" : scope,
    ...(joinsAccounts ? ["join" as const] : []),
  ];
  return create(tokens, secretPrefix.token, { ...wanted, rights }, by);
}

/** The scope of a project token. */
export function scopeOf({ rights }: Pick<Credential, "rights">): TokenScope {
  if (rights.includes("arm")) return "arm";
  return rights.includes("write") ? "server" : "browser";
}

/** Creates a read key with rights beside `read`. Only this call returns it. */
export function createReadKey(
  readKeys: Pick<Credentials, "create">,
  { more, ...wanted }: Wanted & { readonly more: readonly (typeof rightsOfKeys)[number][] },
  by: Actor,
): Promise<NewSecret> {
  return create(readKeys, secretPrefix.readKey, { ...wanted, rights: ["read", ...new Set(more)] }, by);
}

async function create(
  credentials: Pick<Credentials, "create">,
  prefix: SecretPrefix,
  wanted: Wanted & { readonly rights: readonly Right[] },
  by: Actor,
): Promise<NewSecret> {
  const secret = prefix + randomText();
  const stored = { ...wanted, sha256: hashSecret(secret), lastFour: secret.slice(-4) };
  const { id } = await credentials.create(stored, by);
  return { id, secret };
}

/** Each kind has a table of its own. */
export type CredentialTable = "tokens" | "read_keys";

const words = {
  tokens: { action: "token", title: "project token", prefix: secretPrefix.token },
  read_keys: { action: "read_key", title: "read key", prefix: secretPrefix.readKey },
} as const;

/** The entry of a credential that was created. */
function credentialCreatedNote(table: CredentialTable, credential: Credential): AuditNote {
  const { action, title } = words[table];
  const { rights } = credential;
  const scope = scopeOf(credential);
  const joins = rights.includes("join") ? ", joining accounts that exist" : "";
  const extent = table === "tokens" ? `scope ${scope}${joins}` : `rights ${rights.join(", ")}`;
  return {
    action: `${action}.created`,
    summary: `Created the ${title} ${shown(table, credential)} with the ${extent}`,
    detail: { ...detailOf(credential), ...(table === "tokens" ? { scope } : { rights }) },
  };
}

/** The entry of a credential that was revoked. */
function credentialRevokedNote(table: CredentialTable, credential: Credential): AuditNote {
  const { action, title } = words[table];
  return {
    action: `${action}.revoked`,
    summary: `Revoked the ${title} ${shown(table, credential)}`,
    detail: detailOf(credential),
  };
}

function shown(table: CredentialTable, { name, lastFour }: Credential): string {
  return `${name} (${words[table].prefix}…${lastFour})`;
}

function detailOf({ id, name, lastFour }: Credential) {
  return { id, name, lastFour };
}

/** The hash by which a secret is stored and found: SHA-256, in hexadecimal digits. A secret has 190 random
 * bits, so a slow hash would add no safety. Attackers could use it to overload the service. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const randomCharacters = 32;

/** The texts of a body that look like a secret. Other texts may match, too: "work-" ends with a prefix. */
export function secretsIn(text: string): Iterable<string> {
  return text.matchAll(/r[kr]-[A-Za-z0-9]{32}/g).map(([secret]) => secret);
}

function randomText(): string {
  let text = "";
  while (text.length < randomCharacters) {
    for (const byte of randomBytes(randomCharacters)) {
      // 248 is the largest multiple of 62 in a byte. Larger bytes would make some characters more frequent.
      if (byte < 248 && text.length < randomCharacters) text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}

/** Rights are words with a space between: `read erase`. */
type Stored = Omit<Credential, "rights" | "madeBy"> & {
  readonly rights: string;
  readonly madeBy: number | null;
  readonly madeByName: string | null;
};

const stored = new RowOf<Stored>({
  id: integer(),
  organization: integer(),
  name: text(),
  rights: text(),
  lastFour: text(),
  createdAtMs: integer(),
  lastUsedAtMs: nullable(integer()),
  revokedAtMs: nullable(integer()),
  madeBy: nullable(integer()),
  madeByName: nullable(text("(SELECT people.name FROM people WHERE people.id = made_by)")),
});
const ownerRow = new RowOf<Pick<Credential, "organization">>({ organization: integer() });

const nouns: Record<CredentialTable, string> = { tokens: "token", read_keys: "read key" };

/** The store of project tokens, or of read keys. Every
 * change and its entry in the audit log are one commit. */
export function credentialStore(engine: Engine, kind: CredentialTable) {
  const table = sqlText(kind);
  return {
    /** Stores the hash and the last four characters. The secret itself is never kept. The same transaction
     * checks that the maker is a member, so that a member who is being removed creates no new secret.
     * @throws Refusal when there is no such organization, or the person is no member of it */
    create: (
      {
        organization,
        name,
        rights,
        sha256,
        lastFour,
        nowMs,
      }: {
        organization: number;
        name: string;
        rights: readonly Right[];
        sha256: string;
        lastFour: string;
        nowMs: number;
      },
      by: Actor,
    ) =>
      engine.transaction(function* (audit) {
        const madeBy = by.person?.id ?? null;
        // The lock waits for a concurrent removal of the maker.
        yield* lockKnownOrganization(organization);
        if (
          madeBy !== null &&
          !(yield* exists`FROM memberships WHERE organization = ${organization} AND person = ${madeBy}`)
        ) {
          throw noMemberForSecret();
        }
        const row = yield* returningOne(stored)`
          INSERT INTO ${table} (organization, name, rights, sha256, last_four, created_at_ms, made_by)
          VALUES (${organization}, ${name}, ${rights.join(" ")}, ${sha256}, ${lastFour}, ${nowMs}, ${madeBy})`;
        const created = credentialOf(row);
        yield* audit.note(organization, credentialCreatedNote(kind, created), by, nowMs);
        return created;
      }),

    list: async (organization: number) => {
      await engine.countsFlushed();
      const rows = await engine.alone(
        select(stored)`FROM ${table} WHERE organization = ${organization} ORDER BY id`,
      );
      return rows.map(credentialOf);
    },

    /** The valid credential with this hash and its organization. */
    find: (sha256: string) =>
      engine.alone(
        (function* () {
          const [row] = yield* select(stored)`
            FROM ${table} WHERE sha256 = ${sha256} AND revoked_at_ms IS NULL`;
          const organization = row && (yield* findOrganization(row.organization));
          return organization && { credential: credentialOf(row), organization };
        })(),
      ),

    /** @throws Refusal when there is no such credential. Revoking twice changes nothing. */
    revoke: (id: number, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        const [owner] = yield* select(ownerRow)`FROM ${table} WHERE id = ${id}`;
        // A concurrent removal of the maker revokes keys, too.
        if (owner !== undefined) yield* lockOrganization(owner.organization);
        const [row] = yield* select(stored)`FROM ${table} WHERE id = ${id}`;
        if (row === undefined) throw new Refusal(`There is no ${nouns[kind]} with the id ${id}.`);
        const before = credentialOf(row);
        if (before.revokedAtMs !== null) return before;
        yield* run`UPDATE ${table} SET revoked_at_ms = ${nowMs} WHERE id = ${id}`;
        yield* audit.note(before.organization, credentialRevokedNote(kind, before), by, nowMs);
        return { ...before, revokedAtMs: nowMs };
      }),

    /** Stores the time of their last use. Called about once a minute, outside of the request path. */
    touch: async (used: readonly { readonly id: number; readonly atMs: number }[]) => {
      if (used.length === 0) return;
      const given = records(used, { id: "bigint", atMs: "bigint" });
      await engine.transaction(function* () {
        // Rows are locked in the order of their ids, because every node does this once a minute, for the same
        // tokens.
        yield* run`SELECT id FROM ${table} WHERE id IN (SELECT id FROM ${given}) ORDER BY id ${forUpdate}`;
        yield* run`
          UPDATE ${table} SET last_used_at_ms = ${greatest}(coalesce(last_used_at_ms, 0), used.at_ms)
          FROM (SELECT id, max("atMs") AS at_ms FROM ${given} GROUP BY id) AS used WHERE ${table}.id = used.id`;
      });
    },
  };
}

export type Credentials = ReturnType<typeof credentialStore>;

const knownRights: readonly Right[] = [
  "write",
  "browser",
  "join",
  "arm",
  "read",
  "assist",
  "erase",
  "manage",
];

function credentialOf({ madeBy, madeByName, ...row }: Stored): Credential {
  const words = row.rights.split(" ");
  return {
    ...row,
    rights: knownRights.filter((right) => words.includes(right)),
    madeBy: madeBy === null ? null : { id: madeBy, name: madeByName ?? "" },
  };
}
