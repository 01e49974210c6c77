/**
 * What the dashboard can ask of the server, derived from the contract's table of routes: a wrong path, parameter or body does
 * not compile. Types alone, so that no schema is carried to the browser.
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

/** What is read of an organization, by path. */
export type Reads = {
  [Name in OfOrganization as Name extends `GET ${infer Path}` ? Path : never]: Ask<Name>;
};

/** What is changed in an organization, by method and path. */
export type Changes = {
  [Name in OfOrganization as Name extends `GET ${string}` ? never : Name]: Ask<Name>;
};

/** What people do for themselves, in no organization. */
export type PersonalChanges = {
  [Name in WithAccess<"anybody" | "session"> as Name extends `GET ${string}` ? never : Name]: Ask<Name>;
};

/** The names after colons in a path, each with its value; nothing for a path without. */
export type PathParameters<Path extends string> = [PathNames<Path>] extends [never]
  ? unknown
  : { readonly [Name in PathNames<Path>]: string | number };
