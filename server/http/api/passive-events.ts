/** The passive events of organizations, as figures ask for them. */
import { passiveEventsOf } from "../../../contract/api/departures-body.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { eventNamesOf, type PassiveEvents } from "../../warehouse/schema/engagement.ts";

/** A page asks ten figures at once. A name that is new is known this much later, at most. */
const namesKeptMs = 1_000;

interface Known {
  readonly atMs: number;
  readonly names: Promise<readonly string[]>;
}

/** Keeps the names of events for a second, so that most figures cost no query more. */
export class PassiveEventsOfOrganizations {
  readonly #known = new Map<number, Known>();

  /** @param parts their warehouse must not be bound to one asker, because the query is shared
   * @throws WarehouseError */
  async of(
    parts: { warehouse: Warehouse; ledger: SharedLedger },
    organization: number,
  ): Promise<PassiveEvents> {
    const [names, { settings }] = await Promise.all([
      this.#names(parts.warehouse, organization),
      parts.ledger.settings.get(organization),
    ]);
    return passiveEventsOf(names, settings);
  }

  #names(warehouse: Warehouse, organization: number): Promise<readonly string[]> {
    const nowMs = performance.now();
    const known = this.#known.get(organization);
    if (known !== undefined && nowMs - known.atMs < namesKeptMs) return known.names;
    const names = eventNamesOf(warehouse, organization);
    this.#known.set(organization, { atMs: nowMs, names });
    // A failed query is not kept.
    names.catch(() => {
      if (this.#known.get(organization)?.names === names) this.#known.delete(organization);
    });
    return names;
  }
}
