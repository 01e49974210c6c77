/** Deletions of alert rules. A rule is marked in one commit, and nothing reads it from then on. Its rows are
 * deleted in parts afterwards: a rule may have a million alerts, and SQLite runs on the thread that answers
 * writes. */
import { skipLocked } from "../../../ledger/dialect.ts";
import { deleteSomeParts, type Engine } from "../../../ledger/engine.ts";
import { integer, perEngine, RowOf, run, type Steps, select, type Work } from "../../../ledger/sql.ts";
import { deleteSomeListed } from "../control-groups/asked-arms.ts";
import { forgetSomeEntries, keepExperiments } from "../control-groups/entries-store.ts";

/** The most parts of one call. The next call, a second later, goes on. */
const partsOfCall = 50;

/** Marks a rule as deleted. Its name is free again: names have no control characters, so the new one is
 * unique. Counts of its experiments stay.
 * @param name its name until now */
export function* markRuleDeleted(
  { organization, id, name }: { readonly organization: number; readonly id: number; readonly name: string },
  nowMs: number,
): Work<void> {
  yield* keepExperiments(organization, id, name);
  const character = perEngine({ sqlite: "char", postgres: "chr" });
  yield* run`
    UPDATE alert_rules SET name = ${character}(1) || id, deleted_at_ms = ${nowMs}, sequence = sequence + 1
    WHERE id = ${id}`;
  yield* run`DELETE FROM alert_rule_destinations WHERE rule = ${id}`;
  // Figures sum these counts, of at most one row a day.
  yield* run`DELETE FROM alert_rule_days WHERE rule = ${id}`;
}

const markedRow = new RowOf<{ readonly id: number }>({ id: integer() });

/** Deletes rows of rules that are marked. The entries of hold-outs are forgotten first, because the alerts
 * tell their outcomes. */
export async function finishRuleDeletions(engine: Engine): Promise<void> {
  let left = partsOfCall;
  const isDone = async (steps: (most: number) => Steps<number>) => {
    left -= await deleteSomeParts(engine, steps, { most: engine.partRows.added, parts: left });
    return left > 0;
  };
  const marked = await engine.alone(
    select(markedRow)`FROM alert_rules WHERE deleted_at_ms IS NOT NULL ORDER BY id`,
  );
  for (const { id } of marked) {
    const isWhole =
      (await isDone((most) => forgetSomeEntries(id, most))) &&
      (await isDone((most) => deleteSomeAlerts(id, most))) &&
      (await isDone((most) => deleteSomeListed(id, most))) &&
      (await isDone((most) => deleteSomeStates(id, most)));
    if (!isWhole) return;
    // In a cluster another node may be deleting a part of the alerts.
    await engine.alone(run`
      DELETE FROM alert_rules WHERE id = ${id} AND NOT EXISTS (SELECT 1 FROM alerts WHERE rule = ${id})`);
  }
}

function deleteSomeAlerts(rule: number, most: number) {
  return run`
    DELETE FROM alerts WHERE id IN (SELECT id FROM alerts WHERE rule = ${rule} LIMIT ${most} ${skipLocked})`;
}

function deleteSomeStates(rule: number, most: number) {
  return run`
    DELETE FROM alert_states WHERE (rule, user_number, account_number, source) IN (
      SELECT rule, user_number, account_number, source FROM alert_states WHERE rule = ${rule}
      LIMIT ${most} ${skipLocked})`;
}
