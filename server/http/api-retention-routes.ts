/** The routes of the JSON API about retention cohorts. */
import {
  RetentionAnswer,
  RetentionParameters,
  RetentionPeopleAnswer,
  RetentionPeopleParameters,
} from "../../contract/api-retention.ts";
import type { ApiRoute } from "./api.ts";
import { figure } from "./api-freshness.ts";
import { peopleOfCell, retentionCohorts } from "./api-retention.ts";

export const retentionRoutes: readonly ApiRoute[] = [
  figure({
    method: "GET",
    path: "/api/retention",
    right: "read",
    summary: "Retention cohorts",
    query: RetentionParameters,
    answer: RetentionAnswer,
    table: "cells",
    handler: retentionCohorts,
  }),
  figure({
    method: "GET",
    path: "/api/retention/people",
    right: "read",
    summary: "The people behind a cell of the retention cohorts",
    query: RetentionPeopleParameters,
    answer: RetentionPeopleAnswer,
    table: "people",
    handler: peopleOfCell,
  }),
];
