/** Finds the route of a request, and compiles the schemas of the routes that are used. */
import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import type { Route } from "../../../contract/api/route.ts";

/** A route, and the values of the names in its path. */
export interface Found {
  /** Its method and path: `GET /api/users/:userId`. */
  readonly name: string;
  readonly route: Route;
  readonly path: Record<string, string>;
}

export class RouteTable {
  readonly #routes: readonly { name: string; route: Route; method: string; parts: readonly string[] }[];
  readonly #validators = new Map<TSchema, Validator>();

  /** @param routes by method and path */
  constructor(routes: Readonly<Record<string, Route>>) {
    this.#routes = Object.entries(routes).map(([name, route]) => {
      const [method = "", path = ""] = name.split(" ");
      return { name, route, method, parts: path.split("/") };
    });
  }

  /** The route of a request; undefined when there is none. */
  find(method: string, pathname: string): Found | undefined {
    const segments = pathname.split("/");
    for (const { name, route, method: ofRoute, parts } of this.#routes) {
      if (ofRoute !== method) continue;
      const path = matchPath(parts, segments);
      if (path !== undefined) return { name, route, path };
    }
    return undefined;
  }

  /** Compiled at the first use: to compile all of them would make every start longer. */
  validator(schema: TSchema): Validator {
    const validator = this.#validators.get(schema) ?? Compile(schema);
    this.#validators.set(schema, validator);
    return validator;
  }
}

/** The values of a path's names; undefined for another path. @param parts of the pattern */
function matchPath(
  parts: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (parts.length !== segments.length) return undefined;
  const path: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const text = segments[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== text) return undefined;
      continue;
    }
    const value = decoded(text);
    if (value === undefined) return undefined;
    path[part.slice(1)] = value;
  }
  return path;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
