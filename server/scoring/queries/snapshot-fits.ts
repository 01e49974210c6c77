/**
 * The stored fits of BG/BB to snapshots. A fit takes tenths of a second, and a training needs those of 49
 * days. The hash of the cells says whether a fit still belongs to them.
 */
import { versionAbove } from "../../process/time.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { BgbbFit, CountedCell } from "../churn/bgbb-fit.ts";
import { keepRecord, recordOf } from "../run/records.ts";
import type { Population } from "./engagement-events.ts";

/** The fit that was stored for these cells of a day; undefined without a fit. */
export async function storedFit(
  warehouse: Warehouse,
  { organization, kind }: Population,
  day: number,
  cells: readonly CountedCell[],
): Promise<BgbbFit | undefined> {
  const kept = await recordOf(warehouse, { organization, kind, what: "fit" }, day);
  return kept?.body.settingsKey === hashOf(cells) ? kept.body.fit : undefined;
}

/** Stores the fit to these cells of a day. */
export async function keepFit(
  warehouse: Warehouse,
  { organization, kind }: Population,
  day: number,
  { cells, fit }: { readonly cells: readonly CountedCell[]; readonly fit: BgbbFit },
): Promise<void> {
  const key = { organization, kind, what: "fit" } as const;
  const kept = await recordOf(warehouse, key, day);
  const version = versionAbove(kept?.version ?? 0);
  await keepRecord(warehouse, key, { day, version, body: { settingsKey: hashOf(cells), fit } });
}

function hashOf(cells: readonly CountedCell[]): string {
  const text = cells.map(({ x, t, n, count }) => `${x} ${t} ${n} ${count}`).join();
  return Bun.hash(text).toString(16);
}
