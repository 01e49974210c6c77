/**
 * Computes `subscriptions` from `billing_events`. A row of a subscription has the count and a hash of the
 * events that it was computed from. Rows whose events differ from these are computed again. So late, shuffled
 * and repeated events, a crash, an erasure and a rebuild all end in the same rows.
 *
 * Only the leading analysis node writes, one step after another. So the next version of a row is the stored
 * one and one.
 */
import type { BillingEventName } from "../../../contract/billing/events.ts";
import { type Zone, zoneOf } from "../../calendar/zone.ts";
import { type BillingEvent, billingProperties } from "../../revenue/billing-event.ts";
import { changesOf, type SubscriptionChange } from "../../revenue/changes.ts";
import { noLimitOfTime, type Warehouse } from "../engine/warehouse.ts";
import { billingEventHash, subscriptions } from "../schema/billing-tables.ts";

/** Raise it when `changesOf` finds other changes in the same events: all subscriptions are computed again. */
const rulesVersion = 3;

/** The organization of subscriptions. A date without a time begins in the organization's timezone. */
export interface Whose {
  readonly organization: number;
  readonly timezone: string;
}

/** Subscriptions of a page, which are compared in one query. */
const subscriptionsOfPage = 2_000;
/** Fewer are compared by their ids: a sender chooses these, and each may have very many events. */
export const subscriptionsById = 500;
/** Other work waits for a call. So it computes no more subscriptions after this many events, which take about
 * 4 s. */
const eventsOfCall = 200_000;
/** Events in memory at once, and their bytes, except those of a single subscription. */
const eventsAtOnce = 20_000;
const bytesAtOnce = 16 * 1024 * 1024;
/** A subscription is computed from its newest events: this many, or fewer if these have more than
 * `bytesAtOnce`. */
const maxEventsOfSubscription = 20_000;

/** A range of subscriptions in the order of their ids, or some by their ids. */
export type Subscriptions =
  | { readonly after: string; readonly upto: string | undefined }
  | { readonly among: readonly string[] };

/** A subscription whose row is not that of its events. */
interface Stale {
  readonly subscription: string;
  /** Of the stored row; 0 without one. */
  readonly version: number;
  readonly events: number;
  readonly hash: string;
  readonly bytes: number;
}

/** The end of the page of subscriptions with billing events that begins after an id. Undefined: the last
 * page. */
export async function endOfPage(
  warehouse: Warehouse,
  organization: number,
  after: string,
  limit = subscriptionsOfPage,
): Promise<string | undefined> {
  const [page] = await warehouse.rows<{ last: string; count: number }>(
    `SELECT max(subscription) AS last, count() AS count FROM (
       SELECT DISTINCT subscription FROM billing_events
       WHERE organization = {organization:UInt32} AND subscription > {after:String}
       ORDER BY subscription LIMIT {limit:UInt32})`,
    { organization, after, limit },
    noLimitOfTime,
  );
  return page === undefined || page.count < limit ? undefined : page.last;
}

/** Computes the subscriptions whose rows are not those of their events. @returns those that are left to
 * another call */
export async function updateSubscriptions(
  warehouse: Warehouse,
  whose: Whose,
  which: Subscriptions,
  maxEvents = eventsOfCall,
): Promise<readonly string[]> {
  const { organization } = whose;
  const stale = await staleSubscriptions(warehouse, whose, which);
  const gone = stale.filter(({ events }) => events === 0).map(({ subscription }) => subscription);
  if (gone.length > 0) {
    await warehouse.command(
      `ALTER TABLE subscriptions DELETE
       WHERE organization = {organization:UInt32} AND subscription IN {gone:Array(String)}`,
      { organization, gone },
      noLimitOfTime,
    );
  }
  const groups = groupsOf(stale.filter(({ events }) => events > 0));
  for (let done = 0, events = 0; done < groups.length; done += 1) {
    const group = groups[done] ?? [];
    if (events > maxEvents)
      return groups
        .slice(done)
        .flat()
        .map(({ subscription }) => subscription);
    events += group.reduce((sum, one) => sum + one.events, 0);
    const rows = await computedRows(warehouse, whose, group);
    const body = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    // A row of its own: an equal row of before must not pass for it.
    const token = crypto.randomUUID();
    await warehouse.insertInto(subscriptions.name, columnNames, { rows: rows.length, body, token });
  }
  return [];
}

/** Computes all subscriptions of an organization whose rows are not those of their events. */
export async function computeSubscriptions(warehouse: Warehouse, whose: Whose): Promise<void> {
  let after: string | undefined = "";
  while (after !== undefined) {
    const upto: string | undefined = await endOfPage(warehouse, whose.organization, after);
    await updateSubscriptions(warehouse, whose, { after, upto }, Number.POSITIVE_INFINITY);
    after = upto;
  }
}

/** Subscriptions whose rows are not those of their events. */
export async function staleSubscriptions(
  warehouse: Warehouse,
  { organization, timezone }: Whose,
  which: Subscriptions,
): Promise<readonly Stale[]> {
  const { where, parameters } = conditionOf(which);
  return warehouse.rows<Stale>(
    `SELECT subscription, max(stored_version) AS version, sum(is_event) AS events,
       toString(groupBitXorIf(one_hash, is_event)) AS hash, sum(size) AS bytes
     FROM (
       SELECT subscription, true AS is_event, ${billingEventHash} AS one_hash, length(properties) AS size,
         toUInt64(0) AS stored_version, toUInt64(0) AS stored_events, '' AS stored_rules
       FROM billing_events FINAL WHERE ${where}
       UNION ALL
       SELECT subscription, false, events_hash, 0, version, events, toString(rules)
       FROM subscriptions FINAL WHERE ${where})
     GROUP BY subscription
     HAVING groupBitXor(one_hash) != 0 OR sum(is_event) != sum(stored_events) OR max(stored_rules) != {rules:String}
     ORDER BY subscription`,
    { organization, rules: rulesOf(timezone), ...parameters },
    noLimitOfTime,
  );
}

function conditionOf(which: Subscriptions) {
  const ofOrganization = "organization = {organization:UInt32}";
  if ("among" in which) {
    const where = `${ofOrganization} AND subscription IN {among:Array(String)} AND subscription != ''`;
    return { where, parameters: { among: which.among } };
  }
  const { after, upto } = which;
  const where = `${ofOrganization} AND subscription > {after:String}`;
  if (upto === undefined) return { where, parameters: { after } };
  return { where: `${where} AND subscription <= {upto:String}`, parameters: { after, upto } };
}

/** Subscriptions that are computed together. */
function groupsOf(stale: readonly Stale[]): readonly (readonly Stale[])[] {
  const groups: Stale[][] = [];
  let [events, bytes] = [Number.POSITIVE_INFINITY, 0];
  for (const one of stale) {
    events += one.events;
    bytes += one.bytes;
    if (events > eventsAtOnce || bytes > bytesAtOnce) {
      groups.push([]);
      [events, bytes] = [one.events, one.bytes];
    }
    groups.at(-1)?.push(one);
  }
  return groups;
}

interface EventRow {
  readonly subscription: string;
  readonly event: BillingEventName;
  readonly atMs: number;
  readonly tieBreak: string;
  readonly user: number;
  readonly account: number;
  readonly isAccountNamed: boolean;
  readonly properties: string;
}

async function computedRows(
  warehouse: Warehouse,
  { organization, timezone }: Whose,
  group: readonly Stale[],
): Promise<readonly unknown[]> {
  const events = await warehouse.rows<EventRow>(
    `SELECT subscription, event, toUnixTimestamp64Milli(time) AS atMs, tie_break AS tieBreak, user, account,
       is_account_named AND account != 0 AS isAccountNamed, properties
     FROM billing_events FINAL
     WHERE organization = {organization:UInt32} AND subscription IN {ids:Array(String)}
     ORDER BY subscription, time DESC, id LIMIT {limit:UInt32} BY subscription`,
    { organization, ids: group.map(({ subscription }) => subscription), limit: limitOf(group) },
    noLimitOfTime,
  );
  const zone = zoneOf(timezone);
  const bySubscription = Map.groupBy(events, ({ subscription }) => subscription);
  return group.map(({ subscription, version, events: count, hash }) => {
    const own = bySubscription.get(subscription) ?? [];
    const users = [...new Set(own.map(({ user }) => user))];
    const accounts = [...new Set(own.map(({ account }) => account))].filter((account) => account !== 0);
    const key = [organization, subscription, version + 1, rulesOf(timezone), count, hash, users, accounts];
    const changes = changesOf(own.map((event) => billingEventOf(event, zone)));
    return [...key, ...changeColumns.map(([, read]) => changes.map(read))];
  });
}

/** Events of a subscription that are read. Only a group of one may have more events than are read at once. */
function limitOf(group: readonly Stale[]): number {
  const [{ events, bytes } = { events: 0, bytes: 0 }] = group;
  if (group.length > 1 || bytes <= bytesAtOnce) return maxEventsOfSubscription;
  return Math.max(1, Math.min(maxEventsOfSubscription, Math.floor((events * bytesAtOnce) / bytes)));
}

function billingEventOf({ subscription: _, properties, ...event }: EventRow, zone: Zone): BillingEvent {
  return { ...event, properties: billingProperties(JSON.parse(properties), zone) };
}

function rulesOf(timezone: string): string {
  return `${rulesVersion} ${timezone}`;
}

/** The arrays of a row: a value for each change. */
const changeColumns: readonly (readonly [
  column: string,
  valueOf: (change: SubscriptionChange) => unknown,
])[] = [
  ["from", ({ fromMs }) => fromMs],
  ["status", ({ status }) => status],
  ["plan", ({ plan }) => plan ?? ""],
  ["mrr", ({ mrr }) => mrr],
  ["currency", ({ currency }) => currency ?? ""],
  ["price_interval", ({ interval }) => interval ?? ""],
  ["quantity", ({ quantity }) => quantity ?? null],
  ["period_end", ({ periodEndMs }) => periodEndMs ?? null],
  ["trial_ends_at", ({ trialEndsAtMs }) => trialEndsAtMs ?? null],
  ["ends_at", ({ endsAtMs }) => endsAtMs ?? null],
  ["payer_account", ({ payer }) => payer.account],
  ["payer_user", ({ payer }) => payer.user],
  ["is_involuntary", ({ isInvoluntary }) => isInvoluntary],
  ["last_event", ({ lastEventMs }) => lastEventMs],
];

const columnNames = [
  "organization",
  "subscription",
  "version",
  "rules",
  "events",
  "events_hash",
  "of_users",
  "of_accounts",
  ...changeColumns.map(([column]) => column),
];
