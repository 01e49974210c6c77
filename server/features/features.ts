/** All features of the ledger, in an order in which rows refer only to rows of earlier ones. */
import type { Feature } from "../ledger/feature.ts";
import { sending } from "../sending/feature.ts";
import { alerts } from "./alerts/feature.ts";
import { assistants } from "./assistants/feature.ts";
import { imports } from "./imports/feature.ts";
import { notesAndTasks } from "./notes-and-tasks/feature.ts";
import { pulse } from "./pulse/feature.ts";
import { savedViews } from "./saved-views/feature.ts";
import { segments } from "./segments/feature.ts";
import { sourceSettings } from "./source-settings/feature.ts";

export const features: readonly Feature[] = [
  savedViews,
  sourceSettings,
  notesAndTasks,
  segments,
  sending,
  alerts,
  pulse,
  assistants,
  imports,
];
