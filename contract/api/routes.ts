/**
 * Every route of the JSON API, by method and path. The server's handlers, the OpenAPI document, the
 * commands of `rekindle` and the dashboard's types are made from this table.
 */
import type { Static, TSchema } from "typebox";
import { analysisRoutes } from "./analysis-routes.ts";
import { intakeRoutes } from "./intake-routes.ts";
import type { Route } from "./route.ts";

export const routes = { ...analysisRoutes, ...intakeRoutes } satisfies Record<string, Route>;

export type Routes = typeof routes;
export type AnalysisRouteName = keyof typeof analysisRoutes;
export type IntakeRouteName = keyof typeof intakeRoutes;
export type RouteName = keyof Routes;

/** The parameters of a route as its handler gets them. */
export type RouteQuery<Name extends RouteName> = Static<Routes[Name]["query"]>;

/** The body that a route takes. */
export type RouteBody<Name extends RouteName> = Routes[Name] extends {
  readonly body: infer Body extends TSchema;
}
  ? Static<Body>
  : undefined;

/** The answer of a route, without the freshness of a figure. */
export type RouteAnswer<Name extends RouteName> = Routes[Name] extends {
  readonly answer: infer Answer extends TSchema;
}
  ? Static<Answer>
  : undefined;
