/** What alert rules and the call list have about one user, for the document about the person. */
import type { AlertArm } from "../../../../contract/alerts/rules.ts";
import { dayOrNull } from "../../../calendar/days.ts";
import { instant } from "../../../calendar/instant.ts";
import type { Engine } from "../../../ledger/engine.ts";
import type { ExportedUser, Feature, SharedFeatureStores } from "../../../ledger/feature.ts";
import { flag, integer, nullable, part, RowOf, real, select, text, word } from "../../../ledger/sql.ts";
import { nameOf } from "../../../ledger/stores/entity-rows.ts";
import { callRow, type PersonCall } from "./alert-store.ts";
import type { EntityStateRow } from "./decisions.ts";
import { alertLine } from "./exported-alerts.ts";
import { findVerdicts, type GivenVerdict } from "./verdicts.ts";
import { isKept } from "./which-alerts.ts";

/** An alert rule, by its number and name. */
interface OfRule {
  readonly ruleId: number;
  readonly rule: string;
}

/** The state that an alert rule keeps of a user. */
export type PersonAlertState = OfRule & Omit<EntityStateRow, "entity">;

/** An entry of a user into an experiment of a hold-out. */
export interface PersonHoldOutEntry extends OfRule {
  readonly experiment: number;
  /** The account that was drawn for the user. Null if the user was drawn. */
  readonly accountId: string | null;
  readonly arm: AlertArm | null;
  readonly enteredDay: number | null;
  readonly outcome: string | null;
}

const ruleColumns = { ruleId: integer("alert_rules.id"), rule: text("alert_rules.name") };
const stateRow = new RowOf<PersonAlertState>({
  ...ruleColumns,
  hasLeft: flag(),
  daysOut: integer(),
  restsUntil: nullable(integer()),
  firedOn: nullable(integer()),
  value: nullable(real()),
});
const entryRow = new RowOf<PersonHoldOutEntry>({
  ...ruleColumns,
  experiment: integer("entries.experiment"),
  accountId: nullable(text("accounts.account_id")),
  arm: nullable(word()),
  enteredDay: nullable(integer()),
  outcome: nullable(text()),
});
/** Reads it. */
export function aboutUserStore(engine: Engine) {
  return {
    /** The states that alert rules keep of a user, in the order of the rules. */
    states: (organization: number, user: number): Promise<readonly PersonAlertState[]> =>
      engine.alone(select(stateRow)`
        FROM alert_states JOIN alert_rules ON alert_rules.id = alert_states.rule
        WHERE alert_states.organization = ${organization} AND user_number = ${user} AND account_number = 0
          AND ${isKept}
        ORDER BY alert_rules.id`),

    /** What was said about the user's row of the call list: one, or none. */
    calls: (organization: number, user: number): Promise<readonly PersonCall[]> =>
      engine.alone(select(callRow)`
        FROM calls_set_aside WHERE organization = ${organization} AND user_number = ${user} AND account_number = 0`),

    /** The verdicts about a user and the user's alerts, the oldest first. */
    verdicts: (organization: number, user: number): Promise<readonly GivenVerdict[]> =>
      engine.alone(
        findVerdicts(part`
          WHERE verdicts.organization = ${organization} AND user_number = ${user} AND account_number = 0
          ORDER BY verdicts.id`),
      ),

    /** The entries of a user into hold-outs, the oldest first. */
    entries: (organization: number, user: number): Promise<readonly PersonHoldOutEntry[]> =>
      engine.alone(entriesOf(organization, user)),
  };
}

export type AboutUserStore = ReturnType<typeof aboutUserStore>;

/** A rule forgets its entries when it is deleted, so each has its rule. The last condition says to SQLite
 * that an index of named entries serves. */
function entriesOf(organization: number, user: number) {
  return select(entryRow)`
    FROM hold_out_entries AS entries JOIN alert_rules ON alert_rules.id = entries.rule
    LEFT JOIN accounts ON accounts.organization = entries.organization AND accounts.number = entries.account_number
      AND entries.account_number > 0
    WHERE entries.organization = ${organization} AND entries.user_number = ${user} AND entries.user_number <> 0
      AND ${isKept}
    ORDER BY entries.id`;
}

/** Rows that are read together. */
const pageRows = 200;

/** The sections of the document. */
export const aboutUser: NonNullable<Feature["aboutUser"]> = {
  /** All alerts about the user, also as a control, in the columns of the export. */
  async *alerts({ alerts }: SharedFeatureStores, { organization, userId }: ExportedUser) {
    for (let after = 0; ; ) {
      const page = await alerts.ofEntity(organization, { kind: "user", id: userId }, after, pageRows);
      yield page.map((alert) => alertLine(alert).line);
      after = page.at(-1)?.id ?? after;
      if (page.length < pageRows) return;
    }
  },

  async *alertStates({ alertsAboutUser }: SharedFeatureStores, { organization, user }: ExportedUser) {
    const states = await alertsAboutUser.states(organization, user);
    yield states.map(({ restsUntil, firedOn, ...state }) => ({
      ...state,
      restsUntil: dayOrNull(restsUntil),
      firedDay: dayOrNull(firedOn),
    }));
  },

  async *calls({ alertsAboutUser }: SharedFeatureStores, { organization, user }: ExportedUser) {
    const calls = await alertsAboutUser.calls(organization, user);
    yield calls.map(({ snoozedUntil, verdict, outcome, verdictAtMs }) => ({
      snoozedUntil: dayOrNull(snoozedUntil),
      verdict,
      outcome,
      verdictAt: verdictAtMs === null ? null : instant(verdictAtMs),
    }));
  },

  async *verdicts({ alertsAboutUser }: SharedFeatureStores, { organization, user }: ExportedUser) {
    const verdicts = await alertsAboutUser.verdicts(organization, user);
    yield verdicts.map(({ alert, rule, verdict, outcome, note, person, by, atMs }) => ({
      alertId: alert,
      rule: rule?.name ?? null,
      verdict,
      outcome,
      note,
      by: nameOf(person) ?? by,
      at: instant(atMs),
    }));
  },

  async *holdOutEntries({ alertsAboutUser }: SharedFeatureStores, { organization, user }: ExportedUser) {
    const entries = await alertsAboutUser.entries(organization, user);
    yield entries.map(({ enteredDay, ...entry }) => ({ ...entry, enteredDay: dayOrNull(enteredDay) }));
  },
};
