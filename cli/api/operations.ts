/** The commands of the JSON API: a topic and a verb for each route, made from its method and its path. */
import { needsSession, type Route } from "../../contract/api/route.ts";
import { routes } from "../../contract/api/routes.ts";

/** A route as a command. */
export interface Operation {
  /** The route's method and path: `GET /api/segments/:id/history`. */
  readonly name: string;
  readonly route: Route;
  readonly topic: string;
  readonly verb: string;
  /** The names in the route's path, which are the command's arguments. */
  readonly parameters: readonly string[];
  /** Whether the topic alone runs it, as in `rekindle revenue`. */
  readonly isDefault: boolean;
}

/** Routes that have a command written by hand in place of their own, which does more, and its words. */
export const writtenByHand: Readonly<Record<string, string>> = {
  "GET /api/tokens": "token list",
  "POST /api/tokens": "token create",
  "DELETE /api/tokens/:id": "token revoke",
  "GET /api/read-keys": "key list",
  "POST /api/read-keys": "key create",
  "DELETE /api/read-keys/:id": "key revoke",
  "POST /api/invitations": "member invite",
  "POST /api/destinations/:id/test": "destination test",
  "POST /api/scores": "score",
};

const all: readonly (readonly [string, Route])[] = Object.entries(routes);
const names: ReadonlySet<string> = new Set(all.map(([name]) => name));

/** First parts of paths below which single things are: `segments` of `/api/segments/:id`. */
const collections: ReadonlySet<string> = new Set(
  all.flatMap(([name]) => /^\w+ \/api\/([^/]+)\/:/.exec(name)?.[1] ?? []),
);

const verbs: Readonly<Record<string, string>> = {
  POST: "create",
  PUT: "change",
  PATCH: "change",
  DELETE: "delete",
};

/** Every command of the API, in the order of the table. */
export const operations: readonly Operation[] = all
  .filter(([name, route]) => !needsSession(route) && !(name in writtenByHand))
  .map(([name, route]) => {
    const [topic = "", verb = ""] = route.command?.split(" ") ?? wordsOf(name, route);
    const parameters = [...name.matchAll(/:(\w+)/g)].map(([, parameter = ""]) => parameter);
    const isRead = (verb === "list" || verb === "show") && parameters.length === 0;
    return { name, route, topic, verb, parameters, isDefault: isRead && !collections.has(resourceOf(name)) };
  });

/** The first part of a route's path: `segments` of `GET /api/segments/:id/history`. */
export function resourceOf(name: string): string {
  return name.split("/")[2] ?? "";
}

/** `task list` for a list, `task change` for one of it. What follows in the path is the verb:
 * `segment history`; `user add-note`, when the same path is also read. */
function wordsOf(name: string, { table }: Route): readonly [string, string] {
  const [method = "", path = ""] = name.split(" ");
  const resource = resourceOf(name);
  const below = path.split("/").slice(3);
  const topic = collections.has(resource) ? singular(resource) : resource;
  const more = below.filter((part) => !part.startsWith(":")).join("-");
  if (more !== "") {
    const isAdded = method === "POST" && names.has(`GET ${path}`);
    return [topic, isAdded ? `add-${singular(more)}` : more];
  }
  const isList = below.length === 0 && (collections.has(resource) || table !== undefined);
  return [topic, verbs[method] ?? (isList ? "list" : "show")];
}

function singular(plural: string): string {
  return plural.replace(/ies$/, "y").replace(/s$/, "");
}
