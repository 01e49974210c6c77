/** Reads the call list: the one ranking of pages, commands, digests and messages. See
 * server/analytics/README.md. */
import { type CallClass, type CallListName, callListLimits as limits } from "../../contract/call-list.ts";
import { msPerDay, type Zone, zoneOf } from "../calendar/zone.ts";
import type { SharedLedger } from "../ledger/ledger.ts";
import type { EntitiesByNumber } from "../ledger/stores/entity-rows.ts";
import type { Organization } from "../ledger/stores/organization-rows.ts";
import { expectedLossOfPayer } from "../revenue/payer-now.ts";
import { lacksData } from "../scoring/churn/ladder.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { rowsOf } from "../scoring/run/entity.ts";
import type { RunBody } from "../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../scoring/run/records.ts";
import { newestRun } from "../scoring/run/status.ts";
import { absoluteRiskScale } from "../scoring/scores/risk-scale.ts";
import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import {
  type CalledEntity,
  type CallFactsRow,
  type CallPopulation,
  calledEntities,
  callFacts,
  lastContacts,
  payerCount,
  risksOfDays,
} from "./call-facts.ts";
import { type Controls, controlsOn } from "./entities/controls.ts";
import { type Owner, type Owners, ownerIn, ownersOf } from "./entities/owners.ts";
import { type Call, type CallGround, callOf, callReason, compareCalls, isWorseSince } from "./ranking.ts";
import { reasonsAt, type SaidReason } from "./revenue/churn-reasons.ts";
import { revenueQuestion } from "./revenue/currencies.ts";
import { type PayersQuestion, payersNow } from "./revenue/payers-now.ts";
import { renewalDayOf } from "./revenue/renews-at.ts";

export interface CallListParts {
  readonly warehouse: Warehouse;
  readonly ledger: Pick<SharedLedger, "alerts" | "tasks" | "settings" | "members">;
  readonly nowMs: () => number;
}

export interface CallListQuestion {
  readonly list: CallListName;
  readonly limit: number;
  /** The warehouses of a segment's users and accounts; by default all of them. */
  readonly within?: { readonly users: Warehouse; readonly accounts: Warehouse | undefined };
}

/** A row of the call list. Days are days since 1970-01-01, amounts are in minor units of the currency. */
export interface CallRow {
  readonly kind: EntityKind;
  readonly number: number;
  readonly id: string;
  readonly name: string;
  readonly mrr: number | null;
  readonly plan: string | null;
  readonly class: CallClass;
  readonly reason: string;
  readonly risk: number | null;
  readonly rankValue: number | null;
  readonly expectedLoss: number | null;
  readonly endsDay: number | null;
  readonly renewsDay: number | null;
  readonly owner: Owner | null;
  readonly lastContactDays: number | null;
  readonly openTask: string | null;
  readonly controlUntil: number | null;
  readonly snoozedUntil: number | null;
}

export interface CallList {
  /** The day of the scores; null before the first. */
  readonly day: number | null;
  readonly currency: string;
  readonly rows: readonly CallRow[];
  readonly note: string | null;
}

type Run = ScoreRecord<RunBody>;

/** What the users, or the accounts, of a list share. */
interface OfKind {
  readonly kind: EntityKind;
  readonly run: Run | undefined;
  readonly ground: CallGround;
  readonly payers: PayersQuestion;
  readonly controls: Controls;
  readonly population: CallPopulation;
}

interface Ground extends CallListParts {
  readonly organization: Organization;
  readonly zone: Zone;
  readonly today: number;
}

const month = 28;
const week = 7;
/** Rows whose tasks, alerts and names are read together. */
const rowsTogether = 500;

/** The call list of today. @throws WarehouseError */
export async function readCallList(
  parts: CallListParts,
  organization: Organization,
  { list, limit, within }: CallListQuestion,
): Promise<CallList> {
  const { warehouse, ledger, nowMs } = parts;
  const zone = zoneOf(organization.timezone);
  const ground: Ground = { ...parts, organization, zone, today: zone.dayOf(nowMs()) };
  const { reportingCurrency, currencyRates } = (await ledger.settings.get(organization.id)).settings;
  const revenue = await revenueQuestion(warehouse, {
    organization: organization.id,
    reportingCurrency,
    currencyRates,
  });
  const [accounts, users] = await Promise.all([
    kindOf(ground, revenue, "account"),
    kindOf(ground, revenue, "user"),
  ]);
  const candidates = await listedKinds(warehouse, { accounts, users }, list);
  let kinds: readonly OfKind[] = [];
  let calls: Ranked[] = [];
  for (kinds of candidates) {
    calls = [];
    for (const kind of kinds) calls.push(...(await callsOf(ground, kind, within)));
    if (calls.length > 0) break;
  }
  calls.sort(([a], [b]) => compareCalls(a, b));
  const rows = await listedRows(ground, calls, list, limit);
  return {
    day: kinds.map(({ run }) => run?.day ?? null).find((day) => day !== null) ?? null,
    currency: revenue.reporting,
    rows,
    note: noteOf(kinds, rows),
  };
}

/** The users, or accounts, that a class of the list holds for, in no order. */
async function callsOf(
  ground: Ground,
  kind: OfKind,
  within: CallListQuestion["within"],
): Promise<readonly Ranked[]> {
  const all = ground.warehouse;
  const { users, accounts } = within ?? { users: all, accounts: all };
  const warehouse = kind.kind === "user" ? users : accounts;
  if (warehouse === undefined) return [];
  const facts = await callFacts(warehouse, {
    payers: kind.payers,
    ground: kind.ground,
    population: kind.population,
    limit: limits.ranked,
    scores: await scoresOf(ground, kind),
  });
  return facts.flatMap((row) => {
    const call = callOf(kind.kind, row, kind.ground);
    return call === undefined ? [] : [[call, row, kind] as const];
  });
}

async function kindOf(
  { warehouse, ledger, organization, zone, today, nowMs }: Ground,
  revenue: Awaited<ReturnType<typeof revenueQuestion>>,
  kind: EntityKind,
): Promise<OfKind> {
  const run = await newestRun(warehouse, organization.id, kind, today);
  const settings = run?.body.settings ?? (await ledger.settings.get(organization.id)).settings;
  const target = settings.churnTargets[kind];
  const { transitions } = zone;
  return {
    kind,
    run,
    population: "payers",
    ground: {
      nowMs: nowMs(),
      horizonDays: settings.churnHorizonDays,
      isSilence: target.by === "silence",
      highRisk: (run?.body.riskScale ?? absoluteRiskScale).high,
      hasLoss: target.by === "subscription" && run !== undefined && run.body.model !== null,
    },
    payers: {
      ...revenue,
      kind,
      transitions,
      nowMs: nowMs(),
      untilMs: nowMs() + limits.endDays * msPerDay,
    },
    controls: await controlsOn({ ledger, warehouse }, organization.id, kind, today),
  };
}

/** Who is on the list: payers where there are enough payers, else accounts, else users if no account is to be
 * called. Beside a list of payers, users and accounts that pay nothing have the list `non_payers`. */
async function listedKinds(
  warehouse: Warehouse,
  { accounts, users }: Readonly<Record<"accounts" | "users", OfKind>>,
  list: CallListName,
): Promise<readonly (readonly OfKind[])[]> {
  const payers = (await payerCount(warehouse, accounts.payers)) + (await payerCount(warehouse, users.payers));
  const hasAccounts = accounts.run !== undefined && accounts.run.body.scored > 0;
  if (payers >= limits.leastPayers) {
    if (list !== "non_payers") return [[accounts, users]];
    return [[{ ...(hasAccounts ? accounts : users), population: "non_payers" }]];
  }
  if (list === "non_payers") return [];
  const all = [accounts, users].map((kind) => ({ ...kind, population: "all" as const }));
  return (hasAccounts ? all : all.slice(1)).map((kind) => [kind]);
}

async function scoresOf({ warehouse, organization: { id } }: Ground, { kind, run }: OfKind) {
  if (run === undefined) return undefined;
  const [weekBefore, monthBefore] = await Promise.all(
    [week, month].map((days) => newestRun(warehouse, id, kind, run.day - days)),
  );
  return {
    run: rowsOf(id, kind, run),
    weekBefore: weekBefore && rowsOf(id, kind, weekBefore),
    // Older scores would compare a fall with another time.
    monthBefore:
      monthBefore !== undefined && run.day - monthBefore.day < month + week
        ? rowsOf(id, kind, monthBefore)
        : undefined,
  };
}

type Ranked = readonly [Call, CallFactsRow, OfKind];

/** The first rows that are on the list, with everything that a row says. */
async function listedRows(
  ground: Ground,
  ranked: readonly Ranked[],
  list: CallListName,
  limit: number,
): Promise<readonly CallRow[]> {
  const owners = ownersOf(await ground.ledger.members.list(ground.organization.id));
  const most = list === "set_aside" ? limits.setAside : ranked.length;
  const rows: CallRow[] = [];
  for (let at = 0; at < most && rows.length < limit; at += rowsTogether) {
    const some = ranked.slice(at, Math.min(most, at + rowsTogether));
    const aside = await setAside(ground, some);
    const kept = some
      .flatMap((one, index) => {
        const why = aside[index] ?? onTheList;
        return why.isAside === (list === "set_aside") ? [[one, why] as const] : [];
      })
      .slice(0, limit - rows.length);
    rows.push(...(await detailed(ground, kept, owners)));
  }
  return rows;
}

interface Aside {
  readonly isAside: boolean;
  readonly controlUntil: number | null;
  readonly snoozedUntil: number | null;
}
const onTheList: Aside = { isAside: false, controlUntil: null, snoozedUntil: null };

/** Who is kept off the list for now: controls, and users and accounts that were snoozed, or handled within
 * the horizon. A handled customer whose class got worse comes back. */
async function setAside(ground: Ground, some: readonly Ranked[]): Promise<readonly Aside[]> {
  const { ledger, organization, today, nowMs } = ground;
  const horizonDays = Math.max(0, ...some.map(([, , { ground: of }]) => of.horizonDays));
  const sinceMs = nowMs() - horizonDays * msPerDay;
  const worked = await ledger.alerts.workedOn(organization.id, numbersOf(some), sinceMs, today);
  const byEntity = Map.groupBy(worked, keyOfWork);
  const workOn = ({ kind, facts }: Call) => byEntity.get(`${kind} ${facts.entity}`) ?? [];
  const risks = await risksThen(ground, some, workOn);
  return some.map(([call, , { controls, ground: of }]) => {
    const controlUntil = controls.get(call.facts.entity) ?? null;
    const own = workOn(call);
    const snoozes = own.flatMap(({ verdictAtMs, snoozedUntil }) =>
      verdictAtMs === null && snoozedUntil !== null ? [snoozedUntil] : [],
    );
    const handled = lastHandled(own, of);
    const riskThen = handled === undefined ? null : (risks.get(riskKey(call, ground, handled)) ?? null);
    const isHandled = handled !== undefined && !isWorseSince(call, of, handled, riskThen);
    return {
      isAside: controlUntil !== null || snoozes.length > 0 || isHandled,
      controlUntil,
      snoozedUntil: snoozes.length === 0 ? null : Math.max(...snoozes),
    };
  });
}

type WorkOnCall = Awaited<ReturnType<SharedLedger["alerts"]["workedOn"]>>[number];

function keyOfWork({ user, account }: Pick<WorkOnCall, "user" | "account">): string {
  return user > 0 ? `user ${user}` : `account ${account}`;
}

/** When a row was handled last, within the horizon. */
function lastHandled(own: readonly WorkOnCall[], { nowMs, horizonDays }: CallGround): number | undefined {
  const times = own.flatMap(({ verdictAtMs }) =>
    verdictAtMs !== null && verdictAtMs > nowMs - horizonDays * msPerDay ? [verdictAtMs] : [],
  );
  return times.length === 0 ? undefined : Math.max(...times);
}

function riskKey({ kind, facts }: Call, { zone }: Ground, handledMs: number): string {
  return `${kind} ${facts.entity} ${zone.dayOf(handledMs)}`;
}

/** The churn risks of handled rows on the days on which they were handled. */
async function risksThen(
  ground: Ground,
  some: readonly Ranked[],
  workOn: (call: Call) => readonly WorkOnCall[],
): Promise<ReadonlyMap<string, number | null>> {
  const found = new Map<string, number | null>();
  for (const kind of ["account", "user"] as const) {
    const asked = some.flatMap(([call, , { ground: of }]) => {
      const handled = call.kind === kind ? lastHandled(workOn(call), of) : undefined;
      return handled === undefined ? [] : [{ entity: call.facts.entity, day: ground.zone.dayOf(handled) }];
    });
    const { id: organization } = ground.organization;
    const risks = await risksOfDays(ground.warehouse, { organization, kind }, asked);
    for (const [key, risk] of risks) found.set(`${kind} ${key}`, risk);
  }
  return found;
}

function numbersOf(some: readonly Ranked[]): EntitiesByNumber {
  const of = (wanted: EntityKind) =>
    some.flatMap(([{ kind, facts }]) => (kind === wanted ? [facts.entity] : []));
  return { users: of("user"), accounts: of("account") };
}

/** The rows with names, plans, owners, contacts and tasks. A user or account that was erased meanwhile is
 * left out. */
async function detailed(
  ground: Ground,
  kept: readonly (readonly [Ranked, Aside])[],
  owners: Owners,
): Promise<readonly CallRow[]> {
  const { ledger, organization } = ground;
  if (kept.length === 0) return [];
  const ranked = kept.map(([one]) => one);
  const tasks = new Map<string, string>();
  for (const { title, ...of } of await ledger.tasks.openOf(organization.id, numbersOf(ranked))) {
    // The first is due first.
    if (!tasks.has(keyOfWork(of))) tasks.set(keyOfWork(of), title);
  }
  const details = new Map<EntityKind, Details>();
  for (const [kind, own] of Map.groupBy(ranked, ([call]) => call.kind)) {
    details.set(kind, await detailsOf(ground, own));
  }
  return kept.flatMap(([[call, row, of], aside]) => {
    const known = details.get(call.kind);
    const named = known?.entities.get(row.entity);
    if (known === undefined || named === undefined) return [];
    return [rowOf(ground, { call, row, of, named, known, aside, owners, tasks })];
  });
}

interface Details {
  readonly entities: ReadonlyMap<number, CalledEntity>;
  /** The last contact, by number. */
  readonly contacts: ReadonlyMap<number, number>;
  /** By number. Their scheduled MRR is the MRR that ends within the churn horizon. */
  readonly payers: Awaited<ReturnType<typeof payersNow>>;
  /** Why those with a scheduled end leave, by number. */
  readonly reasons: ReadonlyMap<number, SaidReason | undefined>;
}

async function detailsOf(
  { warehouse, organization: { id: organization }, nowMs }: Ground,
  own: readonly Ranked[],
): Promise<Details> {
  const [[, , { kind, payers, ground }]] = own as [Ranked];
  const numbers = own.map(([, { entity }]) => entity);
  const ending = own.flatMap(([{ callClass }, { entity }]) =>
    callClass === "end_scheduled" ? [entity] : [],
  );
  const withinHorizon = { ...payers, untilMs: nowMs() + ground.horizonDays * msPerDay };
  const [entities, contacts, now, reasons] = await Promise.all([
    calledEntities(warehouse, { organization, kind }, numbers),
    lastContacts(warehouse, { organization, kind }, numbers),
    payersNow(warehouse, withinHorizon, numbers),
    reasonsAt(
      warehouse,
      { organization, kind, churnEvents: [] },
      ending.map((entity) => ({ entity, atMs: nowMs(), sinceMs: 0 })),
    ),
  ]);
  return {
    entities,
    contacts,
    payers: now,
    reasons: new Map(ending.map((entity, index) => [entity, reasons[index]])),
  };
}

interface RowParts {
  readonly call: Call;
  readonly row: CallFactsRow;
  readonly of: OfKind;
  readonly named: CalledEntity;
  readonly known: Details;
  readonly aside: Aside;
  readonly owners: Owners;
  readonly tasks: ReadonlyMap<string, string>;
}

function rowOf({ zone, today }: Ground, parts: RowParts): CallRow {
  const { call, row, of, named, known, aside, owners, tasks } = parts;
  const { entity, mrr, risk } = row;
  const { kind } = call;
  const dayOf = (ms: number) => zone.dayOf(ms);
  const payer = known.payers.get(entity);
  const contactedMs = known.contacts.get(entity);
  const said = known.reasons.get(entity);
  const cancelReason = said?.comment || said?.reason || "";
  const ofPeriod = payer?.renewsAtMs == null ? null : dayOf(payer.renewsAtMs);
  const scheduledMrr = payer?.scheduledMrr ?? 0;
  const isBilled = row.isPayer || payer !== undefined;
  return {
    kind,
    number: entity,
    id: named.id,
    name: named.name,
    class: call.callClass,
    risk,
    mrr: isBilled ? mrr : null,
    plan: row.isByContract ? "by contract" : (payer?.plan ?? null),
    reason: callReason(call, of.ground, { cancelReason, dayOf }),
    rankValue: call.rankValue,
    expectedLoss: of.ground.hasLoss && row.isPayer ? expectedLossOfPayer({ mrr, scheduledMrr }, risk) : null,
    endsDay: row.firstEndMs === null ? null : dayOf(row.firstEndMs),
    renewsDay: renewalDayOf(named.renewsAt, dayOf) ?? ofPeriod,
    owner: ownerIn(owners, named.owner) ?? ownerIn(owners, named.accountOwner) ?? null,
    lastContactDays: contactedMs === undefined ? null : Math.max(0, today - dayOf(contactedMs)),
    openTask: tasks.get(`${kind} ${entity}`) ?? null,
    controlUntil: aside.controlUntil,
    snoozedUntil: aside.snoozedUntil,
  };
}

/** The line above a list whose rows have no `rankValue`. */
function noteOf(kinds: readonly OfKind[], rows: readonly CallRow[]): string | null {
  if (rows.some(({ rankValue }) => rankValue !== null)) return null;
  const first = kinds.find(({ kind }) => rows.length === 0 || rows.some((row) => row.kind === kind));
  if (first === undefined) return null;
  const { kind, run, ground, population } = first;
  const plural = kind === "account" ? "accounts" : "users";
  if (run === undefined) return `No scores of ${plural} yet.`;
  if (run.body.model === null) {
    const departures = run.body.choice.next?.missing.find(({ what }) => what === "churnedLabels");
    const seen = departures && `${departures.have} of ${departures.need} departures seen`;
    const why = seen ?? (lacksData(run.body) ? "too little data" : "no model passed the back-test");
    return `No churn risk for ${plural} yet: ${why}.`;
  }
  if (ground.hasLoss || population !== "payers") return null;
  return `Sorted by reason and MRR: the churn risk of ${plural} is not that of losing the subscription.`;
}
