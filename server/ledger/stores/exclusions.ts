/** Rules that keep internal, test and bot users out of an organization's figures. */
import { exclusionKinds } from "../../../contract/api/api.ts";
import { Refusal } from "../../../contract/refusal.ts";
import type { Actor, AuditNote } from "../audit.ts";
import type { Engine } from "../engine.ts";
import { integer, RowOf, returning, returningOne, run, select, text, type Work, word } from "../sql.ts";
import { lockKnownOrganization, lockOrganization } from "./organization-rows.ts";

/** Most rules of an organization. */
export const maxExclusionRules = 200;
const maxCharacters = 1_000;

/**
 * user: this userId. email_domain: addresses at exactly this domain. email: addresses like this, `*` for any
 * text. trait: users whose trait `key` is this string, this number or this boolean. account: users of the
 * account with this id. In addresses, A to Z equal a to z. All other texts are compared exactly.
 */
export type ExclusionKind = (typeof exclusionKinds)[number];

export interface ExclusionRule {
  readonly kind: ExclusionKind;
  /** The trait's key. Empty for other kinds. */
  readonly key: string;
  readonly value: string;
}

export interface StoredExclusionRule extends ExclusionRule {
  readonly id: number;
  readonly createdAtMs: number;
}

/** The rules that the warehouse applies. */
export interface ExclusionRules {
  /** Grows with every change. */
  readonly revision: number;
  readonly rules: readonly ExclusionRule[];
  /** Numbers of the accounts that rules name and that exist. */
  readonly accounts: readonly number[];
}

/** The entry of a rule that was added. */
function exclusionAddedNote(rule: StoredExclusionRule): AuditNote {
  return {
    action: "exclusion.added",
    summary: `Left out of figures: ${ruleInWords(rule)}`,
    detail: ruleDetail(rule),
  };
}

/** The entry of a rule that was removed. */
function exclusionRemovedNote(rule: StoredExclusionRule): AuditNote {
  return {
    action: "exclusion.removed",
    summary: `No longer left out of figures: ${ruleInWords(rule)}`,
    detail: ruleDetail(rule),
  };
}

/** Rules that may name one user. Their entries leave out the name, because an erasure does not reach the
 * log. */
const namesPeople: ReadonlySet<string> = new Set(["user", "email"]);

function ruleInWords({ id, kind, key, value }: StoredExclusionRule): string {
  if (namesPeople.has(kind)) return `${kind}, rule ${id}`;
  // The value may be a name, too, so the entry has only the key.
  return kind === "trait" ? `trait ${key}, rule ${id}` : `${kind} ${value}`;
}

function ruleDetail({ id, kind, key, value }: StoredExclusionRule) {
  if (namesPeople.has(kind)) return { id, kind };
  return kind === "trait" ? { id, kind, key } : { id, kind, key, value };
}

/** The error for one rule too many. */
function tooManyRules(): Refusal {
  return new Refusal(
    `There are ${maxExclusionRules} exclusion rules already: remove one before you add another.`,
  );
}

/** The error for an unknown rule. */
function noRule(id: number): Refusal {
  return new Refusal(`There is no exclusion rule with the id ${id}: rekindle exclusion list shows them.`);
}

/** The rule in its normal form. @throws Refusal when it would compare nothing. */
export function checkedRule({ kind, key, value }: ExclusionRule): ExclusionRule {
  if (!exclusionKinds.includes(kind)) {
    throw new Refusal(`An exclusion rule's kind is one of ${exclusionKinds.join(", ")}.`);
  }
  for (const text of [key, value]) {
    if (text.length > maxCharacters || !text.isWellFormed()) {
      throw new Refusal(`An exclusion rule is text of at most ${maxCharacters} characters.`);
    }
  }
  if (kind === "trait" ? key === "" : key !== "" || value === "") {
    throw new Refusal(
      "An exclusion rule needs a value, and a trait's its key too: --trait plan=internal, say.",
    );
  }
  if (kind !== "email_domain") return { kind, key, value };
  const domain = value.replace(/^@/, "");
  if (domain === "" || /[@*\s]/.test(domain)) {
    throw new Refusal(`${value} is no domain: give @example.com, say, or a pattern with * as --email.`);
  }
  return { kind, key, value: domain };
}

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

/** The store of exclusion rules. Every change and its entry in the audit log are one commit. */
export function exclusionStore(engine: Engine) {
  return {
    list: (organization: number) => engine.alone(rulesOf(organization)),

    /** Adds a rule. @returns the rule with its id. An existing rule is returned unchanged.
     * @throws Refusal when the rule compares nothing, there are too many, or there is no such
     * organization. */
    add: async (organization: number, rule: ExclusionRule, by: Actor, nowMs: number) => {
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

    /** @throws Refusal when the organization has no rule with this id. */
    remove: (organization: number, id: number, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const [removed] = yield* returning(storedRule)`
          DELETE FROM exclusion_rules WHERE organization = ${organization} AND id = ${id}`;
        if (removed === undefined) throw noRule(id);
        yield* changed(organization);
        yield* audit.note(organization, exclusionRemovedNote(removed), by, nowMs);
      }),

    rules: (organization: number) => engine.snapshot(findRules(organization)),

    /** Every organization that ever had a rule, with the number of its last change. */
    revisions: () => engine.alone(select(revisionRow)`FROM exclusion_revisions ORDER BY organization`),
  };
}

export type ExclusionStore = ReturnType<typeof exclusionStore>;

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
