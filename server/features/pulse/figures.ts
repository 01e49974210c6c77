/** The pulses of an account with what has become of them. */
import { knownAccount } from "../../figures/accounts.ts";
import type { AnalysisHandlers } from "../../http/api/context.ts";
import { today } from "../../http/api/days.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { pulseAnswer } from "./handlers.ts";
import { type OwnerSince, pulseStates } from "./pulse-states.ts";

export const pulseFigureHandlers = {
  "GET /api/accounts/:accountId/pulses": async (context) => {
    const { warehouse, organization, ledger, zone, query } = context;
    const { entity, accountId } = await knownAccount(context);
    const [pulses, owners] = await Promise.all([
      ledger.pulses.ofAccount(organization.id, accountId, query.limit),
      ownersOf(warehouse, organization.id, entity),
    ]);
    const states = pulseStates(pulses, owners, {
      today: today(context),
      dayOf: (atMs) => zone.dayOf(atMs),
    });
    const current = states.indexOf("current");
    return {
      pulse: pulses[current]?.value ?? null,
      pulses: pulses.map((pulse, at) => ({ ...pulseAnswer(pulse), state: states[at] ?? "replaced" })),
    };
  },
} satisfies Partial<AnalysisHandlers>;

/** The values of the attribute `owner`, the oldest first. A change of case is none. */
async function ownersOf(
  warehouse: Warehouse,
  organization: number,
  account: number,
): Promise<readonly OwnerSince[]> {
  return warehouse.rows<OwnerSince>(
    `SELECT toUnixTimestamp64Milli(at) AS atMs, if(raw IN ('null', '""'), '', lowerUTF8(raw)) AS owner
     FROM (
       SELECT at, version, trimBoth(JSONExtractRaw(traits, 'owner')) AS raw FROM account_versions
       WHERE organization = {organization:UInt32} AND account = {account:UInt32} AND raw != '')
     ORDER BY at, version SETTINGS allow_simdjson = 0`,
    { organization, account },
  );
}
