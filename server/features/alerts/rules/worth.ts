/** What the users and accounts of alerts are worth, and who looks after them. */
import { calledEntities } from "../../../analytics/call-facts.ts";
import { revenueQuestion } from "../../../analytics/revenue/currencies.ts";
import { hasPayers, payersNow } from "../../../analytics/revenue/payers-now.ts";
import { msPerDay, zoneOf } from "../../../calendar/zone.ts";
import type { SharedLedger } from "../../../ledger/ledger.ts";
import { type Owner, ownerIn, ownersOf } from "../../../ledger/rules/owners.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";

/** What a user or account is worth. Amounts are a month's, in minor units of the currency. */
export interface EntityWorth {
  /** Null without revenue, and for a payer whose currency has no rate. */
  readonly mrr: number | null;
  /** The part of MRR whose end is scheduled, at any time. */
  readonly endingMrr: number;
  readonly plan: string | null;
  readonly owner: Owner | null;
  readonly currency: string;
}

/** Reads what users or accounts are worth now, by number. An erased user or account is left out. @throws
 * WarehouseError */
export type ReadWorth = (
  organization: Organization,
  kind: EntityKind,
  entities: readonly number[],
) => Promise<ReadonlyMap<number, EntityWorth>>;

/** Ends that are scheduled within ten years count. */
const endDays = 3_650;

/** Reads a few thousand entities at a time. */
export function worthReader(
  warehouse: Warehouse,
  ledger: Pick<SharedLedger, "settings" | "members">,
  nowMs: () => number,
): ReadWorth {
  return async ({ id, timezone }, kind, entities) => {
    const worth = new Map<number, EntityWorth>();
    if (entities.length === 0) return worth;
    const { reportingCurrency, currencyRates } = (await ledger.settings.get(id)).settings;
    const revenue = await revenueQuestion(warehouse, { organization: id, reportingCurrency, currencyRates });
    const owners = ownersOf(await ledger.members.list(id));
    const pays = await hasPayers(warehouse, id, kind);
    const { transitions } = zoneOf(timezone);
    const question = { ...revenue, kind, nowMs: nowMs(), untilMs: nowMs() + endDays * msPerDay, transitions };
    for (let at = 0; at < entities.length; at += entitiesOfStatement) {
      const some = entities.slice(at, at + entitiesOfStatement);
      const named = await calledEntities(warehouse, { organization: id, kind }, some);
      const payers = pays ? await payersNow(warehouse, question, some) : undefined;
      for (const [entity, { owner, accountOwner }] of named) {
        const payer = payers?.get(entity);
        worth.set(entity, {
          mrr: payer?.mrr || null,
          endingMrr: payer?.scheduledMrr ?? 0,
          plan: payer?.plan ?? null,
          owner: ownerIn(owners, owner) ?? ownerIn(owners, accountOwner) ?? null,
          currency: revenue.reporting,
        });
      }
    }
    return worth;
  };
}

const entitiesOfStatement = 2_000;
