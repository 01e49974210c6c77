/** All features of the ledger, in an order in which rows refer only to rows of earlier ones. */
import type { Feature } from "../ledger/feature.ts";
import { notesAndTasks } from "./notes-and-tasks/feature.ts";
import { savedViews } from "./saved-views/feature.ts";

export const features: readonly Feature[] = [savedViews, notesAndTasks];
