/** The routes of the JSON API about what sends. */
import { NoParameters } from "../../../contract/api/api.ts";
import { SourceRetiredAnswer, SourcesAnswer } from "../../../contract/sources.ts";
import { type ApiRoute, route } from "../api/route.ts";
import { retire, sources } from "./sources.ts";

export const sourceRoutes: readonly ApiRoute[] = [
  route({
    method: "GET",
    path: "/api/sources",
    right: "read",
    summary: "What each source sends, when it sent last, and whether it has fallen silent",
    query: NoParameters,
    answer: SourcesAnswer,
    handler: sources,
  }),
  route({
    method: "POST",
    path: "/api/sources/:source/retire",
    right: "manage",
    summary: "Say that a source was removed: scores no longer wait for it. Its next item undoes it",
    query: NoParameters,
    answer: SourceRetiredAnswer,
    handler: retire,
  }),
];
