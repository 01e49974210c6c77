/** The routes of the JSON API about an organization's settings. */
import { NoParameters } from "../../../contract/api/api.ts";
import { DeparturesAnswer } from "../../../contract/api/departures.ts";
import {
  SettingsAnswer,
  SettingsChangeBody,
  SettingsHistoryAnswer,
  SettingsHistoryParameters,
} from "../../../contract/settings.ts";
import { type ApiRoute, route } from "../api/route.ts";
import { departuresToAnswer } from "./departures.ts";
import { changeSettings, presentSettings, settingsHistory } from "./settings.ts";

export const settingsRoutes: readonly ApiRoute[] = [
  route({
    method: "GET",
    path: "/api/settings",
    right: "read",
    summary: "The organization's settings",
    query: NoParameters,
    answer: SettingsAnswer,
    handler: presentSettings,
  }),
  route({
    method: "PATCH",
    path: "/api/settings",
    right: "manage",
    summary: "Change settings",
    query: NoParameters,
    body: SettingsChangeBody,
    answer: SettingsAnswer,
    handler: changeSettings,
  }),
  route({
    method: "GET",
    path: "/api/departures",
    right: "read",
    summary: "Events that may mean that users have left, and wait for an answer",
    query: NoParameters,
    answer: DeparturesAnswer,
    table: "events",
    handler: departuresToAnswer,
  }),
  route({
    method: "GET",
    path: "/api/settings/history",
    right: "read",
    summary: "Who changed which settings, and when",
    query: SettingsHistoryParameters,
    answer: SettingsHistoryAnswer,
    table: "versions",
    handler: settingsHistory,
  }),
];
