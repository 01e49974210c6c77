/** The import of another tool's export: its rows become the items of its live messages. */
import { Zone } from "../../../calendar/zone.ts";
import type { ImportRow } from "../../../intake/import-rows.ts";
import type { ExportContext } from "../../../sources/exports/export.ts";
import { type ExportTool, exportTranslations } from "../../../sources/exports/exports.ts";
import { refuseDamagedExport } from "./export-content.ts";
import { exportFormOf, objectOfRow, openExport } from "./export-rows.ts";
import type { ImportFile } from "./file.ts";
import { KnownTraits } from "./known-traits.ts";
import type { ImportPlan } from "./plan.ts";
import type { Row } from "./row.ts";
import { unmatchedCustomers } from "./unmatched.ts";

/** Tools in whose exports the account is a property, or one of several types of groups. */
export const withAccountProperty: readonly ExportTool[] = ["mixpanel", "amplitude"];

/** What an export does not say itself. */
export interface ExportOptions {
  /** The usual name of the timezone of Mixpanel's times. */
  readonly timezone?: string | undefined;
  /** Of a tool in `withAccountProperty`. */
  readonly accountProperty?: string | undefined;
  /** Of Stripe: customers who match no user become users. */
  readonly createUnmatched?: true | undefined;
  readonly nowMs: number;
}

/** How the file is imported. */
export async function exportPlan(
  file: ImportFile,
  tool: ExportTool,
  { timezone: name, accountProperty, createUnmatched, nowMs }: ExportOptions,
): Promise<ImportPlan> {
  const form = await exportFormOf(file, tool);
  const createdCustomers = new Set<string>();
  const context: ExportContext = {
    nowMs,
    createdCustomers,
    zone: name === undefined ? undefined : new Zone(name),
    accountProperty,
  };
  return {
    what: `an export of ${tool}`,
    open: () => openExport(file, form),
    translator: () => translator(tool, context),
    refuseDamaged: () => refuseDamagedExport(file.path, form.packing),
    text: JSON.stringify({
      version: 1,
      type: "events",
      from: tool,
      timezone: name,
      accountProperty,
      createUnmatched,
    }),
    holdsEvents: true,
    ...(tool === "stripe" && {
      findUnmatched: async (check) => {
        const customers = await unmatchedCustomers(openExport(file, form), context.nowMs, check);
        const areCreated = createUnmatched === true;
        for (const { id, email } of areCreated ? customers : [])
          if (email !== undefined) createdCustomers.add(id);
        return { customers, areCreated };
      },
    }),
  };
}

/** Of a row that has thousands of values that were changed, the first ones are told. */
const maxChangedOfRow = 20;

function translator(tool: ExportTool, context: ExportContext): (row: Row) => ImportRow {
  const translate = exportTranslations[tool];
  const traits = new KnownTraits();
  return (row) => {
    if ("unreadable" in row) return { invalid: row.unreadable };
    const translated = translate(objectOfRow(row), context);
    if (!("items" in translated)) return translated;
    const { changed = [] } = row;
    const items = traits.needed(translated.items);
    return changed.length === 0 ? { items } : { items, changed: changed.slice(0, maxChangedOfRow) };
  };
}
