/** The states of entities that alert rules keep, as rows. */
import type { SenderName } from "../../../../contract/sources.ts";
import { records } from "../../../ledger/dialect.ts";
import { run, type Work } from "../../../ledger/sql.ts";
import type { RuleEntity } from "../../../ledger/stores/entity-rows.ts";
import type { EntityStateRow } from "./decisions.ts";

/** An entity as columns: of a source both numbers are 0. */
export function numbersOf(entity: RuleEntity) {
  return {
    user: entity.kind === "user" ? entity.number : 0,
    account: entity.kind === "account" ? entity.number : 0,
    source: entity.kind === "source" ? entity.source : "",
  };
}

/** Their types, for `records`. */
export const numberTypes = { user: "bigint", account: "bigint", source: "text" } as const;

/** An entity of these columns. */
export function entityOfNumbers(user: number, account: number, source: SenderName | ""): RuleEntity {
  if (source !== "") return { kind: "source", source };
  return user > 0 ? { kind: "user", number: user } : { kind: "account", number: account };
}

/** Whether a state is that of an entity of which nothing is known: it left, has no open alert, and does not
 * rest. */
export function isForgotten({ hasLeft, firedOn, restsUntil }: EntityStateRow, day: number): boolean {
  return hasLeft && firedOn === null && (restsUntil === null || restsUntil <= day);
}

/** Deletes states. */
export function* deleteStates(rule: number, states: readonly EntityStateRow[]): Work<void> {
  if (states.length === 0) return;
  const given = records(
    states.map(({ entity }) => numbersOf(entity)),
    numberTypes,
  );
  yield* run`
    DELETE FROM alert_states WHERE rule = ${rule} AND EXISTS (
      SELECT 1 FROM ${given} WHERE given."user" = user_number AND given.account = account_number
        AND given.source = alert_states.source)`;
}

/** Adds or replaces states. */
export function* keepStates(
  organization: number,
  rule: number,
  states: readonly EntityStateRow[],
): Work<void> {
  if (states.length === 0) return;
  const given = records(
    states.map(({ entity, hasLeft, daysOut, restsUntil, firedOn, value }) => ({
      ...numbersOf(entity),
      hasLeft: hasLeft ? 1 : 0,
      daysOut,
      restsUntil,
      firedOn,
      value,
    })),
    {
      ...numberTypes,
      hasLeft: "bigint",
      daysOut: "bigint",
      restsUntil: "bigint",
      firedOn: "bigint",
      value: "double precision",
    },
  );
  yield* run`
    INSERT INTO alert_states (organization, rule, user_number, account_number, source, has_left, days_out, rests_until,
      fired_on, value)
    SELECT CAST(${organization} AS bigint), CAST(${rule} AS bigint), "user", account, source, "hasLeft", "daysOut",
      "restsUntil", "firedOn", value
    FROM ${given} WHERE true
    ON CONFLICT (rule, user_number, account_number, source) DO UPDATE SET has_left = excluded.has_left,
      days_out = excluded.days_out, rests_until = excluded.rests_until, fired_on = excluded.fired_on,
      value = excluded.value`;
}
