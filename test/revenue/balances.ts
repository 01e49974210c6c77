/** MRR of payers at the edges of periods, payer by payer from the changes of their subscriptions: what the
 * queries of server/analytics/revenue are compared with. */
import type { Conversion } from "../../server/revenue/rates.ts";

/** A change of a subscription, as figures read it. */
export interface MrrChange {
  readonly subscription: string;
  /** Names the account, or the user without one. */
  readonly payer: string;
  readonly fromMs: number;
  /** In minor units of the currency. */
  readonly mrr: number;
  /** Undefined only without MRR. */
  readonly currency: string | undefined;
  readonly isInvoluntary: boolean;
}

/** MRR of one payer at the edges of periods. */
export interface Balance {
  readonly payer: string;
  /** The first instant with MRR. */
  readonly firstPaidMs: number;
  /** At each edge, in minor units: what held just before it. A change at an edge belongs to the period that
   * begins. */
  readonly mrrs: readonly number[];
  /** Up to each edge: MRR that other payers passed to this one, less what it passed to others, at the amounts
   * of that instant. */
  readonly taken: readonly number[];
  /** At each edge without MRR: whether MRR last fell to 0 by involuntary ends alone. */
  readonly leftInvoluntarily: readonly boolean[];
}

export interface Balances {
  /** In the reporting currency. */
  readonly reported: readonly Balance[];
  /** Of payers that ever had MRR in a currency without a rate, by currency. They are in no ratio. */
  readonly unreported: ReadonlyMap<string, readonly Balance[]>;
}

/**
 * The balances of all payers that ever had MRR.
 * @param changes of all subscriptions; those of one subscription by time
 * @param edgesMs the first instants of consecutive periods, then the first instant after them
 */
export function balancesOf(
  changes: Iterable<MrrChange>,
  edgesMs: readonly number[],
  convert: Conversion,
): Balances {
  const reported: Balance[] = [];
  const unreported = new Map<string, Balance[]>();
  for (const [payer, steps] of stepsByPayer(changes)) {
    const currencies = new Set(steps.map(({ currency }) => currency));
    if ([...currencies].every((currency) => convert(0, currency) !== undefined)) {
      const converted = steps.map((step) => ({ ...step, by: signed(step, convert) }));
      reported.push(balanceOf(payer, converted, edgesMs));
      continue;
    }
    for (const currency of currencies) {
      const ofCurrency = steps.filter((step) => step.currency === currency);
      const list = unreported.get(currency) ?? [];
      list.push(balanceOf(payer, ofCurrency, edgesMs));
      unreported.set(currency, list);
    }
  }
  return { reported, unreported };
}

/** A rise or a fall of a payer's MRR by one subscription. */
interface Step {
  readonly atMs: number;
  /** Above 0 when the subscription begins to count, below when it stops. */
  readonly by: number;
  readonly currency: string;
  /** Of a fall: an involuntary end. */
  readonly isInvoluntary: boolean;
  /** The subscription passed from one payer to another: a step of each. */
  readonly isTransfer: boolean;
}

/** Each subscription's MRR as steps to it and from it. A step has the whole MRR, so that it is converted as
 * such. */
function stepsByPayer(changes: Iterable<MrrChange>): Map<string, Step[]> {
  const steps = new Map<string, Step[]>();
  const add = (
    { payer, mrr, currency }: MrrChange,
    { atMs, sign, ...more }: Pick<Step, "atMs" | "isInvoluntary" | "isTransfer"> & { sign: 1 | -1 },
  ) => {
    if (mrr === 0 || currency === undefined) return;
    const ofPayer = steps.get(payer) ?? [];
    ofPayer.push({ atMs, by: sign * mrr, currency, ...more });
    steps.set(payer, ofPayer);
  };
  const current = new Map<string, MrrChange>();
  for (const change of changes) {
    const { fromMs: atMs, isInvoluntary } = change;
    let before = current.get(change.subscription);
    // What ends as it passes was lost by the payer before.
    if (before !== undefined && before.payer !== change.payer && change.mrr > 0) {
      const taken: MrrChange = { ...before, payer: change.payer };
      add(before, { atMs, sign: -1, isInvoluntary: false, isTransfer: true });
      add(taken, { atMs, sign: 1, isInvoluntary: false, isTransfer: true });
      before = taken;
    }
    if (before !== undefined) add(before, { atMs, sign: -1, isInvoluntary, isTransfer: false });
    add(change, { atMs, sign: 1, isInvoluntary: false, isTransfer: false });
    current.set(change.subscription, change);
  }
  return steps;
}

function signed({ by, currency }: Step, convert: Conversion): number {
  return Math.sign(by) * (convert(Math.abs(by), currency) ?? 0);
}

function balanceOf(payer: string, unsorted: readonly Step[], edgesMs: readonly number[]): Balance {
  const steps = unsorted.toSorted((a, b) => a.atMs - b.atMs);
  const [mrrs, taken, leftInvoluntarily]: [number[], number[], boolean[]] = [[], [], []];
  let [next, mrr, passed, isInvoluntary, firstPaidMs] = [0, 0, 0, false, Number.POSITIVE_INFINITY];
  /** Applies the steps of one instant together: within it MRR may pass 0. */
  const applyInstant = (atMs: number) => {
    const before = mrr;
    let isOnlyInvoluntary = true;
    for (let step = steps[next]; step?.atMs === atMs; step = steps[next]) {
      mrr += step.by;
      if (step.isTransfer) passed += step.by;
      if (step.by < 0) isOnlyInvoluntary &&= step.isInvoluntary;
      next += 1;
    }
    if (mrr > 0) firstPaidMs = Math.min(firstPaidMs, atMs);
    if (mrr === 0 && before > 0) isInvoluntary = isOnlyInvoluntary;
  };
  for (const edgeMs of edgesMs) {
    for (let step = steps[next]; step !== undefined && step.atMs < edgeMs; step = steps[next]) {
      applyInstant(step.atMs);
    }
    mrrs.push(mrr);
    taken.push(passed);
    leftInvoluntarily.push(mrr === 0 && isInvoluntary);
  }
  return { payer, firstPaidMs, mrrs, taken, leftInvoluntarily };
}
