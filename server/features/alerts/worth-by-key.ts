/** What the users and accounts of messages are worth, by their keys. */
import { keyOfEntity, type RuleEntity } from "../../ledger/stores/entity-rows.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { EntityWorth, ReadWorth } from "./rules/worth.ts";

/** Reads what users and accounts are worth now. A source is worth nothing. @throws WarehouseError */
export async function worthByKey(
  read: ReadWorth,
  organization: Organization,
  entities: readonly RuleEntity[],
): Promise<ReadonlyMap<string, EntityWorth>> {
  const found = new Map<string, EntityWorth>();
  for (const kind of ["user", "account"] as const) {
    const numbers = entities.flatMap((entity) => (entity.kind === kind ? [entity.number] : []));
    for (const [number, worth] of await read(organization, kind, numbers)) {
      found.set(keyOfEntity({ kind, number }), worth);
    }
  }
  return found;
}
