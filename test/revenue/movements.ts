/** Movements of MRR, NRR, GRR and logo churn payer by payer: what the queries of server/analytics/revenue are
 * compared with. */
import type { Movements } from "../../server/revenue/movements.ts";
import { type RevenueRetention, ratiosOf } from "../../server/revenue/retention.ts";
import type { Balance } from "./balances.ts";

type SumName = Exclude<keyof Movements, "startMrr" | "endMrr">;
type MovementName = Exclude<SumName, "transferredIn" | "transferredOut" | "churnedInvoluntarily">;

/** A payer between two edges. */
interface PayerSpan {
  readonly start: number;
  readonly end: number;
  /** MRR that passed to the payer from others, less what passed to others. */
  readonly taken: number;
}

/**
 * The movements of each period between two edges, per payer from its MRR at both and what passed between
 * payers. A payer without MRR at the start is reactivated if it had MRR before the start, and else new.
 */
export function movementsOf(balances: readonly Balance[], edgesMs: readonly number[]): Movements[] {
  return edgesMs.slice(1).map((_, index) => {
    const sums = new Sums();
    for (const balance of balances) {
      const wasPaying = balance.firstPaidMs < (edgesMs[index] ?? 0);
      const span = spanBetween(balance, index, index + 1);
      sums.add(span, wasPaying, balance.leftInvoluntarily[index + 1] === true);
    }
    return sums.all();
  });
}

/** A payer between two of its edges. */
function spanBetween({ mrrs, taken }: Balance, from: number, to: number): PayerSpan {
  const [start = 0, end = 0] = [mrrs[from], mrrs[to]];
  return { start, end, taken: (taken[to] ?? 0) - (taken[from] ?? 0) };
}

/**
 * The retention of the payers with MRR at one edge, at a later one. It is computed per payer and never from
 * totals. Payers that are new or reactivated are in no sum. A payer that left and came back between the edges
 * is kept. MRR that passed to another payer is kept as long as that one keeps it.
 */
export function retentionBetween(balances: readonly Balance[], from: number, to: number): RevenueRetention {
  let [startMrr, gained, lost, payers, left, leftInvoluntarily] = [0, 0, 0, 0, 0, 0];
  for (const balance of balances) {
    const span = spanBetween(balance, from, to);
    startMrr += span.start;
    if (span.start > 0) payers += 1;
    const moved = movementBetween(span, false);
    if (moved?.name === "expansion") gained += moved.mrr;
    if (moved?.name === "contraction" || moved?.name === "churned") lost += moved.mrr;
    if (moved?.name !== "churned") continue;
    left += 1;
    if (balance.leftInvoluntarily[to] === true) leftInvoluntarily += 1;
  }
  const keptMrr = startMrr - lost;
  return ratiosOf({ startMrr, endMrr: keptMrr + gained, keptMrr, payers, left, leftInvoluntarily });
}

/** The movement of one payer beside what passed to it or from it, and its size; undefined without one. So a
 * payer whose subscriptions all passed to another did not churn, and who took them over is not new. */
function movementBetween(
  { start, end, taken }: PayerSpan,
  wasPaying: boolean,
): { readonly name: MovementName; readonly mrr: number } | undefined {
  const held = start + taken;
  if (end === held) return undefined;
  const mrr = Math.abs(end - held);
  if (end < held) return { name: end === 0 ? "churned" : "contraction", mrr };
  if (start > 0 || taken > 0) return { name: "expansion", mrr };
  return { name: wasPaying ? "reactivated" : "new", mrr };
}

class Sums {
  #startMrr = 0;
  #endMrr = 0;
  readonly #movements = {
    new: { mrr: 0, payers: 0 },
    reactivated: { mrr: 0, payers: 0 },
    expansion: { mrr: 0, payers: 0 },
    transferredIn: { mrr: 0, payers: 0 },
    contraction: { mrr: 0, payers: 0 },
    churned: { mrr: 0, payers: 0 },
    transferredOut: { mrr: 0, payers: 0 },
    churnedInvoluntarily: { mrr: 0, payers: 0 },
  };

  add(span: PayerSpan, wasPaying: boolean, leftInvoluntarily: boolean): void {
    const { start, end, taken } = span;
    this.#startMrr += start;
    this.#endMrr += end;
    const moved = movementBetween(span, wasPaying);
    if (taken > 0) this.#count("transferredIn", taken, start === 0);
    if (taken < 0) this.#count("transferredOut", -taken, end === 0 && moved?.name !== "churned");
    if (moved === undefined) return;
    this.#count(moved.name, moved.mrr);
    if (moved.name === "churned" && leftInvoluntarily) this.#count("churnedInvoluntarily", moved.mrr);
  }

  #count(name: SumName, mrr: number, isPayer = true): void {
    const movement = this.#movements[name];
    movement.mrr += mrr;
    if (isPayer) movement.payers += 1;
  }

  all(): Movements {
    return { startMrr: this.#startMrr, ...this.#movements, endMrr: this.#endMrr };
  }
}
