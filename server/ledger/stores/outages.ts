/** Stores outages that were declared by hand. */
import type { DeclaredOutage, OutageStore } from "../ports/settings.ts";
import {
  checkedOutage,
  maxDeclaredOutages,
  noOutage,
  outageAddedNote,
  outageRemovedNote,
  tooManyOutages,
} from "../rules/declared-outages.ts";
import type { Engine } from "./engine/engine.ts";
import { integer, RowOf, returning, returningOne, select } from "./engine/sql.ts";
import { lockKnownOrganization, lockOrganization } from "./organization-rows.ts";

const storedOutage = new RowOf<DeclaredOutage>({
  id: integer(),
  fromDay: integer(),
  toDay: integer(),
  createdAtMs: integer(),
});

/** The store of declared outages. */
export function outageStore(engine: Engine): OutageStore {
  return {
    list: (organization) => engine.alone(outagesOf(organization)),

    add: async (organization, days, by, nowMs) => {
      const { fromDay, toDay } = checkedOutage(days);
      return engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        const outages = yield* outagesOf(organization);
        const known = outages.find((one) => one.fromDay === fromDay && one.toDay === toDay);
        if (known !== undefined) return known;
        if (outages.length >= maxDeclaredOutages) throw tooManyOutages();
        const added = yield* returningOne(storedOutage)`
          INSERT INTO declared_outages (organization, from_day, to_day, created_at_ms)
          VALUES (${organization}, ${fromDay}, ${toDay}, ${nowMs})`;
        yield* audit.note(organization, outageAddedNote(added), by, nowMs);
        return added;
      });
    },

    remove: (organization, id, by, nowMs) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const [removed] = yield* returning(storedOutage)`
          DELETE FROM declared_outages WHERE organization = ${organization} AND id = ${id}`;
        if (removed === undefined) throw noOutage(id);
        yield* audit.note(organization, outageRemovedNote(removed), by, nowMs);
      }),
  };
}

function outagesOf(organization: number) {
  return select(storedOutage)`
    FROM declared_outages WHERE organization = ${organization} ORDER BY from_day, to_day, id`;
}
