/** Requests to routes of the JSON API that the service makes itself: for the command line and for
 * assistants. */
import type { PathNames } from "../../../contract/api/route.ts";
import type { RouteBody, RouteName } from "../../../contract/api/routes.ts";

/** A request to the API. */
export interface Asked {
  readonly method: string;
  /** With its parameters. */
  readonly path: string;
  /** As JSON. */
  readonly body?: string;
}

/** The parts of a request to a route. */
export interface SentTo<Name extends RouteName> {
  readonly path?: Readonly<Record<PathNames<Name>, string | number>>;
  /** Parameters that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: RouteBody<Name>;
}

/** A request to a route by its parts. */
export function askedBy<Name extends RouteName>(
  name: Name,
  {
    path = {},
    query = {},
    body,
  }: { readonly path?: object; readonly query?: object; readonly body?: unknown },
): Asked {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(key, String(value));
  }
  return askedOf(name, Object.fromEntries(Object.entries(path)), parameters, body);
}

/** A request to a route. @param name its method and path @param values of the names in the path */
export function askedOf(
  name: string,
  values: Readonly<Record<string, string | number>>,
  query: URLSearchParams,
  body: unknown,
): Asked {
  const [method = "", pattern = ""] = name.split(" ");
  const pathname = pattern.replace(/:(\w+)/g, (_, key) => encodeURIComponent(values[key] ?? ""));
  const path = query.size === 0 ? pathname : `${pathname}?${query}`;
  if (method === "GET" || method === "DELETE") return { method, path };
  return { method, path, body: JSON.stringify(body ?? {}) };
}
