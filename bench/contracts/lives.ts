/** The log of an account with a contract, as of a cut-off day: what the service would know of it on that
 * morning. */
import { msPerDay } from "../../server/calendar/zone.ts";
import type { Cell } from "../../server/scoring/churn/bgbb.ts";
import type { BillingFeatures } from "../../server/scoring/scores/billing.ts";
import {
  daysPerPeriod,
  type MemberFeatures,
  maxCountPerDay,
  windowPeriods,
} from "../../server/scoring/scores/features.ts";
import type { ScoredFeatures } from "../../server/scoring/scores/state.ts";
import type { Properties } from "../../simulation/catalogue.ts";
import { cellOf, type DayEvent, featuresOf } from "../../test/scoring/features.ts";
import { endEvent } from "../../test/simulation/contracts/catalogue.ts";
import type { Contracts } from "../../test/simulation/contracts/contracts.ts";

/** Prediction is for [T, T + horizonDays), the service's default churn horizon. */
export const horizonDays = 28;
/** Quantities are compared with those of so many days ago. */
const comparedDays = 84;

/** A history and the days since the last activity, as a risk by the day takes them. */
export interface UserCell {
  readonly cell: Cell;
  readonly idleDays: number;
}

/** A running contract on a cut-off day, with its outcome and the truth. */
export interface ContractRow {
  readonly features: ScoredFeatures;
  /** Histories of the members who have been active within the horizon. */
  readonly memberCells: readonly UserCell[];
  /** Whether the contract ended within the horizon. */
  readonly label: boolean;
  /** Null unless the cut-off is the first day of one of the simulation's months. */
  readonly endProbability: number | null;
}

/** An account on a cut-off day. The row is missing when no contract ran, or before the first event. */
export interface AccountAt {
  readonly cutoffDay: number;
  /** Histories in the window of 26 weeks: of the account if it was seen, and of all its users who were. */
  readonly cell: Cell | null;
  readonly userCells: readonly Cell[];
  readonly row: ContractRow | undefined;
}

interface BillingDay {
  readonly day: number;
  readonly name: string;
  readonly properties: Properties;
}

/** The active days of a member and the volume of each. */
export interface MemberLog {
  readonly days: number[];
  readonly volumes: number[];
}

interface AccountLog {
  readonly events: DayEvent[];
  readonly members: Map<string, MemberLog>;
  readonly billing: BillingDay[];
  readonly traits: { readonly day: number; readonly values: Readonly<Record<string, string>> }[];
}

/** Lives an account's life until the last cut-off's horizon has ended, and looks at it as of each cut-off. */
export function accountAt(contracts: Contracts, number: number, cutoffDays: readonly number[]): AccountAt[] {
  const untilDay = Math.max(...cutoffDays) + horizonDays;
  const customer = contracts.customer(number);
  const log: AccountLog = { events: [], members: new Map(), billing: [], traits: [] };
  for (const { day, use, billing, changes } of contracts.life(customer)) {
    if (day >= untilDay) break;
    const counts = new Map<string, number>();
    for (const { member, event, count } of use) {
      counts.set(event, (counts.get(event) ?? 0) + count);
      note(log.members, member.userId, day, Math.min(count, maxCountPerDay));
    }
    for (const [event, count] of counts) log.events.push({ day, event, count });
    log.billing.push(...billing.map((each) => ({ day, ...each })));
    for (const { properties } of changes) {
      if (properties !== undefined) log.traits.push({ day, values: accountTraits(properties) });
    }
  }
  const probability = new Map(customer.truth.months.map((month) => [month.fromDay, month.endProbability]));
  const activeDays = firstsOfDays(log.events);
  return cutoffDays.map((cutoffDay) => {
    const users = [...log.members.values()].map((each) => userAt(each, cutoffDay));
    return {
      cutoffDay,
      cell: cellOf(daysOf(activeDays), cutoffDay),
      userCells: users.flatMap(({ cell }) => cell ?? []),
      row: rowAt(log, activeDays, users, cutoffDay, probability.get(cutoffDay) ?? null),
    };
  });
}

/** One event of each active day. */
export function firstsOfDays(events: readonly DayEvent[]): DayEvent[] {
  return events.filter(({ day }, index) => day !== events[index - 1]?.day);
}

function daysOf(events: readonly DayEvent[]): number[] {
  return events.map(({ day }) => day);
}

/** Adds to the volume of a member's day, the newest one. */
export function note(members: Map<string, MemberLog>, userId: string, day: number, volume: number): void {
  const log = members.get(userId) ?? { days: [], volumes: [] };
  members.set(userId, log);
  if (log.days.at(-1) !== day) {
    log.days.push(day);
    log.volumes.push(0);
  }
  log.volumes[log.volumes.length - 1] = (log.volumes.at(-1) ?? 0) + volume;
}

/** Traits of users that tell of the account. */
function accountTraits({
  plan,
  segment,
  companySize,
  acquisitionChannel,
}: Properties): Record<string, string> {
  const values = Object.entries({ plan, segment, companySize, acquisitionChannel });
  return Object.fromEntries(
    values.flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
  );
}

function rowAt(
  log: AccountLog,
  activeDays: readonly DayEvent[],
  users: readonly UserAt[],
  cutoffDay: number,
  endProbability: number | null,
): ContractRow | undefined {
  const billing = billingAt(log.billing, cutoffDay);
  if (billing === undefined) return undefined;
  const traits = Object.assign(
    {},
    ...log.traits.filter(({ day }) => day < cutoffDay).map(({ values }) => values),
  );
  const recent = log.events.filter(({ day }) => day < cutoffDay && day >= cutoffDay - 28);
  // Of earlier days the features need only that they were active: a tenth of the time of the whole log.
  const events = [...activeDays.filter(({ day }) => day < cutoffDay - 28), ...recent];
  const features = featuresOf(events, cutoffDay, {}, { traits, members: membersOf(users), billing });
  if (features === null || features.cell === null) return undefined;
  const label = log.billing.some(
    ({ day, name }) => name === endEvent && day >= cutoffDay && day < cutoffDay + horizonDays,
  );
  return {
    features: { ...features, cell: features.cell },
    memberCells: activeCells(users),
    label,
    endProbability,
  };
}

/** Histories of the users who have been active within the horizon. */
export function activeCells(users: readonly UserAt[]): UserCell[] {
  return users.flatMap(({ cell, volume28, idleDays }) =>
    cell === null || volume28 === 0 ? [] : [{ cell, idleDays }],
  );
}

/** The contract as its events have said it before the cut-off; undefined unless one runs. */
function billingAt(events: readonly BillingDay[], cutoffDay: number): BillingFeatures | undefined {
  const before = (day: number) => events.filter((event) => event.day < day);
  const past = before(cutoffDay);
  const [first, last] = [past[0], past.at(-1)];
  if (first === undefined || last === undefined || last.name === endEvent) return undefined;
  const isYearly = last.properties.interval === "365 day";
  const mrrOf = ({ properties }: BillingDay) => Number(properties.amount) / (isYearly ? 12 : 1);
  const earlier = before(cutoffDay - comparedDays).at(-1);
  const ending = past.filter(({ name }) => name.startsWith("cancellation_")).at(-1);
  const periodEnd = Date.parse(String(last.properties.currentPeriodEnd)) / msPerDay;
  return {
    isPaying: true,
    mrr: mrrOf(last),
    isYearly,
    ageDays: cutoffDay - first.day,
    // A period that ends today is renewed today: its event is not known yet.
    daysToPeriodEnd: Math.max(0, periodEnd - cutoffDay),
    endsAtMs: ending?.name === "cancellation_scheduled" ? periodEnd * msPerDay : null,
    isTrialEnding: false,
    hasFailedPayment: past.some(({ day, name }) => name === "payment_failed" && day >= cutoffDay - 28),
    isDown: earlier !== undefined && mrrOf(last) < mrrOf(earlier),
    isPastDue: past.findLast(({ name }) => name.startsWith("payment_"))?.name === "payment_failed",
  };
}

/** A user on a cut-off day. */
export interface UserAt {
  readonly cell: Cell | null;
  readonly idleDays: number;
  readonly volume28: number;
  readonly isActivePrevious28: boolean;
  readonly isActive90: boolean;
}

/** A member as of a cut-off day. */
export function userAt({ days, volumes }: MemberLog, cutoffDay: number): UserAt {
  const windowDays = days.filter(
    (day) => day < cutoffDay && day >= cutoffDay - daysPerPeriod * windowPeriods,
  );
  let volume28 = 0;
  for (let index = days.length - 1; index >= 0; index -= 1) {
    const day = days[index] ?? 0;
    if (day < cutoffDay - 28) break;
    if (day < cutoffDay) volume28 += volumes[index] ?? 0;
  }
  return {
    cell: cellOf(windowDays, cutoffDay),
    idleDays: cutoffDay - (windowDays.at(-1) ?? 0),
    volume28,
    isActivePrevious28: windowDays.some((day) => day < cutoffDay - 28 && day >= cutoffDay - 56),
    isActive90: (windowDays.at(-1) ?? 0) >= cutoffDay - 90,
  };
}

/** What models see of the users of an account. */
export function membersOf(users: readonly UserAt[]): MemberFeatures {
  const volumes = users.map(({ volume28 }) => volume28);
  const all = volumes.reduce((sum, volume) => sum + volume, 0);
  return {
    active28: volumes.filter((volume) => volume > 0).length,
    activePrevious28: users.filter(({ isActivePrevious28 }) => isActivePrevious28).length,
    active90: users.filter(({ isActive90 }) => isActive90).length,
    topShare: all === 0 ? 0 : Math.max(...volumes) / all,
    meanRiskLogOdds: null,
  };
}
