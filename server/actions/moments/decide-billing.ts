/** Decides rules about failed payments and scheduled cancellations. */
import { zoneOf } from "../../calendar/calendar.ts";
import { chunkAlerts, type Organization, type RuleToDecide, type Watermark } from "../../ledger/ledger.ts";
import type { EntityKind } from "../../scoring/scoring.ts";
import type { DecisionParts } from "../rules/decide.ts";
import { type BillingMoment, momentEvents } from "./billing-moments.ts";
import { chunkOf, firedBy, thoseThatMayFire } from "./firing.ts";

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
  const mayFire = await thoseThatMayFire(parts, organization, version, kind, entities);
  const fresh = unseen.filter(({ entity }) => mayFire.has(entity));
  const today = zoneOf(organization.timezone).dayOf(nowMs);
  const about = { day: today, horizonDays: await parts.horizonOf(organization) };
  let now = watermark;
  for (let at = 0; at === 0 || at < fresh.length; at += chunkAlerts) {
    const some = fresh.slice(at, at + chunkAlerts);
    const waiting = new Set(fresh.slice(at + chunkAlerts).map(({ id }) => id));
    now = await parts.commit(version, {
      ...chunkOf(version, now, about),
      next: {
        decidedThrough: today,
        part: null,
        cursor: { ...now.cursor, seen: ids.filter((id) => !waiting.has(id)) },
      },
      fired: await firedBy(parts, organization, version, kind, some),
    });
  }
  return now;
}

function cursorOf({ cursor }: Watermark): Cursor {
  const seen = cursor?.seen;
  return { seen: Array.isArray(seen) ? seen.filter((id) => typeof id === "string") : [] };
}
