/** The tables of hold-outs, as the migration creates them on both engines. Never edit a released text. */
import type { TableTypes } from "../../../ledger/tables.ts";

/**
 * Experiments with their share and churn horizon, and the first entry of each unit. They stay when their rule
 * is deleted, so they do not refer to it. The number of a rule is never used again. An entry without numbers
 * is of an entity that is forgotten: `entered_day` is then the first day of its month. An entry without an
 * arm says that the account entered by a user who is erased.
 */
export function holdOutTables({ engine, id, integer, real, text, end }: TableTypes): string {
  const ofOrganization = `organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE`;
  return `
  CREATE TABLE hold_out_experiments (
    id ${id},
    ${ofOrganization},
    rule ${integer} NOT NULL,
    experiment ${integer} NOT NULL,
    version ${integer} NOT NULL,
    scope ${text},
    condition ${text},
    share ${real},
    horizon_days ${integer},
    began_at_ms ${integer} NOT NULL,
    deleted_rule ${text},
    UNIQUE (rule, experiment)
  )${end};
  CREATE INDEX hold_out_experiments_of_organization ON hold_out_experiments (organization);

  CREATE TABLE hold_out_entries (
    id ${id},
    ${ofOrganization},
    rule ${integer} NOT NULL,
    experiment ${integer} NOT NULL,
    user_number ${integer} NOT NULL,
    account_number ${integer} NOT NULL,
    arm ${text},
    entered_day ${integer},
    outcome ${text}
  )${end};
  CREATE INDEX hold_out_entries_of_experiment ON hold_out_entries (organization, rule, experiment);
  CREATE UNIQUE INDEX hold_out_entries_of_user ON hold_out_entries (rule, experiment, user_number)
    WHERE user_number <> 0;
  CREATE UNIQUE INDEX hold_out_entries_of_account ON hold_out_entries (rule, experiment, account_number)
    WHERE account_number <> 0;
  CREATE INDEX hold_out_entries_by_user ON hold_out_entries (organization, user_number) WHERE user_number <> 0;
  CREATE INDEX hold_out_entries_by_account ON hold_out_entries (organization, account_number)
    WHERE account_number <> 0;
  CREATE INDEX hold_out_entries_named ON hold_out_entries (entered_day) WHERE user_number <> 0 OR account_number <> 0;
${storedBefore(shareOf[engine])}`;
}

/** The share in the settings of a rule. */
const shareOf = {
  sqlite: "json_extract(settings, '$.holdOutShare')",
  postgres: `substring(settings from '"holdOutShare":([0-9.eE+-]+)')::double precision`,
} as const;

/** The share of an earlier experiment is not known. Its horizon is that of its controls. */
function storedBefore(share: string): string {
  return `
  INSERT INTO hold_out_experiments (organization, rule, experiment, version, horizon_days, began_at_ms)
    SELECT organization, rule, experiment, max(version), max(control_until - fired_day + 1), min(fired_at_ms)
    FROM alerts WHERE arm IN ('treated', 'control') GROUP BY organization, rule, experiment;
  INSERT INTO hold_out_experiments (organization, rule, experiment, version, began_at_ms)
    SELECT organization, id, experiment, version, updated_at_ms FROM alert_rules WHERE ${share} > 0
    ON CONFLICT DO NOTHING;
  UPDATE hold_out_experiments SET
    share = (SELECT ${share} FROM alert_rules
      WHERE alert_rules.id = hold_out_experiments.rule AND alert_rules.experiment = hold_out_experiments.experiment),
    scope = (SELECT versions.scope FROM alert_rule_versions AS versions
      WHERE versions.rule = hold_out_experiments.rule AND versions.version = hold_out_experiments.version),
    condition = (SELECT versions.condition FROM alert_rule_versions AS versions
      WHERE versions.rule = hold_out_experiments.rule AND versions.version = hold_out_experiments.version);
  INSERT INTO hold_out_entries (organization, rule, experiment, user_number, account_number, arm, entered_day)
    SELECT organization, rule, experiment, user_number, coalesce(drawn_account, account_number), arm, fired_day
    FROM alerts WHERE arm IN ('treated', 'control') ORDER BY id
    ON CONFLICT DO NOTHING;
`;
}

/** The last day on which an account is a control because of an erased user. It is on the entry of the
 * account, or on the row without an arm. */
export const controlsOfErasedUsers = ({ integer }: TableTypes) => `
  ALTER TABLE hold_out_entries ADD COLUMN control_until ${integer};
  CREATE INDEX hold_out_entries_of_controls ON hold_out_entries (organization, control_until)
    WHERE control_until IS NOT NULL;
`;
