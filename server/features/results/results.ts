/** For whom something was done in a period, what, by whom, and how they stand now. The account is the
 * customer, or a user without one. */
import { isOpportunity, type WorkOutcome } from "../../../contract/alerts/rules.ts";
import { usageDays } from "../../../contract/api/results.ts";
import { calledEntities, risksOfDays } from "../../analytics/call-facts.ts";
import { revenueQuestion } from "../../analytics/revenue/currencies.ts";
import { hasPayers, mrrAt } from "../../analytics/revenue/payers-now.ts";
import type { RevenueQuestion } from "../../analytics/revenue/steps.ts";
import { engagementRows } from "../../analytics/sql.ts";
import { msPerDay, type Zone, zoneOf } from "../../calendar/zone.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { NamedPerson } from "../../ledger/stores/entity-rows.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import { risksOfRun } from "../../scoring/queries/lists/reading.ts";
import { rowsOf } from "../../scoring/run/entity.ts";
import { newestRun } from "../../scoring/run/status.ts";
import { daysWithin } from "../../scoring/scores/observed-days.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { appliedSettings, isEngagement, type PassiveEvents } from "../../warehouse/schema/engagement.ts";
import { isIncluded, isIncludedAccount } from "../../warehouse/schema/included.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { endsOf } from "../alerts/outcomes.ts";
import type { OpenSpan } from "../alerts/store/alerts.ts";
import { readTouches, type Touch } from "./touches.ts";

export interface ResultsParts {
  readonly warehouse: Warehouse;
  readonly ledger: Pick<
    SharedLedger,
    "alerts" | "alertRules" | "tasks" | "ruleSteps" | "members" | "settings"
  >;
  readonly nowMs: () => number;
}

export interface ResultsQuestion {
  /** How many days, of which today is the last. */
  readonly days: number;
  /** Only customers for whom this person did something. */
  readonly member?: number | undefined;
  /** Only customers with an open alert of this rule at a touch. */
  readonly rule?: number | undefined;
  /** Only these users and accounts. */
  readonly among?:
    | { readonly users: ReadonlySet<number>; readonly accounts: ReadonlySet<number> }
    | undefined;
}

/** A customer for whom something was done. Amounts are in minor units of the currency. */
export interface TouchedCustomer {
  readonly kind: EntityKind;
  readonly number: number;
  readonly id: string;
  readonly label: string;
  /** The oldest first. */
  readonly touches: readonly Touch[];
  /** Those whose alert was open at a touch. */
  readonly rules: readonly NamedPerson[];
  readonly outcome: WorkOutcome | null;
  /** At the start of the day of the first touch. Null without revenue. */
  readonly mrrThen: number | null;
  readonly mrrNow: number | null;
  readonly useDays: number;
  readonly useBefore: number;
  readonly useAfter: number;
  /** Null without a score. */
  readonly state: string | null;
  readonly risk: number | null;
}

/** Predicted and observed churn of customers whose horizon is over. */
export interface ChurnHint {
  readonly customers: number;
  readonly predicted: number;
  /** The 95 % interval of `predicted`: of a sum of independent draws, by the normal distribution. */
  readonly low: number;
  readonly high: number;
  readonly churned: number;
}

export interface Results {
  readonly fromDay: number;
  readonly toDay: number;
  /** Null without subscriptions. */
  readonly currency: string | null;
  readonly customers: readonly TouchedCustomer[];
  readonly hint: ChurnHint | null;
}

interface Ground extends ResultsParts {
  readonly organization: number;
  readonly zone: Zone;
  readonly today: number;
  readonly passiveEvents: PassiveEvents;
}

/** A customer with its touches, before anything else is known of it. */
interface Unit {
  readonly kind: EntityKind;
  readonly number: number;
  readonly touches: readonly Touch[];
  readonly rules: readonly NamedPerson[];
  /** The day of the first touch. */
  readonly firstDay: number;
}

/** The results of a period. @throws WarehouseError */
export async function readResults(
  parts: ResultsParts,
  { id: organization, timezone }: Pick<Organization, "id" | "timezone">,
  { days, member, rule, among }: ResultsQuestion,
): Promise<Results> {
  const zone = zoneOf(timezone);
  const nowMs = parts.nowMs();
  const today = zone.dayOf(nowMs);
  const { settings: stored } = await parts.ledger.settings.get(organization);
  const settings = await appliedSettings(parts.warehouse, organization, stored);
  const { churnHorizonDays: horizonDays, passiveEvents } = settings;
  const ground: Ground = { ...parts, organization, zone, today, passiveEvents };
  const fromDay = today - days + 1;
  const span = { fromMs: zone.startOfDay(fromDay), toMs: nowMs + 1, againAfterMs: horizonDays * msPerDay };
  const touches = await readTouches(parts, organization, span);
  const all = await unitsOf(ground, touches, span);
  const rules = await parts.ledger.alertRules.list(organization, today);
  const gains = new Set(rules.filter(({ condition }) => isOpportunity(condition)).map(({ id }) => id));
  const units = all.filter(
    (unit) =>
      (rule !== undefined || !isGain(unit, gains)) &&
      (among === undefined || isAmong(unit, among)) &&
      (member === undefined || unit.touches.some(({ person }) => person?.id === member)) &&
      (rule === undefined || unit.rules.some(({ id }) => id === rule)),
  );
  const customers: TouchedCustomer[] = [];
  const hints: Judged[] = [];
  let currency: string | null = null;
  for (const kind of ["account", "user"] as const) {
    const own = units.filter((unit) => unit.kind === kind);
    if (own.length === 0) continue;
    const { reportingCurrency, currencyRates } = settings;
    const payers = (await hasPayers(parts.warehouse, organization, kind))
      ? await revenueQuestion(parts.warehouse, { organization, reportingCurrency, currencyRates })
      : undefined;
    currency ??= payers?.reporting ?? null;
    customers.push(...(await customersOf(ground, kind, own, payers)));
    const atRisk = own.filter((unit) => !isGain(unit, gains));
    hints.push(...(await judgedOf(ground, kind, atRisk, horizonDays)));
  }
  return {
    fromDay,
    toDay: today,
    currency,
    customers: customers.toSorted(
      (a, b) =>
        (b.mrrThen ?? -1) - (a.mrrThen ?? -1) ||
        (b.touches.at(-1)?.atMs ?? 0) - (a.touches.at(-1)?.atMs ?? 0) ||
        (a.id < b.id ? -1 : 1),
    ),
    hint: hintOf(hints),
  };
}

/** Whether the work was about customers who could buy more, and about nothing else: nobody was to be saved.
 * @param gains the rules about them */
function isGain({ rules }: Unit, gains: ReadonlySet<number>): boolean {
  return rules.length > 0 && rules.every(({ id }) => gains.has(id));
}

/** An account is also in a segment of users, with a touched user of it. */
function isAmong({ kind, number, touches }: Unit, among: NonNullable<ResultsQuestion["among"]>): boolean {
  if (kind === "user") return among.users.has(number);
  return among.accounts.has(number) || touches.some(({ user }) => among.users.has(user));
}

const accountOfUser = `
  SELECT user, account FROM users FINAL
  WHERE organization = {organization:UInt32} AND user IN {users:Array(UInt32)} AND ${isIncluded("user")}`;
const includedAccounts = `
  SELECT account FROM accounts FINAL
  WHERE organization = {organization:UInt32} AND account IN {accounts:Array(UInt32)} AND ${isIncludedAccount("account")}`;

/** The touches by customer. Those of excluded and erased ones are left out. */
async function unitsOf(
  { warehouse, ledger, organization, zone, today }: Ground,
  touches: readonly Touch[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly Unit[]> {
  if (touches.length === 0) return [];
  const users = [...new Set(touches.flatMap(({ user }) => (user > 0 ? [user] : [])))];
  const touched = touches.flatMap(({ account }) => (account > 0 ? [account] : []));
  const rows = await warehouse.rows<{ readonly user: number; readonly account: number }>(accountOfUser, {
    organization,
    users,
  });
  const accountOf = new Map(rows.map(({ user, account }) => [user, account]));
  const accounts = [
    ...new Set([...touched, ...rows.flatMap(({ account }) => (account > 0 ? [account] : []))]),
  ];
  const found = await warehouse.rows<{ readonly account: number }>(includedAccounts, {
    organization,
    accounts,
  });
  const included = new Set(found.map(({ account }) => account));
  const opened = await ledger.alerts.openBetween(
    organization,
    { users, accounts: [...included] },
    { fromMs, toMs, today },
  );
  const keyOf = ({ user, account: own }: Pick<Touch, "user" | "account">) => {
    const account = user > 0 ? accountOf.get(user) : own;
    if (account === undefined) return undefined;
    if (account > 0) return included.has(account) ? `account ${account}` : undefined;
    return `user ${user}`;
  };
  const spans = Map.groupBy(opened, (one) => keyOf(one) ?? "");
  const byUnit = Map.groupBy(touches, (touch) => keyOf(touch) ?? "");
  byUnit.delete("");
  return [...byUnit].map(([key, own]): Unit => {
    const [kind, number] = key.split(" ");
    return {
      kind: kind === "account" ? "account" : "user",
      number: Number(number),
      touches: own,
      rules: rulesAt(own, spans.get(key) ?? []),
      firstDay: zone.dayOf(own[0]?.atMs ?? fromMs),
    };
  });
}

/** The rules of handled alerts, and of those that were open at a touch. */
function rulesAt(touches: readonly Touch[], spans: readonly OpenSpan[]): readonly NamedPerson[] {
  const rules = new Map<number, string>();
  for (const { rule, atMs } of touches) {
    if (rule !== null) rules.set(rule.id, rule.name);
    for (const { rule: open, firedAtMs, closedAtMs } of spans)
      if (firedAtMs <= atMs && (closedAtMs === null || atMs <= closedAtMs)) rules.set(open.id, open.name);
  }
  return [...rules].map(([id, name]) => ({ id, name }));
}

async function customersOf(
  ground: Ground,
  kind: EntityKind,
  units: readonly Unit[],
  payers: RevenueQuestion | undefined,
): Promise<TouchedCustomer[]> {
  const { warehouse, organization, zone, today } = ground;
  const nowMs = ground.nowMs();
  const numbers = units.map(({ number }) => number);
  const run = await newestRun(warehouse, organization, kind, today);
  const mrrs = (atMs: (unit: Unit) => number) =>
    payers &&
    mrrAt(
      warehouse,
      { ...payers, kind },
      units.map((unit) => ({ entity: unit.number, atMs: atMs(unit) })),
    );
  const [named, then, now, scores, usageOf] = await Promise.all([
    calledEntities(warehouse, { organization, kind }, numbers),
    mrrs(({ firstDay }) => zone.startOfDay(firstDay)),
    mrrs(() => nowMs),
    run === undefined ? undefined : scoresNow(warehouse, rowsOf(organization, kind, run), numbers),
    usage(ground, kind, units),
  ]);
  return units.flatMap(({ number, touches, rules, firstDay }, index) => {
    const name = named.get(number);
    if (name === undefined) return [];
    const score = scores?.get(number);
    return [
      {
        kind,
        number,
        id: name.id,
        label: name.name,
        touches,
        rules,
        outcome: touches.findLast(({ outcome }) => outcome !== null)?.outcome ?? null,
        mrrThen: then?.[index] ?? null,
        mrrNow: now?.[index] ?? null,
        ...usageOf(number, firstDay),
        state: score?.state ?? null,
        risk: score?.risk ?? null,
      },
    ];
  });
}

async function scoresNow(
  warehouse: Warehouse,
  run: Parameters<typeof risksOfRun>[0],
  entities: readonly number[],
) {
  const { sql, parameters } = risksOfRun(run);
  const rows = await warehouse.rows<{
    readonly entity: number;
    readonly risk: number | null;
    readonly state: string;
  }>(`SELECT entity, risk, state FROM (${sql}) WHERE entity IN {entities:Array(UInt32)}`, {
    ...parameters,
    entities,
  });
  return new Map(rows.map((row) => [row.entity, row]));
}

/** Counts engagement events before and after a customer's first touch, on as many days. */
async function usage(
  { warehouse, organization, today, passiveEvents }: Ground,
  kind: EntityKind,
  units: readonly Unit[],
) {
  const firsts = units.map(({ firstDay }) => firstDay);
  const sql = (passive: PassiveEvents) => `
    SELECT ${kind} AS entity, toInt32(day) AS at, sum(count) AS events FROM user_event_days
    WHERE organization = {organization:UInt32} AND ${kind} IN {entities:Array(UInt32)} AND ${isIncluded("user")}
      AND ${isEngagement(passive)} AND day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}
    GROUP BY entity, at`;
  const rows = await engagementRows<{
    readonly entity: number;
    readonly at: number;
    readonly events: number;
  }>(warehouse, sql, {
    organization,
    passiveEvents,
    entities: units.map(({ number }) => number),
    fromDay: Math.min(...firsts) - usageDays,
    toDay: today,
  });
  const byDay = new Map(rows.map(({ entity, at, events }) => [`${entity} ${at}`, events]));
  const sum = (entity: number, from: number, to: number) => {
    let events = 0;
    for (let day = from; day < to; day++) events += byDay.get(`${entity} ${day}`) ?? 0;
    return events;
  };
  return (entity: number, firstDay: number) => {
    // Today is not over.
    const useDays = Math.min(usageDays, today - firstDay);
    return {
      useDays,
      useBefore: sum(entity, firstDay - useDays, firstDay),
      useAfter: sum(entity, firstDay, firstDay + useDays),
    };
  };
}

interface Judged {
  readonly risk: number;
  readonly hasChurned: boolean;
}

/** The customers with a churn risk on the day before the first touch whose horizon is over, without those
 * with an outage in it. */
async function judgedOf(
  { warehouse, organization, zone, today }: Ground,
  kind: EntityKind,
  units: readonly Unit[],
  horizonDays: number,
): Promise<readonly Judged[]> {
  const run = await newestRun(warehouse, organization, kind, today);
  const outages = run?.body.outages ?? [];
  const before = units
    .map(({ number, firstDay }) => ({ entity: number, number, day: firstDay - 1 }))
    .filter(({ day }) => day + horizonDays <= today && daysWithin(outages, day, day + horizonDays) === 0);
  if (before.length === 0) return [];
  const question = { organization: { id: organization, zone }, today, horizonDays, outages };
  const [risks, ends] = await Promise.all([
    risksOfDays(warehouse, { organization, kind }, before),
    endsOf(warehouse, question, kind, before),
  ]);
  return before.flatMap(({ number, day }) => {
    const [risk, end] = [risks.get(`${number} ${day}`) ?? null, ends.get(`${number} ${day}`)];
    return risk === null || end === undefined ? [] : [{ risk, hasChurned: end.hasChurned }];
  });
}

/** Predicted against observed churn. Null without customers that can be judged. */
export function hintOf(judged: readonly Judged[]): ChurnHint | null {
  if (judged.length === 0) return null;
  const predicted = judged.reduce((sum, { risk }) => sum + risk, 0);
  const deviation = Math.sqrt(judged.reduce((sum, { risk }) => sum + risk * (1 - risk), 0));
  return {
    customers: judged.length,
    predicted,
    low: Math.max(0, predicted - 1.96 * deviation),
    high: Math.min(judged.length, predicted + 1.96 * deviation),
    churned: judged.filter(({ hasChurned }) => hasChurned).length,
  };
}
