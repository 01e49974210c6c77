/** What became of the money of those who entered, twice the churn horizon later: beside the result, without a
 * verdict. */
import { revenueQuestion } from "../../../analytics/revenue/currencies.ts";
import { hasPayers, mrrAt } from "../../../analytics/revenue/payers-now.ts";
import type { Zone } from "../../../calendar/zone.ts";
import type { SharedLedger } from "../../../ledger/ledger.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { EntryArm, HoldOutExperiment } from "./experiments.ts";
import { numberOf } from "./results-store.ts";

/** Amounts are sums in minor units of the currency, after recurring discounts. */
export interface FollowUpArm {
  readonly entries: number;
  readonly paying: number;
  /** On the day of the entry, and `days` later. */
  readonly mrrAtEntry: number;
  readonly mrrKept: number;
}

export interface FollowUp {
  readonly days: number;
  readonly currency: string;
  readonly treated: FollowUpArm;
  readonly control: FollowUpArm;
}

/** The first entries of an experiment that are counted. */
const mostEntries = 20_000;

/** Counts the entries whose MRR is known on both days.
 * @returns undefined without payers, and before the first entry is as old. @throws WarehouseError */
export async function readFollowUp(
  {
    warehouse,
    ledger,
  }: { readonly warehouse: Warehouse; readonly ledger: Pick<SharedLedger, "holdOutResults" | "settings"> },
  { id: organization, zone, today }: { readonly id: number; readonly zone: Zone; readonly today: number },
  experiment: HoldOutExperiment,
): Promise<FollowUp | undefined> {
  const days = 2 * (experiment.horizonDays ?? 0);
  const before = { day: today - days + 1, limit: mostEntries };
  const entries =
    days === 0 ? [] : await ledger.holdOutResults.enteredBefore(organization, experiment, before);
  if (entries.length === 0) return undefined;
  const { reportingCurrency, currencyRates } = (await ledger.settings.get(organization)).settings;
  const question = await revenueQuestion(warehouse, { organization, reportingCurrency, currencyRates });
  const found: Followed[] = [];
  for (const kind of ["account", "user"] as const) {
    const own = entries.filter(({ account }) => account > 0 === (kind === "account"));
    if (own.length === 0 || !(await hasPayers(warehouse, organization, kind))) continue;
    const mrrs = (after: number) =>
      mrrAt(
        warehouse,
        { ...question, kind },
        own.map((entry) => ({ entity: numberOf(entry), atMs: zone.startOfDay(entry.enteredDay + after) })),
      );
    const [then, later] = await Promise.all([mrrs(0), mrrs(days)]);
    for (const [index, { arm }] of own.entries()) {
      const [mrr, kept] = [then[index] ?? null, later[index] ?? null];
      if (mrr !== null && kept !== null) found.push({ arm, mrr, kept });
    }
  }
  if (found.length === 0) return undefined;
  return {
    days,
    currency: question.reporting,
    treated: armOf(found, "treated"),
    control: armOf(found, "control"),
  };
}

interface Followed {
  readonly arm: EntryArm;
  readonly mrr: number;
  readonly kept: number;
}

function armOf(found: readonly Followed[], arm: EntryArm): FollowUpArm {
  const own = found.filter((one) => one.arm === arm);
  return {
    entries: own.length,
    paying: own.filter(({ kept }) => kept > 0).length,
    mrrAtEntry: own.reduce((sum, { mrr }) => sum + mrr, 0),
    mrrKept: own.reduce((sum, { kept }) => sum + kept, 0),
  };
}
