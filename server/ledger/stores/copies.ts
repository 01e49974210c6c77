/** Notices that a ledger was restored, copied or moved. */
import { forUpdate } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import type { Feature } from "../feature.ts";
import { RowOf, run, select, text } from "../sql.ts";

const placeRow = new RowOf<{ readonly place: string }>({ place: text() });

/** The store of the ledger's place. */
export function copyStore(engine: Engine, features: readonly Feature[]) {
  return {
    /** Pauses what two installations must not do at once (`Feature.pauseElsewhere`) when the ledger is at
     * another place than before. The new place is in the same commit.
     * @param place names the storage of the ledger, as `Ledger.place` does. @returns how much was paused */
    pauseElsewhere: (place: string, nowMs: number): Promise<number> =>
      engine.transaction(function* (audit) {
        const [before] = yield* select(placeRow)`FROM ledger_place ${forUpdate}`;
        if (before?.place === place) return 0;
        yield* run`
          INSERT INTO ledger_place (only_row, place) VALUES (1, ${place})
          ON CONFLICT (only_row) DO UPDATE SET place = excluded.place`;
        let paused = 0;
        for (const { pauseElsewhere: pause } of features)
          if (pause !== undefined) paused += yield* pause(audit, nowMs);
        return paused;
      }),
  };
}

export type CopyStore = ReturnType<typeof copyStore>;
