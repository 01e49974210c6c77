/** Takes over the state of accounts that come inside only because the set of their members changed: members
 * were excluded, included again, or erased, and scores of earlier days were of another set. See
 * docs/decisions/0086. */
import type { ErasedAccounts } from "../../../ledger/erasures.ts";
import { clocksDifferMs } from "../../../scoring/run/changed-days.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { adopted, type DayOfRules, type EntityStep, hasFired, type SteppingRule } from "./day-steps.ts";
import type { Run } from "./due-days.ts";
import { accountsWithExclusions } from "./standing.ts";

/** The members of the accounts in the run that a rule compares with. */
export interface MembersBefore {
  /** A run with the same excluded users. */
  readonly run: Run;
  /** Users who were erased since this time were still members. */
  readonly erasedSinceMs: number;
}

export interface RuleOfMembers extends SteppingRule {
  /** Undefined without a run to compare with. */
  readonly membersBefore: MembersBefore | undefined;
}

/** The stores that changed members are read from. */
export interface MemberParts {
  readonly warehouse: Warehouse;
  /** The accounts whose users were erased, by requests of this time or later. */
  readonly erasedSince: (organization: number, sinceMs: number) => Promise<readonly ErasedAccounts[]>;
}

/** The members of the accounts in a run. @param sinceMs when its scores were first shown; the end of the run
 * unless given */
export function membersOfRun(run: Run, sinceMs = run.body.finishedAtMs): MembersBefore {
  const { finishedAtMs, tookMs } = run.body;
  return { run, erasedSinceMs: Math.min(sinceMs, finishedAtMs) - tookMs - clocksDifferMs };
}

/** The steps, in which accounts whose set of members changed are taken over without an alert. @throws
 * WarehouseError */
export async function withoutChangedMembers<Rule extends RuleOfMembers>(
  { warehouse, erasedSince }: MemberParts,
  { organization: { id }, kind, run, rules }: DayOfRules<Rule>,
  steps: ReadonlyMap<Rule, EntityStep[]>,
): Promise<ReadonlyMap<Rule, EntityStep[]>> {
  if (kind === "user") return steps;
  const judged = new Map(steps);
  for (const some of Map.groupBy(rules, ({ membersBefore }) => membersBefore?.run.day).values()) {
    const all = some.flatMap((rule) => (steps.get(rule) ?? []).filter(hasFired));
    const accounts = [...new Set(all.map(({ number }) => number))];
    const runBefore = some[0]?.membersBefore?.run;
    if (runBefore === undefined || accounts.length === 0) continue;
    const excluded = await accountsWithExclusions(warehouse, id, { now: run, before: runBefore }, accounts);
    const sinceMs = Math.min(...some.map(({ membersBefore }) => membersBefore?.erasedSinceMs ?? Infinity));
    const erasures = await erasedSince(id, sinceMs);
    for (const rule of some) {
      const { erasedSinceMs = 0 } = rule.membersBefore ?? {};
      const since = erasures.filter(({ requestedAtMs }) => requestedAtMs >= erasedSinceMs);
      const erased = new Set(since.flatMap(({ ofAccounts }) => ofAccounts));
      const isTouched = ({ number }: EntityStep) => excluded.has(number) || erased.has(number);
      const own = steps.get(rule) ?? [];
      judged.set(
        rule,
        own.flatMap((one) => (hasFired(one) && isTouched(one) ? (adopted(rule, one) ?? []) : [one])),
      );
    }
  }
  return judged;
}
