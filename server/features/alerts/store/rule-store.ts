/** Stores alert rules, as team members keep them. */

import type { AlertClosing, AlertRuleSettings } from "../../../../contract/alerts/rules.ts";
import type { Actor } from "../../../ledger/audit.ts";
import type { AuditLog } from "../../../ledger/audit-log.ts";
import { forUpdate, ids as idsAsRows, onSqlite } from "../../../ledger/dialect.ts";
import type { Engine } from "../../../ledger/engine.ts";
import {
  count,
  exists,
  flag,
  integer,
  Json,
  json,
  nullable,
  part,
  RowOf,
  returningOne,
  run,
  select,
  text,
  type Work,
} from "../../../ledger/sql.ts";
import { refuseStranger } from "../../../ledger/stores/entity-rows.ts";
import { lockKnownOrganization, lockOrganization } from "../../../ledger/stores/organization-rows.ts";
import { beginExperiment, findExperiments } from "../control-groups/entries-store.ts";
import type { HoldOutExperiment } from "../control-groups/experiments.ts";
import { markRuleDeleted } from "./rule-deletions.ts";
import { type StoredStep, stepsIn, storedSteps } from "./rule-steps.ts";
import {
  type AlertRule,
  effectsOf,
  noSuchDestinations,
  refuseTooManyRules,
  ruleChangedNote,
  ruleNameTaken,
  ruleNote,
} from "./rules.ts";
import { refuseForeignSegments } from "./segments-of-rules.ts";
import { isKept, isNamed, isOpen } from "./which-alerts.ts";

/** The settings that are one JSON document. Rules of earlier versions have no steps. */
type StoredSettings = Omit<AlertRuleSettings, "name" | "isPaused" | "destinations" | "steps"> & {
  readonly steps?: readonly StoredStep[];
};

/** A rule as it is stored. */
export interface RuleRow extends Omit<AlertRule, keyof AlertRuleSettings | "openAlerts"> {
  readonly name: string;
  readonly isPaused: boolean;
  readonly settings: StoredSettings;
}

/** The columns of a rule. */
export const ruleColumns = {
  id: integer("alert_rules.id"),
  name: text("alert_rules.name"),
  isPaused: flag(),
  settings: json<StoredSettings>(),
  version: integer("alert_rules.version"),
  experiment: integer("alert_rules.experiment"),
  decidedThrough: nullable(integer()),
  createdAtMs: integer("alert_rules.created_at_ms"),
  updatedAtMs: integer("alert_rules.updated_at_ms"),
};

const ruleRow = new RowOf<RuleRow>(ruleColumns);
const idRow = new RowOf<{ readonly id: number }>({ id: integer() });
const pairRow = new RowOf<{ readonly rule: number; readonly destination: number }>({
  rule: integer(),
  destination: integer(),
});
const openRow = new RowOf<{ readonly rule: number; readonly open: number }>({
  rule: integer(),
  open: integer("count(*)"),
});

/** The store of alert rules. Every change and its entry in the audit log are one commit. */
export function alertRuleStore(engine: Engine) {
  const at = (nowMs: number) => Math.floor(nowMs / 86_400_000);
  return {
    /** By name. @param today in the organization's timezone */
    list: (organization: number, today: number): Promise<readonly AlertRule[]> =>
      engine.snapshot(
        findRules(
          organization,
          part`WHERE organization = ${organization} AND ${isKept} ORDER BY name`,
          today,
        ),
      ),

    find: (organization: number, id: number, today: number): Promise<AlertRule | undefined> =>
      engine.snapshot(findRule(organization, id, today)),

    /** @throws Refusal when another rule has the name, there are too many, or a destination is not there */
    add: (organization: number, settings: AlertRuleSettings, by: Actor, nowMs: number): Promise<AlertRule> =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        refuseTooManyRules(yield* count`FROM alert_rules WHERE organization = ${organization} AND ${isKept}`);
        yield* refuseName(organization, settings.name);
        yield* refuseForeignSegments(organization, settings);
        for (const { assignee } of settings.steps) yield* refuseStranger(organization, assignee);
        const { id } = yield* returningOne(idRow)`
          INSERT INTO alert_rules (organization, name, settings, is_paused, version, experiment, sequence, takes_over,
            created_at_ms, updated_at_ms)
          VALUES (${organization}, ${settings.name}, ${storedSettings(settings, [], at(nowMs))}, ${bit(settings.isPaused)}, 1, 1, 1,
            ${bit(!settings.includeCurrent)}, ${nowMs}, ${nowMs})`;
        yield* addVersion(id, 1, settings, nowMs);
        yield* beginExperiment({ organization, rule: id, version: 1, experiment: 1 }, settings, null, nowMs);
        yield* setDestinations(organization, id, settings.destinations);
        yield* audit.note(
          organization,
          ruleNote("alert_rule.created", { id, name: settings.name }),
          by,
          nowMs,
        );
        return yield* known(organization, id, at(nowMs));
      }),

    /** Changes the given fields. Another condition or scope makes a version, and a resumed rule takes the
     * present state over. Where the rule looks at other things, its open alerts close and its states are
     * deleted.
     * @returns undefined when the organization has no such rule. @throws Refusal as `add` */
    change: (
      organization: number,
      id: number,
      change: Partial<AlertRuleSettings>,
      by: Actor,
      nowMs: number,
    ): Promise<AlertRule | undefined> =>
      engine.transaction((audit) =>
        changeRule(audit, { organization, id, today: at(nowMs) }, change, by, nowMs),
      ),

    /** Its alerts go with it. Counts of its hold-outs stay. @returns false when the organization has no such
     * rule */
    remove: (organization: number, id: number, by: Actor, nowMs: number): Promise<boolean> =>
      engine.transaction(function* (audit) {
        const before = yield* lockRule(organization, id);
        if (before === undefined) return false;
        yield* markRuleDeleted({ organization, id, name: before.name }, nowMs);
        yield* audit.note(organization, ruleNote("alert_rule.deleted", before), by, nowMs);
        return true;
      }),

    /** The experiments of all rules, deleted ones among them, by rule. */
    experiments: (organization: number): Promise<readonly HoldOutExperiment[]> =>
      engine.snapshot(findExperiments(organization)),
  };
}

export type AlertRuleStore = ReturnType<typeof alertRuleStore>;

function* changeRule(
  audit: AuditLog,
  { organization, id, today }: { readonly organization: number; readonly id: number; readonly today: number },
  change: Partial<AlertRuleSettings>,
  by: Actor,
  nowMs: number,
): Work<AlertRule | undefined> {
  const locked = yield* lockRule(organization, id);
  if (locked === undefined) return undefined;
  const before = yield* known(organization, id, today);
  const after: AlertRuleSettings = { ...settingsOf(before), ...change };
  const effects = effectsOf(settingsOf(before), after);
  if (effects.fields.length === 0) return before;
  if (after.name !== before.name) yield* refuseName(organization, after.name);
  if (effects.isNewVersion || effects.fields.includes("exemptions")) {
    yield* refuseForeignSegments(organization, after);
  }
  if (effects.fields.includes("steps"))
    for (const { assignee } of after.steps) yield* refuseStranger(organization, assignee);
  const stored = storedSettings(after, locked.settings.steps ?? [], today);
  const version = before.version + (effects.isNewVersion ? 1 : 0);
  const anew = part`decided_through = NULL, part_day = NULL, part_number = NULL, takes_over = ${bit(effects.takesOver)},`;
  yield* run`
    UPDATE alert_rules SET name = ${after.name}, settings = ${stored}, is_paused = ${bit(after.isPaused)},
      version = ${version}, experiment = experiment + ${bit(effects.isNewExperiment)}, sequence = sequence + 1,
      ${effects.beginsAnew ? anew : part``} ${effects.losesCursor ? part`cursor = NULL,` : part``} updated_at_ms = ${nowMs}
    WHERE id = ${id}`;
  if (effects.isNewVersion) {
    yield* addVersion(id, version, after, nowMs);
    if (effects.looksElsewhere) yield* endStates(id, today, nowMs);
    // Entities without an open alert start outside, so that those inside fire.
    if (!effects.takesOver) {
      yield* run`UPDATE alert_states SET has_left = 1, days_out = 0 WHERE rule = ${id} AND fired_on IS NULL`;
    }
  }
  if (effects.isNewExperiment) {
    const experiment = before.experiment + 1;
    yield* beginExperiment({ organization, rule: id, version, experiment }, after, null, nowMs);
  }
  if (effects.fields.includes("destinations")) yield* setDestinations(organization, id, after.destinations);
  yield* audit.note(organization, ruleChangedNote(before, after, effects.fields), by, nowMs);
  return yield* known(organization, id, today);
}

/** Closes the open alerts of a rule that a decision would end, and deletes its states. Alerts of moments have
 * no end. */
function* endStates(rule: number, today: number, nowMs: number): Work<void> {
  const why: AlertClosing = "ruleChanged";
  yield* run`
    UPDATE alerts SET closed_day = ${today}, closed_why = ${why}, closed_at_ms = ${nowMs}
    WHERE rule = ${rule} AND closed_day IS NULL AND event_id = ''`;
  yield* run`DELETE FROM alert_states WHERE rule = ${rule}`;
}

function* addVersion(
  rule: number,
  version: number,
  { scope, condition }: AlertRuleSettings,
  nowMs: number,
): Work<void> {
  yield* run`
    INSERT INTO alert_rule_versions (rule, version, scope, condition, created_at_ms)
    VALUES (${rule}, ${version}, ${Json.of(scope)}, ${Json.of(condition)}, ${nowMs})`;
}

function* setDestinations(organization: number, rule: number, destinations: readonly number[]): Work<void> {
  const there = yield* select(idRow)`
    FROM destinations WHERE organization = ${organization} AND id IN (SELECT id FROM ${idsAsRows(destinations)})`;
  const missing = destinations.filter((id) => !there.some((one) => one.id === id));
  if (missing.length > 0) throw noSuchDestinations(missing);
  yield* run`DELETE FROM alert_rule_destinations WHERE rule = ${rule}`;
  yield* run`
    INSERT INTO alert_rule_destinations (rule, destination)
    SELECT CAST(${rule} AS bigint), id FROM ${idsAsRows(destinations)}`;
}

/** Locks the organization and its rule: a decision may be committed at the same time. */
function* lockRule(organization: number, id: number): Work<RuleRow | undefined> {
  yield* lockOrganization(organization);
  const [row] = yield* select(ruleRow)`
    FROM alert_rules WHERE organization = ${organization} AND id = ${id} AND ${isKept} ${forUpdate}`;
  return row;
}

function* findRules(
  organization: number,
  which: ReturnType<typeof part>,
  today: number,
): Work<readonly AlertRule[]> {
  const rows = yield* select(ruleRow)`FROM alert_rules ${which}`;
  const pairs = Map.groupBy(yield* destinationsOf(organization), ({ rule }) => rule);
  const open = yield* select(openRow)`
    FROM alerts ${onSqlite(part`INDEXED BY alerts_open`)}
    WHERE organization = ${organization} AND ${isOpen(today)} AND ${isNamed(organization, today)}
    GROUP BY rule`;
  return rows.map(({ settings, ...row }) => ({
    ...row,
    ...settings,
    steps: stepsIn(settings.steps),
    destinations: (pairs.get(row.id) ?? []).map(({ destination }) => destination),
    openAlerts: open.find(({ rule }) => rule === row.id)?.open ?? 0,
  }));
}

/** Destinations of all rules of an organization, by their ids. */
export function destinationsOf(organization: number) {
  return select(pairRow)`
    FROM alert_rule_destinations WHERE rule IN (SELECT id FROM alert_rules WHERE organization = ${organization})
    ORDER BY rule, destination`;
}

function* findRule(organization: number, id: number, today: number): Work<AlertRule | undefined> {
  const [rule] = yield* findRules(
    organization,
    part`WHERE organization = ${organization} AND id = ${id} AND ${isKept}`,
    today,
  );
  return rule;
}

function* known(organization: number, id: number, today: number): Work<AlertRule> {
  const rule = yield* findRule(organization, id, today);
  if (rule === undefined) throw new Error("An alert rule that was just written is not there.");
  return rule;
}

function settingsOf(rule: AlertRule): AlertRuleSettings {
  const { name, scope, condition, cooldownDays, cap, when, destinations, holdOutShare } = rule;
  const { exemptions, steps, isPaused, includeCurrent } = rule;
  return {
    name,
    scope,
    condition,
    cooldownDays,
    cap,
    when,
    destinations,
    holdOutShare,
    exemptions,
    steps,
    isPaused,
    includeCurrent,
  };
}

function storedSettings(
  { name: _, isPaused: __, destinations: ___, steps, ...settings }: AlertRuleSettings,
  before: readonly StoredStep[],
  today: number,
): Json {
  return Json.of({ ...settings, steps: storedSteps(steps, before, today) } satisfies StoredSettings);
}

/** Both engines store booleans of these tables as 0 or 1. */
export function bit(is: boolean): 0 | 1 {
  return is ? 1 : 0;
}

function* refuseName(organization: number, name: string): Work<void> {
  const isTaken = yield* exists`FROM alert_rules WHERE organization = ${organization} AND name = ${name}`;
  if (isTaken) throw ruleNameTaken(name);
}
