/** Decides rules about events: of a chosen name, failed payments, scheduled cancellations, and cards that end
 * before the renewal. */
import type { EventCondition } from "../../../../contract/alerts/rules.ts";
import { isJsonObject } from "../../../../contract/json.ts";
import { zoneOf } from "../../../calendar/zone.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import { chunkAlerts, type RuleToDecide, type Watermark } from "../store/decisions.ts";
import type { DecisionParts } from "./decision-parts.ts";
import { chunkOf, eligibleEntities, firedBy } from "./firing.ts";
import { momentEvents, receivedLate } from "./moment-events.ts";

/** Events that happened longer ago than this fire no alert, although they are loaded late. */
const oldestMs = 7 * 86_400_000;
/** How long events are read again, because some are loaded late. Their ids are remembered. */
const overlapMs = 86_400_000;

/** The stored part of a rule's cursor. */
interface Cursor {
  /** Ids of the events within the overlap that fired or were passed over. */
  readonly seen: readonly string[];
  /** When the events were read. */
  readonly atMs: number;
  /** When the rule was saved, or resumed: events that happened before never fire. */
  readonly beganMs: number;
  /** The events that were remembered at a later time, before the clock was set back. */
  readonly ahead?: Pick<Cursor, "seen" | "atMs">;
}

/** Fires once for each new event that happened since the rule was saved or resumed and was received within
 * three days. A rule passes over earlier events after its ledger was restored, and after the clock was set
 * back: it does not know which events fired a year ago. @throws WarehouseError */
export async function decideEvents(
  parts: DecisionParts,
  organization: Organization,
  { version, watermark }: RuleToDecide,
  condition: EventCondition,
): Promise<Watermark> {
  const nowMs = parts.nowMs();
  const kind: EntityKind = version.scope.kind === "users" ? "user" : "account";
  const cursor = cursorOf(watermark);
  const isRestored = cursor !== undefined && watermark.takesOver;
  const passesOver = isRestored || (cursor !== undefined && isSetBack(cursor, nowMs));
  // A card is warned about from an instant on that is known before. Events may come from clocks that are
  // ahead.
  const aheadMs = condition.kind === "cardExpires" ? 1 : overlapMs;
  const span = { fromMs: nowMs - oldestMs - overlapMs, toMs: nowMs + aheadMs };
  const events = await momentEvents(parts.warehouse, {
    organization: organization.id,
    kind,
    condition,
    ...span,
  });
  const seen = new Set([...(cursor?.seen ?? []), ...(cursor?.ahead?.seen ?? [])]);
  const unseen = events.filter(({ id }) => !seen.has(id));
  if (cursor !== undefined && !passesOver && unseen.length === 0) return watermark;
  const beganMs = isRestored ? nowMs : Math.min(cursor?.beganMs ?? version.updatedAtMs, nowMs);
  const fromMs = Math.max(nowMs - oldestMs, beganMs);
  const news = passesOver ? [] : unseen.filter(({ timeMs }) => timeMs >= fromMs);
  const late = await receivedLate(parts.warehouse, { organization: organization.id, condition }, news);
  const entities = news.map(({ entity }) => entity);
  const mayFire = await eligibleEntities(parts, organization, version, kind, entities);
  const fresh = news.filter(({ entity, id }) => mayFire.has(entity) && !late.has(id));
  const today = zoneOf(organization.timezone).dayOf(nowMs);
  const about = { day: today, horizonDays: await parts.horizonOf(organization) };
  const ahead = aheadAfter(cursor, nowMs);
  let now = watermark;
  for (let at = 0; at === 0 || at < fresh.length; at += chunkAlerts) {
    const some = fresh.slice(at, at + chunkAlerts);
    const waiting = new Set(fresh.slice(at + chunkAlerts).map(({ id }) => id));
    const ids = events.flatMap(({ id }) => (waiting.has(id) ? [] : [id]));
    const next: Cursor = { seen: ids, atMs: nowMs, beganMs, ...(ahead !== undefined && { ahead }) };
    const { ahead: _, ...kept } = now.cursor ?? {};
    now = await parts.commit(version, {
      ...chunkOf(version, now, about),
      next: { decidedThrough: today, part: null, cursor: { ...kept, ...next } },
      fired: await firedBy(parts, organization, version, kind, some),
    });
  }
  return now;
}

/** Whether the clock was set back by more than the overlap, in which all events are remembered. */
function isSetBack({ atMs }: Pick<Cursor, "atMs">, nowMs: number): boolean {
  return nowMs < atMs - overlapMs;
}

/** The events to remember until the clock has reached their time again. */
function aheadAfter(cursor: Cursor | undefined, nowMs: number): Cursor["ahead"] {
  const [latest] = [cursor, cursor?.ahead]
    .filter((one) => one !== undefined)
    .toSorted((one, other) => other.atMs - one.atMs);
  return latest !== undefined && isSetBack(latest, nowMs)
    ? { seen: latest.seen, atMs: latest.atMs }
    : undefined;
}

/** The cursor of a rule; undefined before it has read events. */
function cursorOf({ cursor }: Watermark): Cursor | undefined {
  const own = partOf(cursor);
  if (own === undefined) return undefined;
  const ahead = partOf(cursor?.ahead);
  const beganMs = typeof cursor?.beganMs === "number" ? cursor.beganMs : 0;
  return { ...own, beganMs, ...(ahead !== undefined && { ahead }) };
}

function partOf(value: unknown): Pick<Cursor, "seen" | "atMs"> | undefined {
  if (!isJsonObject(value) || !Array.isArray(value.seen)) return undefined;
  const { seen, atMs } = value;
  return {
    seen: seen.filter((id) => typeof id === "string"),
    // Cursors of 0.1.0 have no times.
    atMs: typeof atMs === "number" ? atMs : 0,
  };
}
