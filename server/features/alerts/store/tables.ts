/** The tables of alert rules and alerts, as the migration creates them on both engines. Never edit a released
 * text. */
import type { TableTypes } from "../../../ledger/tables.ts";

/**
 * Rules with their watermarks, the states that they keep, alerts, and the entities that a delivery names.
 * Entities are named by their numbers, which no other one gets. Of a source both numbers are 0.
 */
export function alertTables({ id, integer, real, text, ordered, end, keyed }: TableTypes): string {
  const ofOrganization = `organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE`;
  const ofRule = `rule ${integer} NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE`;
  const entity = `
    user_number ${integer} NOT NULL,
    account_number ${integer} NOT NULL,
    source ${text} NOT NULL`;
  return `
  CREATE TABLE alert_rules (
    id ${id},
    ${ofOrganization},
    name ${ordered} NOT NULL,
    settings ${text} NOT NULL,
    is_paused ${integer} NOT NULL,
    version ${integer} NOT NULL,
    experiment ${integer} NOT NULL,
    sequence ${integer} NOT NULL,
    decided_through ${integer},
    part_day ${integer},
    part_number ${integer},
    takes_over ${integer} NOT NULL,
    cursor ${text},
    created_at_ms ${integer} NOT NULL,
    updated_at_ms ${integer} NOT NULL,
    UNIQUE (organization, name)
  )${end};

  CREATE TABLE alert_rule_destinations (
    ${ofRule},
    destination ${integer} NOT NULL REFERENCES destinations (id) ON DELETE CASCADE,
    PRIMARY KEY (rule, destination)
  )${keyed};
  CREATE INDEX alert_rule_destinations_by_destination ON alert_rule_destinations (destination);

  CREATE TABLE alert_rule_versions (
    ${ofRule},
    version ${integer} NOT NULL,
    scope ${text} NOT NULL,
    condition ${text} NOT NULL,
    created_at_ms ${integer} NOT NULL,
    PRIMARY KEY (rule, version)
  )${keyed};

  CREATE TABLE alert_states (
    ${ofOrganization},
    ${ofRule},${entity},
    has_left ${integer} NOT NULL,
    days_out ${integer} NOT NULL,
    rests_until ${integer},
    fired_on ${integer},
    value ${real},
    PRIMARY KEY (rule, user_number, account_number, source)
  )${keyed};
  CREATE INDEX alert_states_of_entity ON alert_states (organization, user_number, account_number);

  CREATE TABLE alerts (
    id ${id},
    ${ofOrganization},
    ${ofRule},
    version ${integer} NOT NULL,
    experiment ${integer} NOT NULL,${entity},
    fired_day ${integer} NOT NULL,
    fired_at_ms ${integer} NOT NULL,
    event_id ${text} NOT NULL,
    before_value ${real},
    after_value ${real},
    reasons ${text} NOT NULL,
    risk ${real},
    expected_loss ${real},
    drawn_account ${integer},
    arm ${text},
    control_until ${integer},
    is_sent ${integer} NOT NULL,
    closed_day ${integer},
    closed_why ${text},
    closed_at_ms ${integer},
    assignee ${integer} REFERENCES people (id) ON DELETE SET NULL,
    snoozed_until ${integer},
    verdict ${text},
    verdict_by ${integer} REFERENCES people (id) ON DELETE SET NULL,
    verdict_at_ms ${integer},
    note ${text}
  )${end};
  CREATE UNIQUE INDEX alerts_once ON alerts (rule, user_number, account_number, source, fired_day, event_id);
  CREATE UNIQUE INDEX alerts_of_event ON alerts (rule, event_id) WHERE event_id <> '';
  CREATE INDEX alerts_of_entity ON alerts (organization, user_number, account_number, id);
  CREATE INDEX alerts_open ON alerts (organization, rule) WHERE closed_day IS NULL AND verdict IS NULL;
  CREATE INDEX alerts_by_age ON alerts (fired_at_ms);
  CREATE INDEX alerts_of_assignee ON alerts (assignee);
  CREATE INDEX alerts_verdict_by ON alerts (verdict_by);

  CREATE TABLE hold_out_secrets (
    organization ${integer} PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
    secret ${text} NOT NULL
  )${end};

  CREATE TABLE delivery_entities (
    ${ofOrganization},
    delivery ${integer} NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
    user_number ${integer} NOT NULL,
    account_number ${integer} NOT NULL,
    PRIMARY KEY (delivery, user_number, account_number)
  )${keyed};
  CREATE INDEX delivery_entities_of_entity ON delivery_entities (organization, user_number, account_number);
`;
}

/** Counts of decisions by day, for the digest. */
export function alertRuleDays({ integer, keyed }: TableTypes): string {
  return `
  CREATE TABLE alert_rule_days (
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    rule ${integer} NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE,
    day ${integer} NOT NULL,
    inside_by_settings ${integer} NOT NULL,
    decided_at_ms ${integer} NOT NULL,
    PRIMARY KEY (rule, day)
  )${keyed};
  CREATE INDEX alert_rule_days_of_organization ON alert_rule_days (organization, decided_at_ms);
`;
}

/** For figures of rules by day. */
export const alertsByDay = `
  CREATE INDEX alerts_by_day ON alerts (organization, rule, fired_day);
`;

/** For lists of alerts: the first index has their order and all columns that filters read, so that alerts are
 * counted and passed over without their rows. The second serves readers of all alerts, in the order of ids.
 * By the third, open alerts are counted for each rule. SQLite puts rows without a value last anyway, and has
 * no word for it in an index. */
export const alertsInLists = ({ engine }: TableTypes) => {
  const last = engine === "sqlite" ? "" : "NULLS LAST";
  return `
  CREATE INDEX alerts_by_weight ON alerts (organization, expected_loss DESC ${last}, risk DESC ${last}, id DESC,
    rule, closed_day, verdict, snoozed_until, control_until, assignee);
  CREATE INDEX alerts_in_order ON alerts (organization, id);
  DROP INDEX alerts_open;
  CREATE INDEX alerts_open ON alerts (organization, rule, snoozed_until, control_until, closed_day, verdict)
    WHERE closed_day IS NULL AND verdict IS NULL;
`;
};

/** A deleted rule is marked until its rows are gone. */
export const deletedRules = ({ integer }: TableTypes) => `
  ALTER TABLE alert_rules ADD COLUMN deleted_at_ms ${integer};
  CREATE INDEX alert_rules_deleted ON alert_rules (organization) WHERE deleted_at_ms IS NOT NULL;
`;

/** Controls are read for each list. Most alerts are of none. */
export const alertsOfControls = `
  CREATE INDEX alerts_of_controls ON alerts (organization, control_until) WHERE control_until IS NOT NULL;
`;

/** The arm of a user depends on whether its account is held back. */
export const alertsOfHeldAccounts = `
  CREATE INDEX alerts_of_held_accounts ON alerts (organization, coalesce(drawn_account, account_number))
    WHERE arm = 'control';
`;

/** A version of a rule that looks elsewhere may fire for an entity on the day of an alert of the one
 * before. */
export const alertsOnceAVersion = `
  DROP INDEX alerts_once;
  CREATE UNIQUE INDEX alerts_once ON alerts (rule, user_number, account_number, source, fired_day, event_id, version);
`;

/** Rows of the call list that team members snoozed or judged, beside what they did about alerts. */
export function callsSetAsideTable({ integer, text, keyed }: TableTypes): string {
  return `
  CREATE TABLE calls_set_aside (
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_number ${integer} NOT NULL,
    account_number ${integer} NOT NULL,
    snoozed_until ${integer},
    verdict ${text},
    verdict_at_ms ${integer},
    PRIMARY KEY (organization, user_number, account_number),
    CHECK ((user_number = 0) <> (account_number = 0))
  )${keyed};
`;
}
