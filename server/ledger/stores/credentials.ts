/** Project tokens and read keys, in one table each. Only their hashes are kept, and look-ups skip revoked
 * ones. */
import { Refusal } from "../../../contract/refusal.ts";
import {
  type Credential,
  type Credentials,
  type CredentialTable,
  credentialCreatedNote,
  credentialRevokedNote,
  type Right,
} from "../ports/credentials.ts";
import { noMemberForSecret } from "../rules/member-notes.ts";
import { forUpdate, greatest, records } from "./engine/dialect.ts";
import type { Engine } from "./engine/engine.ts";
import { exists, integer, nullable, RowOf, returningOne, run, select, sqlText, text } from "./engine/sql.ts";
import { findOrganization, lockKnownOrganization, lockOrganization } from "./organization-rows.ts";

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

/** The store of one kind of credentials. */
export function credentialStore(engine: Engine, kind: CredentialTable): Credentials {
  const table = sqlText(kind);
  return {
    create: ({ organization, name, rights, sha256, lastFour, nowMs }, by) =>
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

    list: async (organization) => {
      await engine.countsFlushed();
      const rows = await engine.alone(
        select(stored)`FROM ${table} WHERE organization = ${organization} ORDER BY id`,
      );
      return rows.map(credentialOf);
    },

    find: (sha256) =>
      engine.alone(
        (function* () {
          const [row] = yield* select(stored)`
            FROM ${table} WHERE sha256 = ${sha256} AND revoked_at_ms IS NULL`;
          const organization = row && (yield* findOrganization(row.organization));
          return organization && { credential: credentialOf(row), organization };
        })(),
      ),

    revoke: (id, by, nowMs) =>
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

    touch: async (used) => {
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

const knownRights: readonly Right[] = ["write", "browser", "join", "read", "erase", "manage"];

function credentialOf({ madeBy, madeByName, ...row }: Stored): Credential {
  const words = row.rights.split(" ");
  return {
    ...row,
    rights: knownRights.filter((right) => words.includes(right)),
    madeBy: madeBy === null ? null : { id: madeBy, name: madeByName ?? "" },
  };
}
