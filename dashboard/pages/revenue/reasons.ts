/** The answer about churn reasons as rows of the page: one for each group and reason, over all periods. */
import type { Reads } from "../../api/paths.ts";
import { reasonText, sourceText } from "../../text/churn-reasons.ts";

type Answer = Reads["/api/churn-reasons"]["answer"];
type PeriodReason = Answer["reasons"][number];
type SumName = "mrr" | "payers" | "involuntaryPayers" | "fromTeam" | "fromBilling" | "fromEvent";

export interface ReasonRow {
  readonly key: string;
  /** The kind and value of its group. */
  readonly group: Pick<PeriodReason, "kind" | "value">;
  readonly reason: string;
  readonly sums: Readonly<Record<SumName, number>>;
  /** By the first day of the period. */
  readonly periods: ReadonlyMap<string, PeriodReason>;
}

/** The rows, groups together, the highest MRR first. */
export function reasonRows({ reasons }: Answer): ReasonRow[] {
  const groupOf = ({ kind, value }: PeriodReason) => JSON.stringify([kind, value]);
  const groups = [...Map.groupBy(reasons, groupOf).values()].map((ofGroup) =>
    [...Map.groupBy(ofGroup, ({ reason }) => reason)].flatMap(([reason, own]) => {
      const [first] = own;
      return first === undefined ? [] : [rowOf(groupOf(first), reason, first, own)];
    }),
  );
  const mrrOf = (rows: readonly ReasonRow[]) => rows.reduce((sum, { sums }) => sum + sums.mrr, 0);
  return groups
    .map((rows) => rows.toSorted((a, b) => b.sums.mrr - a.sums.mrr))
    .toSorted((a, b) => mrrOf(b) - mrrOf(a))
    .flat();
}

function rowOf(
  group: string,
  reason: string | null,
  { kind, value }: PeriodReason,
  own: readonly PeriodReason[],
): ReasonRow {
  const sum = (name: SumName) => own.reduce((all, row) => all + row[name], 0);
  return {
    key: `${group} ${reason}`,
    group: { kind, value },
    reason: reasonText(reason),
    sums: {
      mrr: sum("mrr"),
      payers: sum("payers"),
      involuntaryPayers: sum("involuntaryPayers"),
      fromTeam: sum("fromTeam"),
      fromBilling: sum("fromBilling"),
      fromEvent: sum("fromEvent"),
    },
    periods: new Map(own.map((row) => [row.fromDay, row])),
  };
}

/** Where the reasons of a row come from: "3 from billing, 1 by hand". Empty for none. */
export function sourcesText({ sums }: ReasonRow): string {
  const { fromTeam, fromBilling, fromEvent } = sums;
  const counts = [
    [fromBilling, sourceText("billing")],
    [fromEvent, sourceText("event")],
    [fromTeam, sourceText("team")],
  ] as const;
  return counts
    .filter(([count]) => count > 0)
    .map(([count, text]) => `${count} ${text}`)
    .join(", ");
}
