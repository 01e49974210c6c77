/** The routes of the JSON API about retention cohorts. */
import {
  RetentionAnswer,
  RetentionComparisonAnswer,
  RetentionComparisonParameters,
  RetentionParameters,
  RetentionPeopleAnswer,
  RetentionPeopleParameters,
} from "../../../contract/api/retention.ts";
import { figure } from "../api/freshness.ts";
import type { ApiRoute } from "../api/route.ts";
import { comparisonOfGroups, peopleOfCell, retentionCohorts } from "./retention.ts";

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
    path: "/api/retention/comparison",
    right: "read",
    summary: "Whether groups of users are retained differently",
    query: RetentionComparisonParameters,
    answer: RetentionComparisonAnswer,
    table: "groups",
    handler: comparisonOfGroups,
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
