/** Every route of the JSON API, on one screen. The OpenAPI document is made of the same table. */
import { ErasureAnswer, NoParameters, UserAnswer } from "../../contract/api.ts";
import {
  TimelineAnswer,
  TimelineParameters,
  TraitsAnswer,
  UserListAnswer,
  UserListParameters,
} from "../../contract/api-people.ts";
import { type ApiRoute, route } from "./api.ts";
import { accountRoutes } from "./api-account-routes.ts";
import { engagementRoutes } from "./api-engagement-routes.ts";
import { figure } from "./api-freshness.ts";
import { allUsers, traitsOfUsers, usersOnPage } from "./api-lists.ts";
import { operationRoutes } from "./api-operation-routes.ts";
import { retentionRoutes } from "./api-retention-routes.ts";
import { scoreRoutes } from "./api-score-routes.ts";
import { settingsRoutes } from "./api-settings-routes.ts";
import { eraseOneUser, oneUser, userTimeline } from "./api-users.ts";

export const apiRoutes: readonly ApiRoute[] = [
  figure({
    method: "GET",
    path: "/api/users",
    right: "read",
    summary: "Users with their traits and scores, searched, filtered and sorted, a page at a time",
    query: UserListParameters,
    answer: UserListAnswer,
    table: "users",
    handler: usersOnPage,
    everything: allUsers,
  }),
  figure({
    method: "GET",
    path: "/api/traits",
    right: "read",
    summary: "The traits that users have, and their most frequent values",
    query: NoParameters,
    answer: TraitsAnswer,
    table: "traits",
    handler: traitsOfUsers,
  }),
  route({
    method: "GET",
    path: "/api/users/:userId",
    right: "read",
    summary: "A user",
    query: NoParameters,
    answer: UserAnswer,
    handler: oneUser,
  }),
  route({
    method: "DELETE",
    path: "/api/users/:userId",
    right: "erase",
    summary: "Erase a user",
    query: NoParameters,
    answer: ErasureAnswer,
    handler: eraseOneUser,
  }),
  route({
    method: "GET",
    path: "/api/users/:userId/timeline",
    right: "read",
    summary: "What a user did last",
    query: TimelineParameters,
    answer: TimelineAnswer,
    table: "events",
    handler: userTimeline,
  }),
  ...accountRoutes,
  ...engagementRoutes,
  ...retentionRoutes,
  ...scoreRoutes,
  ...operationRoutes,
  ...settingsRoutes,
];
