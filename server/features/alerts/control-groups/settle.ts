/** Finds out what came of the entries of experiments, once their outcome can be known. Daily scores are
 * thinned after 90 days, so outcomes are kept in the ledger. */
import { isAboutEvent } from "../../../../contract/alerts/rules.ts";
import { defaultSettings, type Settings } from "../../../../contract/settings.ts";
import { lastContacts } from "../../../analytics/call-facts.ts";
import { atPlace, hasPayers } from "../../../analytics/revenue/payers-now.ts";
import { msPerDay, type Zone, zoneOf } from "../../../calendar/zone.ts";
import type { SharedLedger } from "../../../ledger/ledger.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { Logger } from "../../../process/log.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import { labelsOf } from "../../../scoring/queries/label-query.ts";
import { populationOf } from "../../../scoring/run/population.ts";
import { newestRun } from "../../../scoring/run/status.ts";
import { daysWithin, type Outages } from "../../../scoring/scores/observed-days.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { appliedSettings } from "../../../warehouse/schema/engagement.ts";
import { assumedBaseOf, plannedEntries } from "./plan.ts";
import {
  type ExperimentPlan,
  type NamedEntry,
  numberOf,
  type OpenExperiment,
  type SettledEntry,
} from "./results-store.ts";

interface OutcomeParts {
  readonly warehouse: Warehouse;
  readonly ledger: Pick<SharedLedger, "holdOutResults" | "organizations" | "settings" | "alerts">;
  readonly nowMs: () => number;
  readonly log: Logger;
}

interface Ground extends OutcomeParts {
  readonly organization: Organization;
  readonly zone: Zone;
  readonly today: number;
}

/** Entries that are settled in one commit. */
const entriesTogether = 200;
/** What comes seven days after a period's end is known: a payment may be late. */
const daysUntilPaid = 7;
/** The period of an entity without a subscription that has an end. */
const monthDays = 31;
/** Makes what settles the entries of all organizations: of each once a day, and after a start. */
export function holdOutSettler(parts: OutcomeParts): () => Promise<void> {
  const settled = new Map<number, number>();
  return async () => {
    for (const { id, timezone } of await parts.ledger.organizations.list()) {
      const today = zoneOf(timezone).dayOf(parts.nowMs());
      if (settled.get(id) === today) continue;
      await settleHoldOuts(parts, id);
      settled.set(id, today);
    }
  };
}

/** Settles what can be known now. @throws WarehouseError */
async function settleHoldOuts(parts: OutcomeParts, id: number): Promise<void> {
  const { ledger, nowMs, log } = parts;
  const organization = await ledger.organizations.find(id);
  if (organization === undefined) return;
  const zone = zoneOf(organization.timezone);
  const ground: Ground = { ...parts, organization, zone, today: zone.dayOf(nowMs()) };
  for (const experiment of await ledger.holdOutResults.open(id)) {
    await settleExperiment(ground, experiment).catch((error: unknown) =>
      log.warn({ err: error, organization: id, rule: experiment.rule }, "entries are settled another day"),
    );
  }
}

async function settleExperiment(ground: Ground, experiment: OpenExperiment): Promise<void> {
  const { ledger, organization, today } = ground;
  const primary = experiment.primary ?? (await planned(ground, experiment)).primary;
  // An outcome "unpaid" is known by the end of a period, whenever that is.
  const of = primary === "unpaid" ? { ...experiment, horizonDays: 0 } : experiment;
  for (let after = 0; ; ) {
    const due = await ledger.holdOutResults.due(organization.id, of, {
      today,
      after,
      limit: entriesTogether,
    });
    if (due.length > 0) {
      const settled: SettledEntry[] = [];
      // Of a user without an account the user is the unit.
      for (const kind of ["account", "user"] as const) {
        const own = due.filter(({ account }) => account > 0 === (kind === "account"));
        if (own.length > 0) settled.push(...(await settledOf(ground, of, primary, kind, own)));
      }
      await ledger.holdOutResults.settle(organization.id, settled);
    }
    if (due.length < entriesTogether) return;
    after = due.at(-1)?.id ?? after;
  }
}

/** Plans an experiment that has its first entries. */
async function planned(
  { ledger, warehouse, organization }: Ground,
  experiment: OpenExperiment,
): Promise<ExperimentPlan> {
  const { condition, share } = experiment;
  const isOfPayment = condition !== null && isAboutEvent(condition);
  const pays =
    (await hasPayers(warehouse, organization.id, "account")) ||
    (await hasPayers(warehouse, organization.id, "user"));
  const base = assumedBaseOf(condition);
  const plan: ExperimentPlan = {
    primary: isOfPayment && pays ? "unpaid" : "churned",
    base,
    planned: plannedEntries(base, share ?? 0.5),
  };
  await ledger.holdOutResults.plan(organization.id, experiment, plan);
  return plan;
}

async function settledOf(
  ground: Ground,
  experiment: OpenExperiment,
  primary: ExperimentPlan["primary"],
  kind: EntityKind,
  entries: readonly NamedEntry[],
): Promise<readonly SettledEntry[]> {
  const found =
    primary === "unpaid"
      ? await paidOutcomes(ground, kind, entries)
      : await churnOutcomes(ground, kind, experiment.horizonDays ?? 0, entries);
  const contaminated = await contaminatedAmong(ground, experiment, kind, entries);
  return entries.flatMap(({ id }) => {
    const one = found.get(id);
    return one === undefined ? [] : [{ id, ...one, isContaminated: contaminated.has(id) }];
  });
}

type Found = Pick<SettledEntry, "outcome" | "dueDay">;

/** The churn labels of the horizon from the entries, under the settings of then. Those with an outage in the
 * horizon, and those that nobody saw leave or stay, are left out. */
async function churnOutcomes(
  ground: Ground,
  kind: EntityKind,
  horizonDays: number,
  entries: readonly NamedEntry[],
): Promise<ReadonlyMap<number, Found>> {
  const { warehouse, organization, zone, today } = ground;
  const run = await newestRun(warehouse, organization.id, kind, today);
  const outages: Outages = run?.body.outages ?? [];
  const found = new Map<number, Found>();
  for (const [day, own] of Map.groupBy(entries, ({ enteredDay }) => enteredDay)) {
    if (daysWithin(outages, day, day + horizonDays) > 0) {
      for (const { id } of own) found.set(id, { outcome: "leftOut", dueDay: null });
      continue;
    }
    const settings = await settingsAt(ground, zone.startOfDay(day + 1));
    const population = populationOf({ id: organization.id, zone, settings, outages }, kind);
    const { churned, isLabelled } = labelsOf(population, { cutoffDay: day, horizonDays });
    const rows = await warehouse.rows<{ readonly number: number; readonly hasChurned: boolean }>(
      `SELECT entity AS number, ${churned.sql} AS hasChurned
       FROM (SELECT arrayJoin({entities:Array(UInt32)}) AS entity) AS asked WHERE ${isLabelled.sql}`,
      { ...churned.parameters, ...isLabelled.parameters, entities: own.map(numberOf) },
    );
    const labels = new Map(rows.map(({ number, hasChurned }) => [number, hasChurned]));
    for (const entry of own) {
      const label = labels.get(numberOf(entry));
      const outcome = label === undefined ? "leftOut" : label ? "churned" : "retained";
      found.set(entry.id, { outcome, dueDay: null });
    }
  }
  return found;
}

/** The settings that held at an instant. */
async function settingsAt({ ledger, warehouse, organization }: Ground, atMs: number): Promise<Settings> {
  let beforeVersion = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const page = await ledger.settings.history(organization.id, { limit: 50, beforeVersion });
    const then = page.find(({ changedAtMs }) => changedAtMs <= atMs);
    if (then !== undefined) return appliedSettings(warehouse, organization.id, then.settings);
    const last = page.at(-1);
    if (last === undefined) return appliedSettings(warehouse, organization.id, defaultSettings);
    beforeVersion = last.version;
  }
}

interface PeriodRow {
  readonly entity: number;
  readonly endMs: number | null;
}

/** Whether a period that begins after the one of the entry was paid. It is known seven days after the end of
 * that one; before, the entries wait. */
async function paidOutcomes(
  { warehouse, organization, zone, today }: Ground,
  kind: EntityKind,
  entries: readonly NamedEntry[],
): Promise<ReadonlyMap<number, Found>> {
  const found = new Map<number, Found>();
  const payer = kind === "account" ? "payer_account[place]" : "payer_user[place]";
  const stateOf = (columns: string, having: string, atMs: number, numbers: readonly number[]) =>
    warehouse.rows<PeriodRow>(
      `SELECT entity, max(end_ms) AS endMs FROM (${atPlace(
        `${payer} AS entity, payer_account[place] AS of_account, ${columns}`,
        { withExcluded: true },
      )}) WHERE entity IN {entities:Array(UInt32)} AND (of_account != 0) = ${kind === "account"} AND ${having}
       GROUP BY entity`,
      { organization: organization.id, nowMs: atMs, entities: numbers },
    );
  const end = "toUnixTimestamp64Milli(period_end[place]) AS end_ms, toString(status[place]) AS state";
  for (const [day, own] of Map.groupBy(entries, ({ enteredDay }) => enteredDay)) {
    const atMs = zone.startOfDay(day);
    const numbers = own.map(numberOf);
    const periods = await stateOf(end, "state IN ('active', 'past_due', 'trialing')", atMs, numbers);
    const ends = new Map(periods.map(({ entity, endMs }) => [entity, endMs]));
    const endOf = (entry: NamedEntry) => ends.get(numberOf(entry)) ?? atMs + monthDays * msPerDay;
    const knownOn = (entry: NamedEntry) => zone.dayOf(Math.max(endOf(entry), atMs)) + daysUntilPaid + 1;
    for (const [knownDay, some] of Map.groupBy(own, knownOn)) {
      if (today < knownDay) {
        for (const { id } of some) found.set(id, { outcome: null, dueDay: knownDay - 1 });
        continue;
      }
      const atEnd = zone.startOfDay(knownDay);
      const after = await stateOf(end, "state = 'active'", atEnd, some.map(numberOf));
      const nextEnds = new Map(after.map(({ entity, endMs }) => [entity, endMs]));
      for (const entry of some) {
        const next = nextEnds.get(numberOf(entry));
        const isPaid = next === null || (next !== undefined && next > endOf(entry));
        found.set(entry.id, { outcome: isPaid ? "retained" : "churned", dueDay: null });
      }
    }
  }
  return found;
}

/** Controls that were contacted within the horizon, or about which another rule fired. */
async function contaminatedAmong(
  { warehouse, ledger, organization, zone, today }: Ground,
  { rule, horizonDays }: OpenExperiment,
  kind: EntityKind,
  entries: readonly NamedEntry[],
): Promise<ReadonlySet<number>> {
  const controls = entries.filter(({ arm }) => arm === "control");
  if (controls.length === 0) return new Set();
  const numbers = controls.map(numberOf);
  const among = kind === "account" ? { users: [], accounts: numbers } : { users: numbers, accounts: [] };
  const days = controls.map(({ enteredDay }) => enteredDay);
  const span = {
    fromMs: zone.startOfDay(Math.min(...days)),
    toMs: zone.startOfDay(Math.max(...days) + Math.max(1, horizonDays ?? monthDays)),
    today,
  };
  const [contacts, alerts] = await Promise.all([
    lastContacts(warehouse, { organization: organization.id, kind }, numbers),
    ledger.alerts.openBetween(organization.id, among, span),
  ]);
  const isWithin = (atMs: number, enteredDay: number) => {
    const on = zone.dayOf(atMs);
    return on >= enteredDay && on < enteredDay + Math.max(1, horizonDays ?? monthDays);
  };
  return new Set(
    controls.flatMap((entry) => {
      const contactMs = contacts.get(numberOf(entry));
      const wasContacted = contactMs !== undefined && isWithin(contactMs, entry.enteredDay);
      const fired = alerts.some(
        (alert) =>
          alert.rule.id !== rule &&
          (kind === "account" ? alert.account : alert.user) === numberOf(entry) &&
          isWithin(alert.firedAtMs, entry.enteredDay),
      );
      return wasContacted || fired ? [entry.id] : [];
    }),
  );
}
