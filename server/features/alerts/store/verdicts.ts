/** What team members said about alerts and calls: a row each time, so that an outcome that was changed, or
 * taken back, has its history. */
import { type AlertVerdict, ruleLimits, type WorkOutcome } from "../../../../contract/alerts/rules.ts";
import { type Actor, authorOf } from "../../../ledger/audit.ts";
import { deleteInParts, type Engine } from "../../../ledger/engine.ts";
import {
  type Fragment,
  integer,
  nullable,
  RowOf,
  run,
  select,
  text,
  type Work,
  word,
} from "../../../ledger/sql.ts";
import { type EntityNumbers, type NamedPerson, namedPerson } from "../../../ledger/stores/entity-rows.ts";
import type { TableTypes } from "../../../ledger/tables.ts";
import { isKept } from "./which-alerts.ts";

/** The words about one alert or call. */
export interface Said {
  /** Null: the verdict was taken back. */
  readonly verdict: AlertVerdict | null;
  readonly outcome: WorkOutcome | null;
  readonly note: string | null;
}

/** A verdict at the time at which it was given. */
export interface GivenVerdict extends Said, EntityNumbers {
  readonly id: number;
  /** Null of a row of the call list, and once the alert is deleted. */
  readonly alert: number | null;
  /** The alert's. Null as well once the rule is deleted. */
  readonly rule: { readonly id: number; readonly name: string } | null;
  readonly person: NamedPerson | null;
  /** Who else said it: `read key 3`. Null of a team member. */
  readonly by: string | null;
  readonly atMs: number;
}

/** Verdicts that stood before each was kept are taken over: of calls nobody knows who gave them. */
export function verdictTable({ id, integer: int, text: words, end }: TableTypes): string {
  return `
  ALTER TABLE alerts ADD COLUMN outcome ${words};
  ALTER TABLE calls_set_aside ADD COLUMN outcome ${words};
  CREATE TABLE verdicts (
    id ${id},
    organization ${int} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_number ${int} NOT NULL,
    account_number ${int} NOT NULL,
    alert ${int} REFERENCES alerts (id) ON DELETE SET NULL,
    rule ${int},
    verdict ${words},
    outcome ${words},
    note ${words},
    said_by ${int} REFERENCES people (id) ON DELETE SET NULL,
    said_as ${words},
    said_at_ms ${int} NOT NULL
  )${end};
  CREATE INDEX verdicts_in_order ON verdicts (organization, id);
  CREATE INDEX verdicts_of_entity ON verdicts (organization, user_number, account_number);
  CREATE INDEX verdicts_of_alert ON verdicts (alert);
  CREATE INDEX verdicts_said_by ON verdicts (said_by);
  CREATE INDEX verdicts_in_time ON verdicts (said_at_ms);
  INSERT INTO verdicts (organization, user_number, account_number, alert, rule, verdict, note, said_by, said_at_ms)
    SELECT organization, user_number, account_number, id, rule, verdict, note, verdict_by, verdict_at_ms
    FROM alerts WHERE verdict IS NOT NULL AND verdict_at_ms IS NOT NULL ORDER BY verdict_at_ms, id;
  INSERT INTO verdicts (organization, user_number, account_number, verdict, said_at_ms)
    SELECT organization, user_number, account_number, verdict, verdict_at_ms
    FROM calls_set_aside WHERE verdict IS NOT NULL AND verdict_at_ms IS NOT NULL ORDER BY verdict_at_ms;
`;
}

/** Keeps what was said, in the commit that changes the alert or the call. */
export function* keepVerdict(
  organization: number,
  about: EntityNumbers & { readonly alert: number | null; readonly rule: number | null },
  { verdict, outcome, note }: Said,
  by: Actor,
  nowMs: number,
): Work<void> {
  yield* run`
    INSERT INTO verdicts (organization, user_number, account_number, alert, rule, verdict, outcome, note, said_by, said_as,
      said_at_ms)
    VALUES (${organization}, ${about.user}, ${about.account}, ${about.alert}, ${about.rule}, ${verdict}, ${outcome},
      ${note}, ${by.person?.id ?? null}, ${authorOf(by)}, ${nowMs})`;
}

interface VerdictRow extends Omit<GivenVerdict, "rule" | "person"> {
  readonly ruleId: number | null;
  readonly ruleName: string | null;
  readonly personId: number | null;
  readonly personName: string | null;
}
const verdictRow = new RowOf<VerdictRow>({
  id: integer("verdicts.id"),
  user: integer("user_number"),
  account: integer("account_number"),
  alert: nullable(integer()),
  ruleId: nullable(integer("alert_rules.id")),
  ruleName: nullable(text("alert_rules.name")),
  verdict: nullable(word()),
  outcome: nullable(word()),
  note: nullable(text()),
  personId: nullable(integer("people.id")),
  personName: nullable(text("people.name")),
  by: nullable(text("said_as")),
  atMs: integer("said_at_ms"),
});

/** Verdicts of rules that are there, and of calls. @param which the end of the statement, from WHERE on */
export function* findVerdicts(which: Fragment): Work<readonly GivenVerdict[]> {
  const rows = yield* select(verdictRow)`
    FROM verdicts LEFT JOIN alert_rules ON alert_rules.id = verdicts.rule AND ${isKept}
    LEFT JOIN people ON people.id = verdicts.said_by
    ${which}`;
  return rows.map(({ ruleId, ruleName, personId, personName, ...row }) => ({
    ...row,
    rule: ruleId === null || ruleName === null ? null : { id: ruleId, name: ruleName },
    person: namedPerson(personId, personName),
  }));
}

/** Forgets an erased user or account. */
export function* deleteVerdictsOf(organization: number, { user, account }: EntityNumbers): Work<void> {
  yield* run`
    DELETE FROM verdicts WHERE organization = ${organization} AND user_number = ${user} AND account_number = ${account}`;
}

/** Deletes verdicts that are older than alerts are kept. */
export function tidyVerdicts(engine: Engine, nowMs: number): Promise<void> {
  const uptoMs = nowMs - ruleLimits.keptDays * 86_400_000;
  return deleteInParts(
    engine,
    (most) => run`
      DELETE FROM verdicts WHERE id IN (SELECT id FROM verdicts WHERE said_at_ms < ${uptoMs} LIMIT ${most})`,
  );
}
