/** Every route of the JSON API, on one screen. The OpenAPI document is made of the same table. */
import {
  ActiveUsersAnswer,
  ActiveUsersParameters,
  ErasureAnswer,
  NoParameters,
  RetentionAnswer,
  TimelineAnswer,
  TimelineParameters,
  UserAnswer,
} from "../../contract/api.ts";
import { type ApiRoute, route } from "./api.ts";
import { activeUsersByDay, retentionByWeek } from "./api-figures.ts";
import { scoreRoutes } from "./api-score-routes.ts";
import { eraseOneUser, oneUser, userTimeline } from "./api-users.ts";

export const apiRoutes: readonly ApiRoute[] = [
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
  route({
    method: "GET",
    path: "/api/active-users",
    right: "read",
    summary: "Users who did anything, by day",
    query: ActiveUsersParameters,
    answer: ActiveUsersAnswer,
    table: "days",
    handler: activeUsersByDay,
  }),
  route({
    method: "GET",
    path: "/api/retention",
    right: "read",
    summary: "Weekly retention",
    query: NoParameters,
    answer: RetentionAnswer,
    table: "cells",
    handler: retentionByWeek,
  }),
  ...scoreRoutes,
];
