/** Project tokens and read keys, a table each: only their hashes are kept, and a revoked one is not found. */

import { Refusal } from "../../../../contract/refusal.ts";
import type { Actor } from "../../ports/audit.ts";
import {
  type Credential,
  type Credentials,
  type CredentialTable,
  credentialCreatedNote,
  credentialRevokedNote,
  type Right,
} from "../../ports/credentials.ts";
import type { Organization } from "../../ports/organizations.ts";
import { noMemberForSecret } from "../../rules/people-notes.ts";
import type { Sql } from "../client/connect.ts";
import { restored, storable } from "../client/text.ts";
import { inTransaction } from "../client/transaction.ts";
import type { PostgresAudit } from "./audit.ts";
import { lockKnownOrganization, lockOrganization, type PostgresOrganizations } from "./organizations.ts";
import { findMember } from "./people-rows.ts";

/** Rights are words with a space between: `read erase`. */
type CredentialRow = Omit<Credential, "rights" | "madeBy"> & {
  readonly rights: string;
  readonly madeBy: number | null;
  readonly madeByName: string | null;
};

const nouns: Record<CredentialTable, string> = { tokens: "token", read_keys: "read key" };

export class PostgresCredentials implements Credentials {
  readonly #sql: Sql;
  readonly #organizations: PostgresOrganizations;
  readonly #audit: PostgresAudit;
  readonly #table: CredentialTable;

  constructor(sql: Sql, organizations: PostgresOrganizations, audit: PostgresAudit, table: CredentialTable) {
    this.#sql = sql;
    this.#organizations = organizations;
    this.#audit = audit;
    this.#table = table;
  }

  create(wanted: Parameters<Credentials["create"]>[0], by: Actor): Promise<Credential> {
    const { organization, name, rights, sha256, lastFour, nowMs } = wanted;
    const madeBy = by.person?.id ?? null;
    return inTransaction(this.#sql, async (tx) => {
      // A removal of the maker under way is waited for.
      await lockKnownOrganization(tx, organization);
      if (madeBy !== null && (await findMember(tx, organization, madeBy)) === undefined) {
        throw noMemberForSecret();
      }
      const [row] = await tx<CredentialRow[]>`
        INSERT INTO ${tx(this.#table)} (organization, name, rights, sha256, last_four, created_at_ms, made_by)
        VALUES (${organization}, ${storable(name)}, ${rights.join(" ")}, ${sha256}, ${lastFour}, ${nowMs}, ${madeBy})
        RETURNING ${this.#columns()}`;
      if (row === undefined) throw new Error(`PostgreSQL returned no row for a new ${nouns[this.#table]}.`);
      const created = credential(row);
      await this.#audit.note(tx, organization, credentialCreatedNote(this.#table, created), by, nowMs);
      return created;
    });
  }

  async list(organization: number): Promise<readonly Credential[]> {
    const sql = this.#sql;
    const rows = await sql<CredentialRow[]>`
      SELECT ${this.#columns()} FROM ${sql(this.#table)} WHERE organization = ${organization} ORDER BY id`;
    return rows.map(credential);
  }

  async find(sha256: string): Promise<{ credential: Credential; organization: Organization } | undefined> {
    const sql = this.#sql;
    const [row] = await sql<CredentialRow[]>`
      SELECT ${this.#columns()} FROM ${sql(this.#table)} WHERE sha256 = ${sha256} AND revoked_at_ms IS NULL`;
    if (row === undefined) return undefined;
    const organization = await this.#organizations.find(row.organization);
    return organization === undefined ? undefined : { credential: credential(row), organization };
  }

  revoke(id: number, by: Actor, nowMs: number): Promise<Credential> {
    return inTransaction(this.#sql, async (tx) => {
      const [found] = await tx<{ organization: number }[]>`
        SELECT organization FROM ${tx(this.#table)} WHERE id = ${id}`;
      const organization = found?.organization ?? 0;
      // A removal of the maker revokes keys, too.
      await lockOrganization(tx, organization);
      const [row] = await tx<CredentialRow[]>`
        SELECT ${this.#columns()} FROM ${tx(this.#table)} WHERE id = ${id}`;
      if (row === undefined) throw new Refusal(`There is no ${nouns[this.#table]} with the id ${id}.`);
      const before = credential(row);
      if (before.revokedAtMs !== null) return before;
      await tx`UPDATE ${tx(this.#table)} SET revoked_at_ms = ${nowMs} WHERE id = ${id}`;
      await this.#audit.note(tx, organization, credentialRevokedNote(this.#table, before), by, nowMs);
      return { ...before, revokedAtMs: nowMs };
    });
  }

  async touch(used: readonly { readonly id: number; readonly atMs: number }[]): Promise<void> {
    if (used.length === 0) return;
    const sql = this.#sql;
    // Locked in the order of their ids: every node does this once a minute, for the same tokens.
    await sql`
      WITH used AS (
        SELECT id, max(at_ms) AS at_ms
        FROM unnest(${used.map(({ id }) => id)}::bigint[], ${used.map(({ atMs }) => atMs)}::bigint[]) AS given (id, at_ms)
        GROUP BY id
      ), locked AS (
        SELECT id FROM ${sql(this.#table)} WHERE id IN (SELECT id FROM used) ORDER BY id FOR UPDATE
      )
      UPDATE ${sql(this.#table)} AS stored SET last_used_at_ms = greatest(last_used_at_ms, used.at_ms)
      FROM used JOIN locked USING (id) WHERE stored.id = used.id`;
  }

  #columns() {
    return this.#sql`id, organization, name, rights, last_four AS "lastFour", created_at_ms AS "createdAtMs",
      last_used_at_ms AS "lastUsedAtMs", revoked_at_ms AS "revokedAtMs",
      made_by AS "madeBy", (SELECT people.name FROM people WHERE people.id = made_by) AS "madeByName"`;
  }
}

const knownRights: readonly Right[] = ["write", "browser", "read", "erase", "manage"];

function credential({ madeBy, madeByName, ...row }: CredentialRow): Credential {
  const words = row.rights.split(" ");
  return {
    ...row,
    name: restored(row.name),
    rights: knownRights.filter((right) => words.includes(right)),
    madeBy: madeBy === null ? null : { id: madeBy, name: restored(madeByName ?? "") },
  };
}
