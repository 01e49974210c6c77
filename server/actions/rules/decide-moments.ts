/** Decides rules whose alerts do not follow from daily scores: moments of billing, owners of accounts, and silent sources. */
import { zoneOf } from "../../calendar/calendar.ts";
import type {
  DecisionChunk,
  EntityStateRow,
  FiredAlert,
  Organization,
  RuleToDecide,
  Watermark,
} from "../../ledger/ledger.ts";
import { chunkAlerts } from "../../ledger/ledger.ts";
import type { EntityKind } from "../../scoring/scoring.ts";
import { newestRun } from "../../scoring/scoring.ts";
import { type BillingMoment, type MomentEvent, momentEvents } from "./billing-moments.ts";
import type { DecisionParts } from "./decide.ts";
import { type AlertFacts, factsOf } from "./facts.ts";
import { exemptOf, withinSegment } from "./segments.ts";
import { step, unknownEntity } from "./step.ts";

/** Events that happened earlier are no news, an import's say. */
const oldestMs = 7 * 86_400_000;
/** Events are read again for so long, because some are loaded late. Their ids are remembered. */
const overlapMs = 86_400_000;

interface Cursor {
  /** Ids of events of the overlap that fired or were passed over. */
  readonly seen: readonly string[];
}

/** Fires once for each event that is not known yet. @throws WarehouseError */
export async function decideBillingMoments(
  parts: DecisionParts,
  organization: Organization,
  { version, watermark }: RuleToDecide,
  moment: BillingMoment,
): Promise<Watermark> {
  const nowMs = parts.nowMs();
  const kind: EntityKind = version.scope.kind === "users" ? "user" : "account";
  const isNew = watermark.takesOver || watermark.cursor === null;
  const span = { fromMs: nowMs - oldestMs - overlapMs, toMs: nowMs + overlapMs };
  const events = await momentEvents(parts.warehouse, {
    organization: organization.id,
    kind,
    moment,
    ...span,
  });
  const seen = new Set(cursorOf(watermark).seen);
  const unseen = isNew ? [] : events.filter(({ id, timeMs }) => !seen.has(id) && timeMs >= nowMs - oldestMs);
  const ids = events.map(({ id }) => id);
  if (!isNew && unseen.length === 0 && ids.every((id) => seen.has(id))) return watermark;
  const entities = unseen.map(({ entity }) => entity);
  const inScope = await withinSegment(parts, organization, version.scope.segment, entities);
  const fresh = unseen.filter(({ entity }) => inScope.has(entity));
  const today = zoneOf(organization.timezone).dayOf(nowMs);
  const about = { day: today, horizonDays: await parts.horizonOf(organization) };
  let now = watermark;
  for (let at = 0; at === 0 || at < fresh.length; at += chunkAlerts) {
    const some = fresh.slice(at, at + chunkAlerts);
    const waiting = new Set(fresh.slice(at + chunkAlerts).map(({ id }) => id));
    now = await parts.commit(version, {
      ...chunkOf(version, now, about),
      next: { decidedThrough: today, part: null, cursor: { seen: ids.filter((id) => !waiting.has(id)) } },
      fired: await firedBy(parts, organization, version, kind, some),
    });
  }
  return now;
}

function cursorOf({ cursor }: Watermark): Cursor {
  const seen = cursor?.seen;
  return { seen: Array.isArray(seen) ? seen.filter((id) => typeof id === "string") : [] };
}

function chunkOf(
  { organization, rule, version }: RuleToDecide["version"],
  { sequence, cursor }: Watermark,
  { day, horizonDays }: { readonly day: number; readonly horizonDays: number },
): DecisionChunk {
  return {
    ...{ organization, rule, version, after: sequence, horizonDays },
    next: { decidedThrough: day, part: null, cursor },
    ...{ states: [], fired: [], closed: [], insideBySettings: 0 },
  };
}

const sentences: Readonly<Record<string, string>> = {
  paymentFailed: "A payment failed",
  cancellationScheduled: "A cancellation was scheduled",
  lastOwnerRemoved: "No member is an owner of the account any more",
};

async function firedBy(
  parts: DecisionParts,
  organization: Organization,
  { condition, exemptions }: RuleToDecide["version"],
  kind: EntityKind,
  events: readonly MomentEvent[],
): Promise<FiredAlert[]> {
  const { warehouse, nowMs } = parts;
  const zone = zoneOf(organization.timezone);
  const entities = [...new Set(events.map(({ entity }) => entity))];
  if (entities.length === 0) return [];
  const run = await newestRun(warehouse, organization.id, kind, zone.dayOf(nowMs()));
  const facts =
    run === undefined
      ? new Map<number, AlertFacts>()
      : await factsOf(warehouse, {
          ...{ organization: organization.id, kind, run, before: undefined, entities },
          condition: { kind: "never" },
        });
  const accounts = await accountsOf(warehouse, organization.id, kind, entities);
  const mrrs = await parts.mrrOf(organization, kind, entities);
  const ofAccounts =
    kind === "account" ? mrrs : await parts.mrrOf(organization, "account", [...new Set(accounts.values())]);
  const isExempt = await exemptOf(parts, organization, exemptions, entities);
  return events.map(({ entity, timeMs, id }) => {
    const { risk = null, reasons = [] } = facts.get(entity) ?? {};
    const account = accounts.get(entity) ?? null;
    const mrr = mrrs.get(entity);
    const mrrOfAccount = account === null ? undefined : ofAccounts.get(account);
    return {
      ...{
        entity: { kind, number: entity },
        day: zone.dayOf(timeMs),
        eventId: id,
        before: null,
        after: null,
      },
      ...{ risk, account, reasons: [{ text: sentences[condition.kind] ?? "" }, ...reasons] },
      expectedLoss: mrr === undefined || risk === null ? null : risk * mrr,
      isExempt: isExempt(entity, mrrOfAccount ?? mrr),
    };
  });
}

/** The accounts of entities, also of those without scores. An account is its own. Users without an account are left out. */
async function accountsOf(
  warehouse: DecisionParts["warehouse"],
  organization: number,
  kind: EntityKind,
  entities: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (kind === "account") return new Map(entities.map((entity) => [entity, entity]));
  const rows = await warehouse.rows<{ user: number; account: number }>(
    `SELECT user, account FROM users FINAL
     WHERE organization = {organization:UInt32} AND user IN {entities:Array(UInt32)} AND account != 0`,
    { organization, entities },
  );
  return new Map(rows.map(({ user, account }) => [user, account]));
}

/** Accounts with a member who is an owner have a row, which has not left. One that has none any more, and has members, fires and loses
 * its row. An account that never had an owner does not fire. */
export async function decideOwners(
  parts: DecisionParts,
  organization: Organization,
  rule: RuleToDecide,
): Promise<Watermark> {
  const { version, watermark } = rule;
  const nowMs = parts.nowMs();
  const today = zoneOf(organization.timezone).dayOf(nowMs);
  const rows = await parts.warehouse.rows<{ account: number; owners: number }>(
    `SELECT account, countIf(is_account_owner) AS owners FROM users FINAL
     WHERE organization = {organization:UInt32} AND account != 0 GROUP BY account ORDER BY account`,
    { organization: organization.id },
  );
  const owners = new Map(rows.map(({ account, owners: count }) => [account, count]));
  const states = new Map(
    (await pagesOf(parts, version)).flatMap((state) =>
      state.entity.kind === "account" ? [[state.entity.number, state] as const] : [],
    ),
  );
  const found = rows.filter(({ account, owners: count }) => count > 0 && !states.has(account));
  const lost = [...states.keys()].filter((account) => (owners.get(account) ?? 0) === 0);
  const about = { day: today, horizonDays: await parts.horizonOf(organization) };
  let now = watermark;
  const changes = [
    ...found.map(({ account }) => ({ account, hasOwner: true })),
    ...lost.map((account) => ({ account, hasOwner: false })),
  ];
  for (let at = 0; at < changes.length || (at === 0 && watermark.takesOver); at += chunkAlerts) {
    const some = changes.slice(at, at + chunkAlerts);
    const losing = watermark.takesOver
      ? []
      : some.filter(({ account, hasOwner }) => !hasOwner && owners.has(account));
    const accounts = losing.map(({ account }) => account);
    const inScope = await withinSegment(parts, organization, version.scope.segment, accounts);
    const firing = losing.filter(({ account }) => inScope.has(account));
    const events = firing.map(({ account }) => ({
      entity: account,
      timeMs: nowMs,
      id: `${account} ${today}`,
    }));
    now = await parts.commit(version, {
      ...chunkOf(version, now, about),
      states: some.map(({ account, hasOwner }) => ({
        entity: { kind: "account", number: account },
        ...{ ...unknownEntity, hasLeft: !hasOwner, value: null },
      })),
      fired: await firedBy(parts, organization, version, "account", events),
    });
  }
  return now;
}

async function pagesOf(
  { rules }: DecisionParts,
  { organization, rule }: RuleToDecide["version"],
): Promise<readonly EntityStateRow[]> {
  const all: EntityStateRow[] = [];
  for (let after = -1; ; ) {
    const page = await rules.states(organization, rule, after, statesOfPage);
    all.push(...page);
    const last = page.at(-1)?.entity;
    if (page.length < statesOfPage || last === undefined || last.kind === "source") return all;
    after = last.number;
  }
}

const statesOfPage = 10_000;

/** A source is inside while it is silent. It leaves at once. @param only this source, or any */
export async function decideSources(
  parts: DecisionParts,
  organization: Organization,
  { version, watermark }: RuleToDecide,
  only: string | undefined,
): Promise<Watermark> {
  const zone = zoneOf(organization.timezone);
  const day = zone.dayOf(parts.nowMs());
  const statuses = await parts.sources.statuses({ id: organization.id, zone });
  const states = await parts.rules.states(organization.id, version.rule, -1, statesOfPage);
  const cooldownDays = version.cooldownDays ?? defaultCooldownDays;
  const chunk = {
    states: [] as EntityStateRow[],
    fired: [] as FiredAlert[],
    closed: [] as DecisionChunk["closed"][number][],
  };
  for (const { source, state: status, lastHeardMs } of statuses) {
    if (only !== undefined && source !== only) continue;
    const row = states.find(({ entity }) => entity.kind === "source" && entity.source === source);
    const before = row ?? unknownEntity;
    const entity = { kind: "source", source } as const;
    const isInside = status === "silent";
    const { state, outcomes } = step({ cooldownDays, exitDays: 1 }, before, {
      ...{ day, isInside, isInsideAsBefore: isInside, isOut: !isInside },
      standing: watermark.takesOver ? "adopted" : "present",
    });
    const isSame =
      state.hasLeft === before.hasLeft &&
      state.firedOn === before.firedOn &&
      state.restsUntil === before.restsUntil;
    if (!isSame) chunk.states.push({ ...state, entity, value: null });
    for (const outcome of outcomes) {
      if (outcome.what === "closed") {
        chunk.closed.push({ entity, day, firedOn: outcome.firedOn, why: outcome.why });
      }
      if (outcome.what === "fired") {
        const since = lastHeardMs === null ? "ever" : `since ${new Date(lastHeardMs).toISOString()}`;
        chunk.fired.push({
          ...{ entity, day, eventId: null, before: null, after: null, risk: null, expectedLoss: null },
          ...{ account: null, isExempt: false, reasons: [{ text: `No data ${since}` }] },
        });
      }
    }
  }
  if (chunk.states.length === 0 && !watermark.takesOver) return watermark;
  const about = { day, horizonDays: await parts.horizonOf(organization) };
  return parts.commit(version, { ...chunkOf(version, watermark, about), ...chunk });
}

/** Of sources, which have no churn horizon. */
const defaultCooldownDays = 1;
