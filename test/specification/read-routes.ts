/** The addresses that read, made of the server's table of routes: a new route is in every test that asks all
 * of them. */
import { type Route, takesReadKeys } from "../../contract/api/route.ts";
import { routes } from "../../contract/api/routes.ts";
import type { Server } from "../server.ts";

export interface ReadRoute {
  /** Its path in the OpenAPI document: `/api/users/{userId}`. */
  readonly template: string;
  /** Its address, with the ids and the parameters that it must have. */
  readonly address: string;
  /** The array of its answer that is its table. */
  readonly table: string | undefined;
  /** The names of its parameters. */
  readonly parameters: readonly string[];
}

/** Values of parameters that have no default. */
const needed: Readonly<Record<string, string>> = {
  cohort: "2026-05-11",
  at: "0",
  kind: "user",
  key: "",
  value: "u",
  since: "2026-05-11",
};

/** In addresses, where the id of a segment is: it is known only when the tests run. */
const segmentPart = "id-of-a-segment";

/** Saves a segment. @returns a function that puts its id into an address */
export async function withSegment(
  server: Server,
  organization: string,
): Promise<(address: string) => string> {
  const filter = ["--filter", '{"seenWithinDays": 400}'];
  const named = ["--kind", "users", "--name", "Routes", "--organization", organization, "--json"];
  const { id } = JSON.parse(await server.command("segment", "create", ...named, ...filter)) as { id: number };
  return (address) => address.replace(segmentPart, String(id));
}

/** Every GET route that read keys may ask. @param ids values for the names in paths, encoded */
export function readRoutes(ids: Readonly<Record<string, string>>): readonly ReadRoute[] {
  return Object.entries<Route>(routes)
    .filter(([name, route]) => name.startsWith("GET ") && takesReadKeys(route))
    .map(([name, route]) => {
      const pattern = name.replace("GET ", "");
      const path = pattern.replace(
        /:(\w+)/g,
        (_, part: string) => ({ id: segmentPart, ...ids })[part] ?? part,
      );
      const query = neededParameters(route).map((parameter) => `${parameter}=${exampleOf(parameter, name)}`);
      return {
        template: pattern.replace(/:(\w+)/g, "{$1}"),
        address: query.length === 0 ? path : `${path}?${query.join("&")}`,
        table: route.table,
        parameters: Object.keys(propertiesOf(route)),
      };
    });
}

function exampleOf(parameter: string, route: string): string {
  const example = needed[parameter];
  if (example === undefined)
    throw new Error(
      `${route} requires ${parameter}: add an example to needed in test/specification/read-routes.ts`,
    );
  return example;
}

/** An address with one more parameter. */
export function withParameter(address: string, parameter: string): string {
  return `${address}${address.includes("?") ? "&" : "?"}${parameter}`;
}

function neededParameters(route: Route): string[] {
  const { required = [] }: { readonly required?: readonly string[] } = route.query;
  const properties = propertiesOf(route);
  return required.filter((name) => !("default" in (properties[name] ?? {})));
}

function propertiesOf(route: Route): Readonly<Record<string, object>> {
  const { properties = {} }: { readonly properties?: Readonly<Record<string, object>> } = route.query;
  return properties;
}
