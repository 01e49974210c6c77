/** All tools of assistants, in the order in which they are listed. */
import type { Tool } from "../tool.ts";
import { explainScoreChange, getAccount, getUser, listCustomers } from "./customers.ts";
import {
  getChurnReasons,
  getModelCard,
  getResults,
  previewAlertRule,
  queryActivity,
  queryRetention,
  queryRevenue,
} from "./figures.ts";
import { getCallList, getWeekSummary, getWorkspace } from "./overview.ts";
import { addNote, createTask, handleAlert } from "./writes.ts";

export const tools: readonly Tool[] = [
  getWorkspace,
  getWeekSummary,
  getCallList,
  listCustomers,
  getUser,
  getAccount,
  explainScoreChange,
  queryRetention,
  queryActivity,
  queryRevenue,
  getChurnReasons,
  getModelCard,
  getResults,
  previewAlertRule,
  addNote,
  createTask,
  handleAlert,
];
