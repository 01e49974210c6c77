/** Stores exclusion rules. Every change gives its organization a new revision in the same commit. A new
 * revision makes the warehouse apply the rules again. */
import {
  checkedRule,
  type ExclusionRules,
  type ExclusionStore,
  exclusionAddedNote,
  exclusionRemovedNote,
  maxExclusionRules,
  noRule,
  type StoredExclusionRule,
  tooManyRules,
} from "../ports/exclusions.ts";
import type { Engine } from "./engine/engine.ts";
import { integer, RowOf, returning, returningOne, run, select, text, type Work, word } from "./engine/sql.ts";
import { lockKnownOrganization, lockOrganization } from "./organization-rows.ts";

const storedRule = new RowOf<StoredExclusionRule>({
  id: integer(),
  kind: word(),
  key: text(),
  value: text(),
  createdAtMs: integer(),
});
const revisionRow = new RowOf<{ readonly organization: number; readonly revision: number }>({
  organization: integer(),
  revision: integer(),
});
const accountNumber = new RowOf<{ readonly number: number }>({ number: integer() });

/** The store of exclusion rules. */
export function exclusionStore(engine: Engine): ExclusionStore {
  return {
    list: (organization) => engine.alone(rulesOf(organization)),

    add: async (organization, rule, by, nowMs) => {
      const { kind, key, value } = checkedRule(rule);
      return engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        const rules = yield* rulesOf(organization);
        const known = rules.find((one) => one.kind === kind && one.key === key && one.value === value);
        if (known !== undefined) return known;
        if (rules.length >= maxExclusionRules) throw tooManyRules();
        const added = yield* returningOne(storedRule)`
          INSERT INTO exclusion_rules (organization, kind, key, value, created_at_ms)
          VALUES (${organization}, ${kind}, ${key}, ${value}, ${nowMs})`;
        yield* changed(organization);
        yield* audit.note(organization, exclusionAddedNote(added), by, nowMs);
        return added;
      });
    },

    remove: (organization, id, by, nowMs) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const [removed] = yield* returning(storedRule)`
          DELETE FROM exclusion_rules WHERE organization = ${organization} AND id = ${id}`;
        if (removed === undefined) throw noRule(id);
        yield* changed(organization);
        yield* audit.note(organization, exclusionRemovedNote(removed), by, nowMs);
      }),

    rules: (organization) => engine.snapshot(findRules(organization)),

    revisions: () => engine.alone(select(revisionRow)`FROM exclusion_revisions ORDER BY organization`),
  };
}

/** Removes the rule that names this user or account, if there is one. */
export function* forgetExclusion(organization: number, kind: "user" | "account", id: string): Work<void> {
  const removed = yield* run`
    DELETE FROM exclusion_rules WHERE organization = ${organization} AND kind = ${kind} AND value = ${id}`;
  if (removed > 0) yield* changed(organization);
}

function* findRules(organization: number): Work<ExclusionRules> {
  const [newest] = yield* select(revisionRow)`
    FROM exclusion_revisions WHERE organization = ${organization}`;
  const rules = yield* rulesOf(organization);
  const accounts = yield* select(accountNumber)`
    FROM accounts WHERE organization = ${organization} AND account_id IN (
      SELECT value FROM exclusion_rules WHERE organization = ${organization} AND kind = 'account')
    ORDER BY number`;
  return {
    revision: newest?.revision ?? 0,
    rules: rules.map(({ kind, key, value }) => ({ kind, key, value })),
    accounts: accounts.map(({ number }) => number),
  };
}

function rulesOf(organization: number) {
  return select(storedRule)`FROM exclusion_rules WHERE organization = ${organization} ORDER BY id`;
}

function changed(organization: number) {
  return run`
    INSERT INTO exclusion_revisions AS stored (organization, revision) VALUES (${organization}, 1)
    ON CONFLICT (organization) DO UPDATE SET revision = stored.revision + 1`;
}
