/** The handler of every route that analysis answers. */
import type { AnalysisHandlers } from "../api/context.ts";
import { accountsHandlers } from "./accounts.ts";
import { engagementHandlers } from "./engagement.ts";
import { entitiesHandlers } from "./entities.ts";
import { listsHandlers } from "./lists.ts";
import { modelHandlers } from "./model.ts";
import { operationHandlers } from "./operation.ts";
import { overviewHandlers } from "./overview.ts";
import { retentionHandlers } from "./retention.ts";
import { revenueHandlers } from "./revenue/handlers.ts";
import { payersHandlers } from "./revenue/payers.ts";
import { scoreListsHandlers } from "./score-lists.ts";
import { scoresHandlers } from "./scores.ts";
import { segmentFigureHandlers } from "./segments/handlers.ts";
import { segmentHistoryHandlers } from "./segments/history.ts";
import { settingsHandlers } from "./settings.ts";
import { sourcesHandlers } from "./sources.ts";
import { usersHandlers } from "./users.ts";
import { alertsHandlers } from "./work/alerts.ts";
import { callListHandlers } from "./work/call-list.ts";
import { digestHandlers } from "./work/digest.ts";
import { ruleFiguresHandlers } from "./work/rule-figures.ts";
import { rulePreviewHandlers } from "./work/rule-preview.ts";
import { timelinesHandlers } from "./work/timelines.ts";
import { winBackHandlers } from "./work/win-back.ts";

export const analysisHandlers: AnalysisHandlers = {
  ...accountsHandlers,
  ...alertsHandlers,
  ...callListHandlers,
  ...digestHandlers,
  ...engagementHandlers,
  ...entitiesHandlers,
  ...listsHandlers,
  ...modelHandlers,
  ...operationHandlers,
  ...overviewHandlers,
  ...payersHandlers,
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
