/** Arms that a company's server asks for, before it treats a user or an account. The first request is the
 * entry, unless an alert was. Who may enter follows from figures, so analysis lists it once a day. */
import { type AlertRuleSettings, canBeAsked } from "../../../../contract/alerts/rules.ts";
import { ids, records, texts } from "../../../ledger/dialect.ts";
import { deleteInParts, type Engine, inParts } from "../../../ledger/engine.ts";
import {
  flag,
  integer,
  json,
  nullable,
  part,
  RowOf,
  run,
  select,
  text,
  type Work,
} from "../../../ledger/sql.ts";
import {
  type EntityNumbers,
  type EntityRef,
  existing,
  keyOfEntity,
  type RuleEntity,
} from "../../../ledger/stores/entity-rows.ts";
import type { TableTypes } from "../../../ledger/tables.ts";
import { isKept } from "../store/which-alerts.ts";
import { armOf } from "./draw.ts";
import { addEntries, type DrawnUnit, findKnownArms, holdAgain, holdOutOf } from "./entries-store.ts";
import type { EntryArm } from "./experiments.ts";

/** Who may enter the experiment of a rule, as it was listed last. Under a rule about a segment those who may
 * are listed, under any other those who may not. An account that may not enter is there with its users. */
export const entryLists = ({ integer: int, keyed }: TableTypes) => `
  CREATE TABLE hold_out_listed (
    rule ${int} NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE,
    user_number ${int} NOT NULL,
    account_number ${int} NOT NULL,
    may_enter ${int} NOT NULL,
    listed_at_ms ${int} NOT NULL,
    PRIMARY KEY (rule, user_number, account_number)
  )${keyed};
  ALTER TABLE alert_rules ADD COLUMN listed_day ${int};
  ALTER TABLE alert_rules ADD COLUMN listed_at_ms ${int};
`;

export interface ArmQuestion {
  readonly rule: number;
  readonly entity: EntityRef;
}

export interface AskedArm {
  readonly arm: EntryArm;
  /** Whether it is an entry of the experiment. */
  readonly counted: boolean;
  readonly experiment: number;
  /** The last day on which a control is one. Null of a treated unit. */
  readonly until: number | null;
}

/** `notAboutEvents`: the rule has no event before which one could ask. `aboutUsers`: it is about users, and
 * an account was named. */
export type ArmOutcome = AskedArm | "noRule" | "notAboutEvents" | "aboutUsers" | "noEntity";

/** The day of requests, and the horizon for which a control is left alone. */
export interface ArmClock {
  readonly today: number;
  readonly horizonDays: number;
  readonly nowMs: number;
}

/** When who may enter a rule was listed. */
export interface EntryList {
  readonly rule: number;
  readonly day: number;
  readonly atMs: number;
}

/** A user or an account of the list: the other number is 0. */
export interface ListedUnit extends EntityNumbers {
  readonly mayEnter: boolean;
}

interface AskedRule {
  readonly id: number;
  readonly experiment: number;
  readonly isPaused: boolean;
  readonly settings: Pick<AlertRuleSettings, "scope" | "condition" | "holdOutShare">;
  readonly listedAtMs: number | null;
  readonly updatedAtMs: number;
}
const ruleRow = new RowOf<AskedRule>({
  id: integer(),
  experiment: integer(),
  isPaused: flag(),
  settings: json(),
  listedAtMs: nullable(integer()),
  updatedAtMs: integer(),
});
const userRow = new RowOf<EntityNumbers & { readonly id: string }>({
  id: text("user_id"),
  user: integer("number"),
  account: integer(),
});
const accountRow = new RowOf<{ readonly id: string; readonly account: number }>({
  id: text("account_id"),
  account: integer("number"),
});
const listedRow = new RowOf<EntityNumbers & { readonly mayEnter: boolean }>({
  user: integer("user_number"),
  account: integer("account_number"),
  mayEnter: flag(),
});
const listRow = new RowOf<EntryList>({
  rule: integer("id"),
  day: integer("listed_day"),
  atMs: integer("listed_at_ms"),
});

/** The store of arms that are asked for. */
export function askedArms(engine: Engine) {
  return {
    /** The arms of users and accounts of one organization, in the order of the questions. Nothing is
     * committed where all of them are known. A new unit is drawn, and its entry is on disk before the
     * answer. */
    ask: async (
      organization: number,
      questions: readonly ArmQuestion[],
      clock: ArmClock,
    ): Promise<readonly ArmOutcome[]> => {
      const known = await engine.alone(look(organization, questions, clock.today));
      const answers = known.flatMap((one) => (isUndrawn(one) ? [] : [one]));
      if (answers.length === known.length) return answers;
      const open = new Set(known.filter(isUndrawn).map(({ rule }) => rule.id));
      return engine.requestTransaction(() => drawAll(organization, questions, open, clock));
    },

    /** When who may enter was listed, of the rules of an organization for which it was. */
    lists: (organization: number): Promise<readonly EntryList[]> =>
      engine.alone(select(listRow)`
        FROM alert_rules WHERE organization = ${organization} AND listed_day IS NOT NULL AND ${isKept} ORDER BY id`),

    /** Lists who may enter a rule, or may not, in place of the list before. */
    list: async (
      organization: number,
      { rule, day, atMs }: EntryList,
      units: readonly ListedUnit[],
    ): Promise<void> => {
      await inParts(engine, units, (some) =>
        engine.leadingTransaction(() => addListed(organization, rule, some, atMs)),
      );
      await deleteInParts(
        engine,
        (most) => run`
          DELETE FROM hold_out_listed WHERE (rule, user_number, account_number) IN (
            SELECT rule, user_number, account_number FROM hold_out_listed
            WHERE rule = ${rule} AND listed_at_ms < ${atMs} LIMIT ${most})`,
      );
      await engine.leadingTransaction(function* () {
        yield* run`
          UPDATE alert_rules SET listed_day = ${day}, listed_at_ms = ${atMs}
          WHERE organization = ${organization} AND id = ${rule} AND ${isKept}`;
      });
    },
  };
}

export type AskedArms = ReturnType<typeof askedArms>;

function* addListed(
  organization: number,
  rule: number,
  units: readonly ListedUnit[],
  atMs: number,
): Work<void> {
  const given = records(
    units.map(({ user, account, mayEnter }) => ({ user, account, mayEnter: mayEnter ? 1 : 0 })),
    { user: "bigint", account: "bigint", mayEnter: "bigint" },
  );
  yield* run`
    INSERT INTO hold_out_listed (rule, user_number, account_number, may_enter, listed_at_ms)
    SELECT alert_rules.id, given."user", given.account, given."mayEnter", CAST(${atMs} AS bigint)
    FROM alert_rules CROSS JOIN ${given}
    WHERE alert_rules.organization = ${organization} AND alert_rules.id = ${rule} AND ${isKept}
    ON CONFLICT (rule, user_number, account_number)
      DO UPDATE SET may_enter = excluded.may_enter, listed_at_ms = excluded.listed_at_ms`;
}

/** Deletes rows of a deleted rule. @returns how many */
export function deleteSomeListed(rule: number, most: number) {
  return run`
    DELETE FROM hold_out_listed WHERE (rule, user_number, account_number) IN (
      SELECT rule, user_number, account_number FROM hold_out_listed WHERE rule = ${rule} LIMIT ${most})`;
}

/** Deletes an erased user or account from all lists. */
export function* forgetListed(organization: number, { user, account }: EntityNumbers): Work<void> {
  yield* run`
    DELETE FROM hold_out_listed WHERE rule IN (SELECT id FROM alert_rules WHERE organization = ${organization})
      AND user_number = ${user} AND account_number = ${account}`;
}

/** The unit that a question is about. */
interface Asked {
  readonly rule: AskedRule;
  readonly entity: RuleEntity;
  /** The account that is drawn: the account itself, or that of the user. Null for a user without one. */
  readonly account: number | null;
}

/** A unit whose arm has to be drawn, or which has to be held again. */
interface Undrawn extends Asked {
  /** It is a control whose horizon is over. */
  readonly isControl: boolean;
}

function isUndrawn(found: ArmOutcome | Undrawn): found is Undrawn {
  return typeof found === "object" && "isControl" in found;
}

/** The outcomes that are known, and the units that have to be drawn. */
function* look(
  organization: number,
  questions: readonly ArmQuestion[],
  today: number,
): Work<readonly (ArmOutcome | Undrawn)[]> {
  const asked = yield* unitsOf(organization, questions);
  const answers = new Map<AskedRule, (unit: Asked) => ArmOutcome | Undrawn>();
  for (const [rule, own] of Map.groupBy(asked.filter(isAsked), (unit) => unit.rule))
    answers.set(rule, yield* answersOf(organization, rule, own, today));
  return asked.map((one) => (isAsked(one) ? (answers.get(one.rule)?.(one) ?? "noEntity") : one));
}

function isAsked(one: Asked | ArmOutcome): one is Asked {
  return typeof one === "object" && "rule" in one;
}

/** The units of questions, by their rules and the ids that were sent, or why there are none. */
function* unitsOf(
  organization: number,
  questions: readonly ArmQuestion[],
): Work<readonly (Asked | ArmOutcome)[]> {
  const rules = yield* select(ruleRow)`
    FROM alert_rules WHERE organization = ${organization} AND ${isKept}
      AND id IN (SELECT id FROM ${ids([...new Set(questions.map(({ rule }) => rule))])})`;
  const sent = (kind: EntityRef["kind"]) =>
    questions.flatMap(({ entity }) => (entity.kind === kind ? [entity.id] : []));
  const users = yield* select(userRow)`
    FROM users WHERE organization = ${organization} AND user_id IN (SELECT text FROM ${texts(sent("user"))})`;
  const accounts = yield* select(accountRow)`
    FROM accounts WHERE organization = ${organization} AND account_id IN (SELECT text FROM ${texts(sent("account"))})`;
  const byRule = new Map(rules.map((rule) => [rule.id, rule]));
  const byUser = new Map(users.map((user) => [user.id, user]));
  const byAccount = new Map(accounts.map((account) => [account.id, account.account]));
  return questions.map(({ rule: wanted, entity: { kind, id } }) => {
    const rule = byRule.get(wanted);
    if (rule === undefined) return "noRule";
    const { scope, condition } = rule.settings;
    if (!canBeAsked(condition)) return "notAboutEvents";
    if (kind === "account") {
      if (scope.kind === "users") return "aboutUsers";
      const number = byAccount.get(id);
      return number === undefined ? "noEntity" : ofAccount(rule, number);
    }
    const user = byUser.get(id);
    if (user === undefined) return "noEntity";
    const account = user.account > 0 ? user.account : null;
    if (scope.kind === "users") return { rule, entity: { kind: "user", number: user.user }, account };
    return account === null ? notCounted(rule) : ofAccount(rule, account);
  });
}

function ofAccount(rule: AskedRule, number: number): Asked {
  return { rule, entity: { kind: "account", number }, account: number };
}

/** The answer that stores nothing. It does not tell why. */
function notCounted({ experiment }: AskedRule): AskedArm {
  return { arm: "treated", counted: false, experiment, until: null };
}

/** The keys of a unit: of its account first, then of the user. */
function keysOf({ entity, account }: Pick<Asked, "entity" | "account">): readonly string[] {
  return [...new Set([...(account === null ? [] : [`account ${account}`]), keyOfEntity(entity)])];
}

/** Reads what is known of units of a rule. */
function* answersOf(
  organization: number,
  rule: AskedRule,
  units: readonly Asked[],
  today: number,
): Work<(unit: Asked) => ArmOutcome | Undrawn> {
  const { id, experiment, isPaused, settings, listedAtMs, updatedAtMs } = rule;
  const users = units.flatMap(({ entity }) => (entity.kind === "user" ? [entity.number] : []));
  const accounts = units.flatMap(({ account }) => account ?? []);
  const of = { rule: id, experiment, day: today };
  const known = yield* findKnownArms(organization, of, { users, accounts });
  const pairs = [
    ...users.map((user) => ({ user, account: 0 })),
    ...accounts.map((account) => ({ user: 0, account })),
  ];
  const own = part`(user_number, account_number) IN (
    SELECT "user", account FROM ${records(pairs, { user: "bigint", account: "bigint" })})`;
  const listed = yield* select(listedRow)`
    FROM (
      SELECT user_number, account_number, may_enter FROM hold_out_listed WHERE rule = ${id} AND ${own}
      UNION ALL
      SELECT user_number, account_number, 0 AS may_enter FROM alerts
      WHERE organization = ${organization} AND ${own} AND +rule = ${id} AND experiment = ${experiment} AND arm = 'exempt'
    ) AS listed`;
  const held = new Map<string, number>();
  for (const { user, account, untilDay } of known.controls)
    for (const key of keysOfNumbers({ user, account })) held.set(key, Math.max(untilDay, held.get(key) ?? 0));
  const entered = new Map(
    known.entries.flatMap(({ arm, ...numbers }) => keysOfNumbers(numbers).map((key) => [key, arm] as const)),
  );
  const mayEnter = new Map<string, boolean>();
  for (const one of listed)
    for (const key of keysOfNumbers(one)) mayEnter.set(key, one.mayEnter && (mayEnter.get(key) ?? true));
  const isListed = listedAtMs !== null && listedAtMs >= updatedAtMs;
  const isOfSegment = settings.scope.segment !== undefined;
  return (unit) => {
    const keys = keysOf(unit);
    const arm = keys.map((key) => entered.get(key)).find((one) => one !== undefined);
    const until = Math.max(...keys.map((key) => held.get(key) ?? -1));
    if (until >= today) return { arm: "control", counted: arm === "control", experiment, until };
    if (arm === "treated") return { arm, counted: true, experiment, until: null };
    if (arm === "control") return { ...unit, isControl: true };
    const isOpen = isListed && !isPaused && settings.holdOutShare > 0;
    const isBarred = keys.some((key) => mayEnter.get(key) === false);
    const isWithin = !isOfSegment || mayEnter.get(keyOfEntity(unit.entity)) === true;
    return isOpen && isWithin && !isBarred ? { ...unit, isControl: false } : notCounted(rule);
  };
}

function keysOfNumbers({ user, account }: EntityNumbers): readonly string[] {
  return [...(account > 0 ? [`account ${account}`] : []), ...(user > 0 ? [`user ${user}`] : [])];
}

/** Draws the units of open rules that are new, and stores their entries. The rules are locked: an experiment
 * that begins meanwhile would draw them again. */
function* drawAll(
  organization: number,
  questions: readonly ArmQuestion[],
  open: ReadonlySet<number>,
  { today, horizonDays, nowMs }: ArmClock,
): Work<readonly ArmOutcome[]> {
  const secrets = new Map<number, string>();
  for (const rule of [...open].toSorted((one, other) => one - other)) {
    const holdOut = yield* holdOutOf(organization, rule, horizonDays, nowMs);
    if (holdOut !== undefined) secrets.set(rule, holdOut.secret);
  }
  // A rule that was opened after the first look is not locked.
  const found = (yield* look(organization, questions, today)).map((one) =>
    isUndrawn(one) && !secrets.has(one.rule.id) ? notCounted(one.rule) : one,
  );
  const undrawn = found.filter(isUndrawn);
  const named = undrawn.flatMap(({ entity, account }): RuleEntity[] =>
    account === null ? [entity] : [entity, { kind: "account", number: account }],
  );
  const isThere = yield* existing(organization, named);
  const horizonEnd = today + horizonDays - 1;
  const drawn = new Map<Undrawn, AskedArm>();
  for (const [rule, units] of Map.groupBy(undrawn, (unit) => unit.rule)) {
    const { id, experiment, settings } = rule;
    const of = { organization, rule: id, experiment };
    const share = { rule: id, experiment, holdOutShare: settings.holdOutShare };
    const added: DrawnUnit[] = [];
    for (const unit of units) {
      const { entity, account, isControl } = unit;
      if (!isThere(entity)) continue;
      const own = { entity, account, isExempt: false };
      const arm = isControl ? "control" : armOf(share, own, secrets.get(id) ?? "");
      if (arm !== "treated" && arm !== "control") continue;
      const until = arm === "control" ? horizonEnd : null;
      if (isControl) yield* holdAgain(of, numbersOf(unit), horizonEnd);
      else added.push({ entity, account, arm, day: today, isEntry: true, heldUntil: until });
      drawn.set(unit, { arm, counted: true, experiment, until });
    }
    yield* addEntries(of, added);
  }
  return found.map((one) => (isUndrawn(one) ? (drawn.get(one) ?? "noEntity") : one));
}

function numbersOf({ entity, account }: Pick<Asked, "entity" | "account">): EntityNumbers {
  return { user: entity.kind === "user" ? entity.number : 0, account: account ?? 0 };
}
