/** The handler of every route that analysis answers. */

import { accountsHandlers } from "../figures/accounts.ts";
import { callListHandlers } from "../figures/call-list.ts";
import { churnReasonsHandlers } from "../figures/churn-reasons.ts";
import { engagementHandlers } from "../figures/engagement.ts";
import { entitiesHandlers } from "../figures/entities.ts";
import { listsHandlers } from "../figures/lists.ts";
import { modelHandlers } from "../figures/model.ts";
import { operationHandlers } from "../figures/operation.ts";
import { overviewHandlers } from "../figures/overview.ts";
import { payersHandlers } from "../figures/payers.ts";
import { retentionHandlers } from "../figures/retention.ts";
import { revenueHandlers } from "../figures/revenue.ts";
import { scoreListsHandlers } from "../figures/score-lists.ts";
import { scoresHandlers } from "../figures/scores.ts";
import { settingsHandlers } from "../figures/settings.ts";
import { sourcesHandlers } from "../figures/sources.ts";
import { usersHandlers } from "../figures/users.ts";
import type { AnalysisHandlers } from "../http/api/context.ts";
import { alertsHandlers } from "./alerts/alert-list.ts";
import { ruleFiguresHandlers } from "./alerts/rule-figure-handlers.ts";
import { rulePreviewHandlers } from "./alerts/rule-preview.ts";
import { digestHandlers } from "./digest/handlers.ts";
import { timelinesHandlers } from "./notes-and-tasks/timelines.ts";
import { resultsHandlers } from "./results/handlers.ts";
import { segmentFigureHandlers } from "./segments/figures.ts";
import { segmentHistoryHandlers } from "./segments/history.ts";
import { winBackHandlers } from "./win-back.ts";

export const analysisHandlers: AnalysisHandlers = {
  ...accountsHandlers,
  ...alertsHandlers,
  ...callListHandlers,
  ...churnReasonsHandlers,
  ...digestHandlers,
  ...engagementHandlers,
  ...entitiesHandlers,
  ...listsHandlers,
  ...modelHandlers,
  ...operationHandlers,
  ...overviewHandlers,
  ...payersHandlers,
  ...resultsHandlers,
  ...retentionHandlers,
  ...revenueHandlers,
  ...ruleFiguresHandlers,
  ...rulePreviewHandlers,
  ...scoreListsHandlers,
  ...scoresHandlers,
  ...segmentFigureHandlers,
  ...segmentHistoryHandlers,
  ...settingsHandlers,
  ...sourcesHandlers,
  ...timelinesHandlers,
  ...usersHandlers,
  ...winBackHandlers,
};
