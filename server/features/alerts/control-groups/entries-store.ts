/** Stores the experiments of hold-outs and their entries. An erasure, and the deletion of a rule or of old
 * alerts, leave counts of them. */
import { randomBytes } from "node:crypto";
import { type AlertRuleSettings, ruleLimits } from "../../../../contract/alerts/rules.ts";
import { forUpdate, greatest, ids, records } from "../../../ledger/dialect.ts";
import { deleteInParts, type Engine } from "../../../ledger/engine.ts";
import {
  type Fragment,
  flag,
  integer,
  Json,
  json,
  nullable,
  part,
  perEngine,
  RowOf,
  real,
  run,
  select,
  text,
  type Work,
  word,
} from "../../../ledger/sql.ts";
import type { EntitiesByNumber, EntityNumbers, RuleEntity } from "../../../ledger/stores/entity-rows.ts";
import type { DrawnAlert } from "../store/decisions.ts";
import { deletedRules, isKept } from "../store/which-alerts.ts";
import type { ArmsQuestion, EntryCount, HoldOut, HoldOutExperiment, KnownArms } from "./experiments.ts";

/** An experiment of a rule. */
interface ExperimentOf {
  readonly organization: number;
  readonly rule: number;
  readonly version: number;
  readonly experiment: number;
}

const secretRow = new RowOf<{ readonly secret: string }>({ secret: text() });
const ruleRow = new RowOf<Omit<ExperimentOf, "rule"> & { readonly settings: AlertRuleSettings }>({
  organization: integer(),
  version: integer(),
  experiment: integer(),
  settings: json(),
});
const horizonRow = new RowOf<{ readonly horizonDays: number | null }>({ horizonDays: nullable(integer()) });

/** Records that an experiment begins. @param horizonDays null before its first entry */
export function* beginExperiment(
  { organization, rule, version, experiment }: ExperimentOf,
  { scope, condition, holdOutShare }: Pick<AlertRuleSettings, "scope" | "condition" | "holdOutShare">,
  horizonDays: number | null,
  nowMs: number,
): Work<void> {
  if (holdOutShare === 0) return;
  yield* run`
    INSERT INTO hold_out_experiments (organization, rule, experiment, version, scope, condition, share, horizon_days,
      began_at_ms)
    VALUES (${organization}, ${rule}, ${experiment}, ${version}, ${Json.of(scope)}, ${Json.of(condition)},
      ${holdOutShare}, ${horizonDays}, ${nowMs})`;
}

/** The parts of a draw. Another horizon than that of the rule's experiment begins the next one. Undefined
 * when the rule or its share is gone. */
export function* holdOutOf(
  organization: number,
  rule: number,
  horizonDays: number,
  nowMs: number,
): Work<HoldOut | undefined> {
  const secret = yield* secretOf(organization);
  const [before] = yield* select(ruleRow)`
    FROM alert_rules WHERE organization = ${organization} AND id = ${rule} AND ${isKept} ${forUpdate}`;
  if (before === undefined || before.settings.holdOutShare === 0) return undefined;
  const { version, experiment, settings } = before;
  const own = part`rule = ${rule} AND experiment = ${experiment}`;
  const [known] = yield* select(horizonRow)`FROM hold_out_experiments WHERE ${own}`;
  if (known?.horizonDays === horizonDays) return { secret, experiment };
  if (known?.horizonDays === null) {
    yield* run`UPDATE hold_out_experiments SET horizon_days = ${horizonDays} WHERE ${own}`;
    return { secret, experiment };
  }
  yield* run`UPDATE alert_rules SET experiment = ${experiment + 1} WHERE id = ${rule}`;
  const next = { organization, rule, version, experiment: experiment + 1 };
  yield* beginExperiment(next, settings, horizonDays, nowMs);
  return { secret, experiment: experiment + 1 };
}

/** Holds a control without an alert for another horizon, because its arm was asked for again. */
export function* holdAgain(
  { rule, experiment }: Omit<ExperimentOf, "version">,
  { user, account }: EntityNumbers,
  untilDay: number,
): Work<void> {
  const own = account > 0 ? part`account_number = ${account}` : part`user_number = ${user}`;
  yield* run`
    UPDATE hold_out_entries SET control_until = ${untilDay}
    WHERE rule = ${rule} AND experiment = ${experiment} AND arm = 'control' AND ${own}`;
}

function* secretOf(organization: number): Work<string> {
  yield* run`
    INSERT INTO hold_out_secrets (organization, secret) VALUES (${organization}, ${randomBytes(32).toString("hex")})
    ON CONFLICT (organization) DO NOTHING`;
  const [row] = yield* select(secretRow)`FROM hold_out_secrets WHERE organization = ${organization}`;
  if (row === undefined) throw new Error("The secret of draws is not there.");
  return row.secret;
}

const controlRow = new RowOf<KnownArms["controls"][number]>({
  user: integer("user_number"),
  account: integer("drawn"),
  untilDay: integer("max(control_until)"),
});
const entryRow = new RowOf<KnownArms["entries"][number]>({
  user: integer("user_number"),
  account: integer("account_number"),
  arm: word(),
});

/** Controls of a day and later, by user and drawn account: those of alerts, and those of entries without one,
 * because the arm was asked for or the user was erased. */
export function findControls(organization: number, day: number) {
  const own = part`organization = ${organization} AND control_until >= ${day}
    AND rule NOT IN (SELECT id ${deletedRules(organization)})`;
  return select(controlRow)`
    FROM (
      SELECT user_number, coalesce(drawn_account, account_number) AS drawn, control_until FROM alerts WHERE ${own}
      UNION ALL
      SELECT user_number, account_number AS drawn, control_until FROM hold_out_entries WHERE ${own}
    ) AS controls GROUP BY user_number, drawn`;
}

/** The controls of a rule on a day and later among users and drawn accounts. An organization may have very
 * many controls, so each part is found by an index of entities: the pluses keep SQLite from those of days. */
export function findControlsAmong(
  organization: number,
  { rule, day }: Pick<ArmsQuestion, "rule" | "day">,
  { users, accounts }: EntitiesByNumber,
) {
  const own = part`organization = ${organization} AND +rule = ${rule} AND +control_until >= ${day}`;
  const ofUsers = part`user_number <> 0 AND user_number IN (SELECT id FROM ${ids(users)})`;
  const ofAccounts = part`IN (SELECT id FROM ${ids(accounts)})`;
  const drawn = part`coalesce(drawn_account, account_number)`;
  return select(controlRow)`
    FROM (
      SELECT user_number, ${drawn} AS drawn, control_until FROM alerts WHERE ${own} AND ${ofUsers}
      UNION ALL
      SELECT user_number, ${drawn} AS drawn, control_until FROM alerts
      WHERE ${own} AND arm = 'control' AND ${drawn} ${ofAccounts}
      UNION ALL
      SELECT user_number, account_number AS drawn, control_until FROM hold_out_entries WHERE ${own} AND ${ofUsers}
      UNION ALL
      SELECT user_number, account_number AS drawn, control_until FROM hold_out_entries
      WHERE ${own} AND account_number <> 0 AND account_number ${ofAccounts}
    ) AS controls GROUP BY user_number, drawn`;
}

/** Answers `RuleDecisions.knownArms`. The plus leaves SQLite the indexes of named entries: an experiment may
 * have very many. */
export function* findKnownArms(
  organization: number,
  { rule, experiment, day }: ArmsQuestion,
  { users, accounts }: EntitiesByNumber,
): Work<KnownArms> {
  const controls = yield* findControlsAmong(organization, { rule, day }, { users, accounts });
  const own = part`FROM hold_out_entries
    WHERE +organization = ${organization} AND rule = ${rule} AND experiment = ${experiment} AND arm IS NOT NULL`;
  const ofUsers = yield* select(entryRow)`
    ${own} AND user_number <> 0 AND user_number IN (SELECT id FROM ${ids(users)})`;
  const ofAccounts = yield* select(entryRow)`
    ${own} AND account_number <> 0 AND account_number IN (SELECT id FROM ${ids(accounts)})`;
  return { controls, entries: [...ofUsers, ...ofAccounts] };
}

/** A unit that was drawn. */
export interface DrawnUnit extends Pick<DrawnAlert, "entity" | "account" | "arm" | "day" | "isEntry"> {
  /** The last day on which a control without an alert is one. */
  readonly heldUntil?: number | null;
}

/** Adds the entries of units that were drawn. Only the first entry of a unit counts, and of an account only
 * its first user. */
export function* addEntries(
  { organization, rule, experiment }: Omit<ExperimentOf, "version">,
  fired: readonly DrawnUnit[],
): Work<void> {
  const drawn = fired.filter(({ arm, isEntry }) => isEntry && (arm === "treated" || arm === "control"));
  if (drawn.length === 0) return;
  const given = records(
    drawn.map(({ entity, account, arm, day, heldUntil = null }) => ({
      ...unitOf(entity, account),
      arm,
      day,
      until: heldUntil,
    })),
    { user: "bigint", account: "bigint", arm: "text", day: "bigint", until: "bigint" },
  );
  yield* run`
    INSERT INTO hold_out_entries (organization, rule, experiment, user_number, account_number, arm, entered_day,
      control_until)
    SELECT CAST(${organization} AS bigint), CAST(${rule} AS bigint), CAST(${experiment} AS bigint), "user", account, arm, day,
      until
    FROM ${given} WHERE true ON CONFLICT DO NOTHING`;
}

/** The user who entered, and the account that is drawn for it. */
function unitOf(entity: RuleEntity, drawn: number | null): EntityNumbers {
  if (entity.kind === "user") return { user: entity.number, account: drawn ?? 0 };
  return { user: 0, account: entity.kind === "account" ? entity.number : 0 };
}

/** The first day of the month of entry. */
const monthOfEntry = perEngine({
  sqlite: "unixepoch(entered_day * 86400, 'unixepoch', 'start of month') / 86400",
  postgres: "(date_trunc('month', DATE '1970-01-01' + entered_day::integer)::date - DATE '1970-01-01')",
});

/** Removes the numbers from entries, and keeps arm, month and an outcome that alerts of the entity tell. The
 * alerts are still there.
 * @returns how many there were */
function forgetEntries(which: Fragment) {
  return run`
    UPDATE hold_out_entries SET outcome = coalesce(outcome, CASE WHEN EXISTS (
        SELECT 1 FROM alerts JOIN hold_out_experiments AS own ON own.rule = hold_out_entries.rule
          AND own.experiment = hold_out_entries.experiment
        WHERE alerts.organization = hold_out_entries.organization AND alerts.user_number = hold_out_entries.user_number
          AND alerts.account_number =
            CASE WHEN hold_out_entries.user_number = 0 THEN hold_out_entries.account_number ELSE 0 END
          AND alerts.closed_why = 'churned' AND alerts.closed_day >= hold_out_entries.entered_day
          AND alerts.closed_day <= hold_out_entries.entered_day + own.horizon_days)
      THEN 'churned' END),
      entered_day = ${monthOfEntry}, user_number = 0, account_number = 0, control_until = NULL
    WHERE ${which}`;
}

interface EnteredRow {
  readonly rule: number;
  readonly experiment: number;
  readonly account: number;
  readonly controlUntil: number | null;
}
const enteredRow = new RowOf<EnteredRow>({
  rule: integer(),
  experiment: integer(),
  account: integer("account_number"),
  controlUntil: nullable(integer()),
});

/** Forgets an erased user or account. The account of an erased user stays as one that has entered, without
 * arm and day: none of its other users enters. If it is a control, it stays one. The users of an erased
 * account stay. The alerts are still there. */
export function* forgetEntriesOf(organization: number, { user, account }: EntityNumbers): Work<void> {
  if (user > 0) {
    // The second condition says to SQLite that an index of named entries serves.
    const own = part`organization = ${organization} AND user_number = ${user} AND user_number <> 0`;
    const entered = yield* select(enteredRow)`FROM hold_out_entries WHERE ${own} AND account_number <> 0`;
    yield* forgetEntries(own);
    for (const { rule, experiment, account: number, controlUntil } of entered) {
      yield* run`
        INSERT INTO hold_out_entries (organization, rule, experiment, user_number, account_number, control_until)
        VALUES (${organization}, ${rule}, ${experiment}, 0, ${number}, ${controlUntil})`;
    }
    yield* keepControls(organization, user);
  }
  if (account > 0) {
    const own = part`organization = ${organization} AND account_number = ${account} AND account_number <> 0`;
    yield* run`DELETE FROM hold_out_entries WHERE ${own} AND arm IS NULL`;
    yield* forgetEntries(part`${own} AND user_number = 0`);
    yield* run`UPDATE hold_out_entries SET account_number = 0, control_until = NULL WHERE ${own}`;
  }
}

/** Keeps the accounts that are controls because of a user's alerts. A control of an earlier experiment is
 * kept on its entry of then. */
function keepControls(organization: number, user: number) {
  return run`
    INSERT INTO hold_out_entries (organization, rule, experiment, user_number, account_number, control_until)
    SELECT held.organization, held.rule, coalesce((
        SELECT min(entries.experiment) FROM hold_out_entries AS entries
        WHERE entries.organization = held.organization AND entries.account_number = held.drawn_account
          AND entries.account_number <> 0 AND +entries.rule = held.rule), held.experiment), 0, held.drawn_account, held.until_day
    FROM (
      SELECT organization, rule, min(experiment) AS experiment, drawn_account, max(control_until) AS until_day
      FROM alerts WHERE organization = ${organization} AND user_number = ${user} AND account_number = 0
        AND control_until IS NOT NULL AND drawn_account IS NOT NULL
      GROUP BY organization, rule, drawn_account) AS held
    WHERE true
    ON CONFLICT (rule, experiment, account_number) WHERE account_number <> 0 DO UPDATE SET control_until =
      ${greatest}(coalesce(hold_out_entries.control_until, excluded.control_until), excluded.control_until)`;
}

/** The experiments of a rule that is deleted, and their counts, stay. @param name the rule's */
export function keepExperiments(organization: number, rule: number, name: string) {
  return run`
    UPDATE hold_out_experiments SET deleted_rule = ${name} WHERE organization = ${organization} AND rule = ${rule}`;
}

const namedRow = new RowOf<{ readonly id: number }>({ id: integer() });

/** Forgets at most so many entries of a deleted rule, whose alerts are still there. @returns how many */
export function* forgetSomeEntries(rule: number, most: number): Work<number> {
  // Each condition has an index of its own.
  let named = yield* select(namedRow)`
    FROM hold_out_entries WHERE rule = ${rule} AND user_number <> 0 LIMIT ${most}`;
  if (named.length < most) {
    const more = yield* select(namedRow)`
      FROM hold_out_entries WHERE rule = ${rule} AND account_number <> 0 AND user_number = 0
      LIMIT ${most - named.length}`;
    named = [...named, ...more];
  }
  if (named.length === 0) return 0;
  const chosen = part`id IN (SELECT id FROM ${ids(named.map(({ id }) => id))})`;
  yield* run`DELETE FROM hold_out_entries WHERE ${chosen} AND arm IS NULL`;
  yield* forgetEntries(chosen);
  return named.length;
}

/** Forgets entries whose alerts are older than they are kept. */
export function tidyEntries(engine: Engine, nowMs: number): Promise<void> {
  const day = Math.floor(nowMs / 86_400_000) - ruleLimits.keptDays;
  return deleteInParts(engine, (most) =>
    forgetEntries(part`id IN (
      SELECT id FROM hold_out_entries WHERE entered_day < ${day} AND (user_number <> 0 OR account_number <> 0)
      LIMIT ${most})`),
  );
}

const experimentRow = new RowOf<Omit<HoldOutExperiment, "entries">>({
  rule: integer(),
  experiment: integer(),
  version: integer(),
  scope: nullable(json()),
  condition: nullable(json()),
  share: nullable(real()),
  horizonDays: nullable(integer()),
  beganAtMs: integer(),
  deletedRule: nullable(text()),
});
const countRow = new RowOf<EntryCount & { readonly rule: number; readonly experiment: number }>({
  rule: integer(),
  experiment: integer(),
  arm: word(),
  month: integer(),
  outcome: nullable(word()),
  isForgotten: flag(),
  entries: integer("count(*)"),
});

/** The experiments of an organization, in order of rules, with counts of their entries. */
export function* findExperiments(organization: number): Work<readonly HoldOutExperiment[]> {
  const experiments = yield* select(experimentRow)`
    FROM hold_out_experiments WHERE organization = ${organization} ORDER BY rule, experiment`;
  const counts = yield* select(countRow)`
    FROM (
      SELECT rule, experiment, arm, outcome, ${monthOfEntry} AS month,
        CASE WHEN user_number = 0 AND account_number = 0 OR rule IN (SELECT id ${deletedRules(organization)})
          THEN 1 ELSE 0 END AS is_forgotten
      FROM hold_out_entries WHERE organization = ${organization} AND arm IS NOT NULL) AS entries
    GROUP BY rule, experiment, month, arm, outcome, is_forgotten
    ORDER BY month, arm, coalesce(outcome, ''), is_forgotten`;
  const byExperiment = Map.groupBy(counts, ({ rule, experiment }) => `${rule} ${experiment}`);
  return experiments.map((one) => ({
    ...one,
    entries: (byExperiment.get(`${one.rule} ${one.experiment}`) ?? []).map(
      ({ rule: _, experiment: __, ...entry }) => entry,
    ),
  }));
}
