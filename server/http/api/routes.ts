/** Every route of the JSON API, on one screen. The OpenAPI document is made of the same table. */
import { EraseParameters, ErasureAnswer, NoParameters, UserAnswer } from "../../../contract/api/api.ts";
import {
  LatestEventAnswer,
  TimelineAnswer,
  TimelineParameters,
  UserListAnswer,
  UserListParameters,
} from "../../../contract/api/lists.ts";
import { TraitsAnswer, TraitsParameters } from "../../../contract/api/traits.ts";
import { accountRoutes } from "../figures/account-routes.ts";
import { engagementRoutes } from "../figures/engagement-routes.ts";
import { entityRoutes } from "../figures/entity-routes.ts";
import { latestOfAll } from "../figures/latest-event.ts";
import { allUsers, usersOnPage } from "../figures/lists.ts";
import { operationRoutes } from "../figures/operation-routes.ts";
import { overviewRoutes } from "../figures/overview-routes.ts";
import { retentionRoutes } from "../figures/retention-routes.ts";
import { scoreRoutes } from "../figures/score-routes.ts";
import { settingsRoutes } from "../figures/settings-routes.ts";
import { sourceRoutes } from "../figures/source-routes.ts";
import { namesOfTraits } from "../figures/traits.ts";
import { eraseOneUser, oneUser, userTimeline } from "../figures/users.ts";
import { figure } from "./freshness.ts";
import { type ApiRoute, route } from "./route.ts";

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
    query: EraseParameters,
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
  figure({
    method: "GET",
    path: "/api/latest-event",
    right: "read",
    summary: "The last event of anybody",
    query: NoParameters,
    answer: LatestEventAnswer,
    handler: latestOfAll,
  }),
  figure({
    method: "GET",
    path: "/api/traits",
    right: "read",
    summary: "Which traits users have, and which values of them",
    query: TraitsParameters,
    answer: TraitsAnswer,
    table: "traits",
    handler: namesOfTraits,
  }),
  ...accountRoutes,
  ...entityRoutes,
  ...engagementRoutes,
  ...retentionRoutes,
  ...scoreRoutes,
  ...overviewRoutes,
  ...operationRoutes,
  ...settingsRoutes,
  ...sourceRoutes,
];
