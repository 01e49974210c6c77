/** The tools whose exports are imported, and the translations of their rows. */

import { importTools } from "../../../contract/api/imports.ts";
import { translateAmplitudeRow } from "./amplitude.ts";
import type { ExportTranslation } from "./export.ts";
import { translateMixpanelRow } from "./mixpanel.ts";
import { translatePosthogRow } from "./posthog.ts";
import { translateSegmentRow } from "./segment.ts";
import { translateStripeRow } from "./stripe.ts";

/** The tools, by their names on the command line. */
export const exportTools = importTools;
export type ExportTool = (typeof exportTools)[number];

/** The translation of each tool's rows. */
export const exportTranslations: Readonly<Record<ExportTool, ExportTranslation>> = {
  mixpanel: translateMixpanelRow,
  amplitude: translateAmplitudeRow,
  posthog: translatePosthogRow,
  segment: translateSegmentRow,
  rudderstack: translateSegmentRow,
  stripe: translateStripeRow,
};
