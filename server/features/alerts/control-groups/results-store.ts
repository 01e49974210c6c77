/** Stores what came of the entries of experiments, and the plan of each. */
import type { AlertArm } from "../../../../contract/alerts/rules.ts";
import { records } from "../../../ledger/dialect.ts";
import type { Engine } from "../../../ledger/engine.ts";
import {
  integer,
  json,
  nullable,
  part,
  RowOf,
  real,
  run,
  select,
  type Work,
  word,
} from "../../../ledger/sql.ts";
import type { EntityNumbers } from "../../../ledger/stores/entity-rows.ts";
import type { TableTypes } from "../../../ledger/tables.ts";
import type { EntryArm, EntryOutcome, HoldOutExperiment } from "./experiments.ts";

/** The outcome by which an experiment is judged, fixed when it begins. `churned`: the churn label of the
 * horizon from the entry. `unpaid`: no period that begins after the one of the entry was paid. */
export type PrimaryOutcome = "churned" | "unpaid";

/** What an experiment is planned for, and with which assumption. */
export interface ExperimentPlan {
  readonly primary: PrimaryOutcome;
  /** The share of controls that is expected to leave. */
  readonly base: number;
  /** Entries of both arms. */
  readonly planned: number;
}

/** The plan, the day on which an outcome can be known, and whether a control was worked on all the same. */
export const holdOutPlans = ({ integer: int, real: float, text }: TableTypes) => `
  ALTER TABLE hold_out_experiments ADD COLUMN primary_outcome ${text};
  ALTER TABLE hold_out_experiments ADD COLUMN base ${float};
  ALTER TABLE hold_out_experiments ADD COLUMN planned ${int};
  ALTER TABLE hold_out_entries ADD COLUMN due_day ${int};
  ALTER TABLE hold_out_entries ADD COLUMN is_contaminated ${int};
  CREATE INDEX hold_out_entries_open ON hold_out_entries (organization, rule, experiment, id)
    WHERE outcome IS NULL AND arm IS NOT NULL;
`;

/** An experiment that has entries without an outcome. */
export interface OpenExperiment
  extends Pick<HoldOutExperiment, "rule" | "experiment" | "condition" | "share" | "horizonDays"> {
  /** Null before it is planned. */
  readonly primary: PrimaryOutcome | null;
  readonly planned: number | null;
}

/** An entry whose outcome may be known now. Of an account the user is 0. */
export interface DueEntry extends EntityNumbers {
  readonly id: number;
  readonly arm: EntryArm;
  readonly enteredDay: number;
}

/** What was found out about an entry. */
export interface SettledEntry {
  readonly id: number;
  /** Null: not known yet. `leftOut`: it can never be known, because of an outage for example. */
  readonly outcome: EntryOutcome | "leftOut" | null;
  /** Of one that is not known: the day on which it is looked at again. */
  readonly dueDay: number | null;
  /** Whether a control was worked on, or another rule fired for it. */
  readonly isContaminated: boolean;
}

/** A user or an account that was drawn, or exempt: by an alert, or by a request for its arm. */
export interface EnteredRow extends EntityNumbers {
  readonly day: number;
  readonly rule: number;
  readonly experiment: number;
  readonly arm: AlertArm;
  /** The share of controls. */
  readonly share: number;
}

/** Entries of an arm with a known outcome: all of them, and those among the first of the plan. */
export interface ArmCount {
  readonly rule: number;
  readonly experiment: number;
  readonly arm: EntryArm;
  readonly entries: number;
  readonly mature: number;
  readonly left: number;
  /** Among the first `planned` entries that count: with a known outcome, and how many of these left. */
  readonly firstMature: number;
  readonly firstLeft: number;
  /** Among the first `planned` entries, those whose outcome is not known yet. */
  readonly firstOpen: number;
  readonly contaminated: number;
}

const openRow = new RowOf<OpenExperiment>({
  rule: integer("own.rule"),
  experiment: integer("own.experiment"),
  condition: nullable(json("own.condition")),
  share: nullable(real("own.share")),
  horizonDays: nullable(integer("own.horizon_days")),
  primary: nullable(word("own.primary_outcome")),
  planned: nullable(integer("own.planned")),
});
const dueRow = new RowOf<DueEntry>({
  id: integer(),
  user: integer("user_number"),
  account: integer("account_number"),
  arm: word(),
  enteredDay: integer(),
});
const countRow = new RowOf<ArmCount>({
  rule: integer(),
  experiment: integer(),
  arm: word(),
  entries: integer("count(*)"),
  mature: integer("sum(is_mature)"),
  left: integer("sum(is_left)"),
  firstMature: integer("sum(CASE WHEN is_first = 1 THEN is_mature ELSE 0 END)"),
  firstLeft: integer("sum(CASE WHEN is_first = 1 THEN is_left ELSE 0 END)"),
  firstOpen: integer("sum(CASE WHEN is_first = 1 THEN 1 - is_mature ELSE 0 END)"),
  contaminated: integer("CAST(sum(coalesce(is_contaminated, 0)) AS bigint)"),
});
const planRow = new RowOf<ExperimentPlan & { readonly rule: number; readonly experiment: number }>({
  rule: integer(),
  experiment: integer(),
  primary: word("primary_outcome"),
  base: real(),
  planned: integer(),
});

const enteredRow = new RowOf<EnteredRow>({
  user: integer("user_number"),
  account: integer("drawn"),
  day: integer(),
  rule: integer("own.rule"),
  experiment: integer("own.experiment"),
  arm: word(),
  share: real("own.share"),
});

const isOpen = part`outcome IS NULL AND arm IS NOT NULL AND (user_number <> 0 OR account_number <> 0)`;

/** The store of results. */
export function holdOutResults(engine: Engine) {
  return {
    /** The experiments with entries whose outcome is not known. */
    open: (organization: number): Promise<readonly OpenExperiment[]> =>
      engine.alone(select(openRow)`
        FROM hold_out_experiments AS own WHERE own.organization = ${organization} AND EXISTS (
          SELECT 1 FROM hold_out_entries WHERE hold_out_entries.organization = own.organization
            AND hold_out_entries.rule = own.rule AND hold_out_entries.experiment = own.experiment AND ${isOpen})
        ORDER BY own.rule, own.experiment`),

    /** Plans an experiment. A plan never changes. */
    plan: (
      organization: number,
      { rule, experiment }: Pick<OpenExperiment, "rule" | "experiment">,
      { primary, base, planned }: ExperimentPlan,
    ): Promise<void> =>
      engine.leadingTransaction(function* () {
        yield* run`
          UPDATE hold_out_experiments SET primary_outcome = ${primary}, base = ${base}, planned = ${planned}
          WHERE organization = ${organization} AND rule = ${rule} AND experiment = ${experiment} AND planned IS NULL`;
      }),

    /** Entries whose outcome can be known on a day, in the order in which they entered.
     * @param after only of higher ids */
    due: (
      organization: number,
      { rule, experiment, horizonDays }: Pick<OpenExperiment, "rule" | "experiment" | "horizonDays">,
      { today, after, limit }: { readonly today: number; readonly after: number; readonly limit: number },
    ): Promise<readonly DueEntry[]> =>
      engine.alone(select(dueRow)`
        FROM hold_out_entries WHERE organization = ${organization} AND rule = ${rule} AND experiment = ${experiment}
          AND ${isOpen} AND coalesce(due_day, entered_day + ${horizonDays ?? 0}) < ${today} AND id > ${after}
        ORDER BY id LIMIT ${limit}`),

    /** Keeps what was found out. An outcome that is known stays. */
    settle: (organization: number, settled: readonly SettledEntry[]): Promise<void> =>
      engine.leadingTransaction(() => settle(organization, settled)),

    /** The arms of all experiments of an organization. Those who were forgotten before anything was known of
     * them are left out, as if they had not entered. */
    arms: (organization: number): Promise<readonly ArmCount[]> =>
      engine.alone(select(countRow)`
        FROM (
          SELECT rule, experiment, arm, is_mature, is_left, is_contaminated,
            CASE WHEN place <= coalesce(planned, 0) THEN 1 ELSE 0 END AS is_first
          FROM (
            SELECT entries.rule, entries.experiment, arm, is_contaminated, own.planned,
              CASE WHEN outcome IS NULL THEN 0 ELSE 1 END AS is_mature,
              CASE WHEN outcome = 'churned' THEN 1 ELSE 0 END AS is_left,
              row_number() OVER (PARTITION BY entries.rule, entries.experiment ORDER BY entries.id) AS place
            FROM hold_out_entries AS entries JOIN hold_out_experiments AS own
              ON own.rule = entries.rule AND own.experiment = entries.experiment
            WHERE entries.organization = ${organization} AND arm IS NOT NULL AND coalesce(outcome, '') <> 'leftOut'
              AND (outcome IS NOT NULL OR user_number <> 0 OR account_number <> 0)) AS placed) AS counted
        GROUP BY rule, experiment, arm ORDER BY rule, experiment, arm`),

    /** All who entered between two days, the later excluded, also those who entered again. */
    entered: (organization: number, fromDay: number, toDay: number): Promise<readonly EnteredRow[]> =>
      engine.alone(select(enteredRow)`
        FROM (
          SELECT user_number, coalesce(drawn_account, account_number) AS drawn, fired_day AS day, rule, experiment, arm
          FROM alerts WHERE organization = ${organization} AND fired_day >= ${fromDay} AND fired_day < ${toDay}
            AND rule IN (SELECT rule FROM hold_out_experiments WHERE organization = ${organization}) AND arm IS NOT NULL
          UNION ALL
          SELECT user_number, account_number AS drawn, entered_day AS day, rule, experiment, arm FROM hold_out_entries
          WHERE organization = ${organization} AND entered_day >= ${fromDay} AND entered_day < ${toDay}
            AND arm IS NOT NULL AND (user_number <> 0 OR account_number <> 0)
        ) AS drawn_units JOIN hold_out_experiments AS own
          ON own.rule = drawn_units.rule AND own.experiment = drawn_units.experiment
        WHERE own.share > 0 ORDER BY day, user_number, drawn`),

    /** The plans of experiments that have one. */
    plans: (
      organization: number,
    ): Promise<readonly (ExperimentPlan & { readonly rule: number; readonly experiment: number })[]> =>
      engine.alone(select(planRow)`
        FROM hold_out_experiments WHERE organization = ${organization} AND planned IS NOT NULL
        ORDER BY rule, experiment`),
  };
}

export type HoldOutResults = ReturnType<typeof holdOutResults>;

function* settle(organization: number, settled: readonly SettledEntry[]): Work<void> {
  if (settled.length === 0) return;
  const given = records(
    settled.map(({ id, outcome, dueDay, isContaminated }) => ({
      id,
      outcome,
      dueDay,
      contaminated: isContaminated ? 1 : 0,
    })),
    { id: "bigint", outcome: "text", dueDay: "bigint", contaminated: "bigint" },
  );
  yield* run`
    UPDATE hold_out_entries SET outcome = given.outcome, due_day = coalesce(given."dueDay", due_day),
      is_contaminated = given.contaminated
    FROM ${given} WHERE hold_out_entries.id = given.id AND hold_out_entries.organization = ${organization}
      AND hold_out_entries.outcome IS NULL`;
}
