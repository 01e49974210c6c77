/** A table of routes: finds the one that a request is for, and compiles the schemas of those that are asked. */
import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";

/** A route, and the values of the names in its path. */
export interface Found<Route> {
  readonly route: Route;
  readonly path: Record<string, string>;
}

export class RouteTable<Route extends { readonly method: string; readonly path: string }> {
  readonly #routes: readonly { readonly route: Route; readonly parts: readonly string[] }[];
  readonly #validators = new Map<TSchema, Validator>();

  constructor(routes: readonly Route[]) {
    this.#routes = routes.map((route) => ({ route, parts: route.path.split("/") }));
  }

  /** The route of a request; undefined when there is none. */
  find(method: string, pathname: string): Found<Route> | undefined {
    const asked = pathname.split("/");
    for (const { route, parts } of this.#routes) {
      if (route.method !== method) continue;
      const path = matchPath(parts, asked);
      if (path !== undefined) return { route, path };
    }
    return undefined;
  }

  /** Compiled when it is asked for first: all of them together would make every start longer. */
  validator(schema: TSchema): Validator {
    const validator = this.#validators.get(schema) ?? Compile(schema);
    this.#validators.set(schema, validator);
    return validator;
  }
}

/** The values of a path's names; undefined when it is another path. @param parts of the pattern, `:userId` say */
function matchPath(parts: readonly string[], asked: readonly string[]): Record<string, string> | undefined {
  if (parts.length !== asked.length) return undefined;
  const path: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const text = asked[index] ?? "";
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
