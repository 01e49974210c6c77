/** Controls of a hold-out: users and accounts that are not to be worked on yet. */
import { type Controls, controlsOn } from "../analytics/entities/controls.ts";
import { dayOrNull } from "../calendar/days.ts";
import type { OrganizationContext } from "../http/api/context.ts";
import { today } from "../http/api/days.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";

type Context = Pick<OrganizationContext, "ledger" | "warehouse" | "organization" | "zone" | "nowMs">;

/** The controls of today. @throws WarehouseError */
export function controlsOf(context: Context, kind: EntityKind): Promise<Controls> {
  return controlsOn(context, context.organization.id, kind, today(context));
}

/** The last day as a control, of a row. */
export function controlField(controls: Controls, entity: number) {
  return { controlUntil: dayOrNull(controls.get(entity) ?? null) };
}
