/**
 * The requests that the dashboard can make, derived from the contract's table of routes. A wrong path,
 * parameter or body does not compile. The file has types only, so that no schema reaches the browser.
 */
import type { Static, TObject, TProperties, TSchema } from "typebox";
import type { Freshness, PathNames, Route } from "../../contract/api/route.ts";
import type { RouteAnswer, RouteBody, RouteName, Routes } from "../../contract/api/routes.ts";

export type { Freshness } from "../../contract/api/route.ts";

/** Parameters that must be sent: those that are not optional and have no default. */
type Required<Properties extends TProperties> = {
  [Name in keyof Properties]: Properties[Name] extends { "~optional": true } | { default: unknown }
    ? never
    : Name;
}[keyof Properties];

type Query<Schema extends TSchema> =
  Schema extends TObject<infer Properties>
    ? Partial<Static<Schema>> & Pick<Static<Schema>, Required<Properties> & keyof Static<Schema>>
    : never;

/** A figure's answer says how fresh it is. */
type Answer<Name extends RouteName> = RouteAnswer<Name> &
  (Routes[Name] extends { readonly isFigure: true } ? { readonly freshness: Freshness } : unknown);

interface Ask<Name extends RouteName> {
  readonly query: Query<Routes[Name]["query"]>;
  readonly body: RouteBody<Name>;
  readonly answer: Answer<Name>;
}

/** Routes with this access. */
type WithAccess<Access extends Route["access"]> = {
  [Name in RouteName]: Routes[Name]["access"] extends Access ? Name : never;
}[RouteName];

type OfOrganization = WithAccess<"read" | "manage" | "erase" | "own">;

/** The reads of an organization, by path. */
export type Reads = {
  [Name in OfOrganization as Name extends `GET ${infer Path}` ? Path : never]: Ask<Name>;
};

/** The changes in an organization, by method and path. */
export type Changes = {
  [Name in OfOrganization as Name extends `GET ${string}` ? never : Name]: Ask<Name>;
};

/** The changes that users make to their own account, outside any organization. */
export type PersonalChanges = {
  [Name in WithAccess<"anybody" | "session"> as Name extends `GET ${string}` ? never : Name]: Ask<Name>;
};

/** The names after colons in a path, each with its value. Nothing for a path without names. */
export type PathParameters<Path extends string> = [PathNames<Path>] extends [never]
  ? unknown
  : { readonly [Name in PathNames<Path>]: string | number };
