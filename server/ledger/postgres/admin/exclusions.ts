/** Exclusion rules as they are stored. Every change gives its organization a new revision in the same commit,
 * by which the warehouse knows that it has to apply them again. */
import type { Actor } from "../../ports/audit.ts";
import {
  checkedRule,
  type ExclusionRule,
  type ExclusionRules,
  type ExclusionStore,
  exclusionAddedNote,
  exclusionRemovedNote,
  maxExclusionRules,
  noRule,
  type StoredExclusionRule,
  tooManyRules,
} from "../../ports/exclusions.ts";
import type { Queries, Sql, Tx } from "../client/connect.ts";
import { restored, storable } from "../client/text.ts";
import { inTransaction } from "../client/transaction.ts";
import type { PostgresAudit } from "./audit.ts";
import { lockKnownOrganization, lockOrganization } from "./organizations.ts";

export class PostgresExclusions implements ExclusionStore {
  readonly #sql: Sql;
  readonly #audit: PostgresAudit;

  constructor(sql: Sql, audit: PostgresAudit) {
    this.#sql = sql;
    this.#audit = audit;
  }

  list(organization: number): Promise<readonly StoredExclusionRule[]> {
    return rulesOf(this.#sql, organization);
  }

  async add(
    organization: number,
    rule: ExclusionRule,
    by: Actor,
    nowMs: number,
  ): Promise<StoredExclusionRule> {
    const { kind, key, value } = checkedRule(rule);
    return inTransaction(this.#sql, async (tx) => {
      await lockKnownOrganization(tx, organization);
      const rules = await rulesOf(tx, organization);
      const known = rules.find((one) => one.kind === kind && one.key === key && one.value === value);
      if (known !== undefined) return known;
      if (rules.length >= maxExclusionRules) throw tooManyRules();
      const [added] = await tx<StoredExclusionRule[]>`
        INSERT INTO exclusion_rules (organization, kind, key, value, created_at_ms)
        VALUES (${organization}, ${kind}, ${storable(key)}, ${storable(value)}, ${nowMs}) RETURNING ${columns(tx)}`;
      if (added === undefined) throw new Error("PostgreSQL returned no row for a new exclusion rule.");
      await changed(tx, organization);
      const stored = ruleOf(added);
      await this.#audit.note(tx, organization, exclusionAddedNote(stored), by, nowMs);
      return stored;
    });
  }

  async remove(organization: number, id: number, by: Actor, nowMs: number): Promise<void> {
    await inTransaction(this.#sql, async (tx) => {
      await lockOrganization(tx, organization);
      const [removed] = await tx<StoredExclusionRule[]>`
        DELETE FROM exclusion_rules WHERE organization = ${organization} AND id = ${id} RETURNING ${columns(tx)}`;
      if (removed === undefined) throw noRule(id);
      await changed(tx, organization);
      await this.#audit.note(tx, organization, exclusionRemovedNote(ruleOf(removed)), by, nowMs);
    });
  }

  /** Removes the rule that names this user or account, if there is one, inside the caller's transaction. */
  async forget(tx: Tx, organization: number, kind: "user" | "account", id: string): Promise<void> {
    const removed = await tx`
      DELETE FROM exclusion_rules
      WHERE organization = ${organization} AND kind = ${kind} AND value = ${storable(id)}`;
    if (removed.count > 0) await changed(tx, organization);
  }

  async rules(organization: number): Promise<ExclusionRules> {
    return inTransaction(
      this.#sql,
      async (tx) => {
        const [revision] = await tx<{ revision: number }[]>`
          SELECT revision FROM exclusion_revisions WHERE organization = ${organization}`;
        const rules = await rulesOf(tx, organization);
        const accounts = await tx<{ number: number }[]>`
          SELECT number FROM accounts
          WHERE organization = ${organization} AND account_id IN (
            SELECT value FROM exclusion_rules WHERE organization = ${organization} AND kind = 'account')
          ORDER BY number`;
        return {
          revision: revision?.revision ?? 0,
          rules: rules.map(({ kind, key, value }) => ({ kind, key, value })),
          accounts: accounts.map(({ number }) => number),
        };
      },
      "ISOLATION LEVEL REPEATABLE READ READ ONLY",
    );
  }

  async revisions(): Promise<readonly { readonly organization: number; readonly revision: number }[]> {
    const rows = await this.#sql<{ organization: number; revision: number }[]>`
      SELECT organization, revision FROM exclusion_revisions ORDER BY organization`;
    return [...rows];
  }
}

async function rulesOf(queries: Queries, organization: number): Promise<StoredExclusionRule[]> {
  const rows = await queries<StoredExclusionRule[]>`
    SELECT ${columns(queries)} FROM exclusion_rules WHERE organization = ${organization} ORDER BY id`;
  return rows.map(ruleOf);
}

function changed(tx: Tx, organization: number) {
  return tx`
    INSERT INTO exclusion_revisions AS stored (organization, revision) VALUES (${organization}, 1)
    ON CONFLICT (organization) DO UPDATE SET revision = stored.revision + 1`;
}

function columns(queries: Queries) {
  return queries`id, kind, key, value, created_at_ms AS "createdAtMs"`;
}

function ruleOf(row: StoredExclusionRule): StoredExclusionRule {
  return { ...row, key: restored(row.key), value: restored(row.value) };
}
