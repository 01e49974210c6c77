/** The JSON API's part of the OpenAPI document, from its table of routes. */
import type { TSchema } from "typebox";
import { type ApiErrorName, apiErrorStatus, errorMessages } from "../../../contract/errors.ts";
import { isJsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import { organizationParameter } from "../../../contract/members.ts";
import { bodyTypes } from "../api/body.ts";
import type { ApiRoute } from "../api/route.ts";
import type { PeopleAccess, PeopleRoute } from "../members/route.ts";

const errors: Record<Exclude<ApiErrorName, "conflict">, string> = {
  validation_error: "A parameter, or a field of the body, is not valid: the message names it.",
  invalid_write_key: `${errorMessages.invalidReadKey} Or nobody is signed in.`,
  forbidden: "The read key or the role lacks the right, or a page of another site sent the request.",
  not_found: "What was asked for is not there.",
  rate_limit_exceeded: `${errorMessages.tooManyRequests} Retry-After says how many seconds to wait.`,
  application_error: `${errorMessages.unexpected} Or: ${errorMessages.analysisStarting}.`,
};

/** The document's paths for these routes: `/api/users/{userId}` and what can be done there. */
export function apiPaths(routes: readonly ApiRoute[]): Record<string, object> {
  return pathsOf(routes, operation);
}

function pathsOf<Route extends { readonly path: string; readonly method: string }>(
  routes: readonly Route[],
  describe: (route: Route) => object,
): Record<string, object> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describe(route) };
  }
  return paths;
}

function operation(route: ApiRoute): object {
  const { summary, right, body, answer, table } = route;
  const json = { "application/json": { schema: answer } };
  return {
    summary,
    description: `Needs a read key with the right to ${right}, or a session whose role has it.`,
    security: [{ readKey: [] }, { session: [] }],
    parameters: [...parameters(route), ofOrganization(false)],
    ...(body !== undefined && { requestBody: requestBody(body) }),
    responses: {
      200: {
        description: summary,
        content: table === undefined ? json : { ...json, "text/csv": { schema: { type: "string" } } },
      },
      ...errorResponses(isVersioned(body) ? { ...errors, conflict } : errors),
    },
  };
}

const conflict =
  "The change was based on a version that is not the current one. The answer has the current one as `version`.";

/** Whether a body can name the version that its change is based on. */
function isVersioned(body: TSchema | undefined): boolean {
  return body !== undefined && "properties" in body && Object.hasOwn(Object(body.properties), "version");
}

function errorResponses(described: Partial<Record<ApiErrorName, string>>): object {
  return Object.fromEntries(
    Object.entries(described).map(([name, description]) => [
      apiErrorStatus[name as ApiErrorName],
      {
        description: `\`${name}\`: ${description}`,
        content: { "application/json": { schema: { $ref: "#/components/schemas/ApiError" } } },
      },
    ]),
  );
}

/** Which of the person's organizations is meant. */
function ofOrganization(required: boolean): object {
  return {
    ...{ name: organizationParameter, in: "query", required, schema: { type: "integer", minimum: 1 } },
    description: `The organization's id: needed with a session${required ? "" : ", refused with a read key"}.`,
  };
}

const peopleErrors: typeof errors = {
  ...errors,
  invalid_write_key: "Not signed in, or a wrong password: the message says which.",
  application_error: errorMessages.unexpected,
};

const accessInWords: Record<PeopleAccess, string> = {
  anybody: "Needs no session.",
  session: "Needs a session.",
  read: "Needs a session of a member.",
  manage: "Needs a session of an owner or member, not of a viewer.",
  erase: "Needs a session of an owner.",
  own: "Needs a session of an owner.",
};

/** The document's paths for the routes of people. */
export function peoplePaths(routes: readonly PeopleRoute[]): Record<string, object> {
  return pathsOf(routes, peopleOperation);
}

function peopleOperation({
  path,
  access,
  summary,
  query,
  body,
  answer,
  status,
  isStream,
}: PeopleRoute): object {
  const isOfOrganization = access !== "anybody" && access !== "session";
  const type = isStream === true ? "text/event-stream" : "application/json";
  const content = answer === undefined ? {} : { content: { [type]: { schema: answer } } };
  return {
    summary,
    description: accessInWords[access],
    security: access === "anybody" ? [] : [{ session: [] }],
    parameters: [...parameters({ path, query }), ...(isOfOrganization ? [ofOrganization(true)] : [])],
    ...(body !== undefined && {
      requestBody: { required: true, content: { "application/json": { schema: body } } },
    }),
    responses: { [status]: { description: summary, ...content }, ...errorResponses(peopleErrors) },
  };
}

function requestBody(schema: TSchema): object {
  return {
    description: `At most ${limits.bodyBytes / 1024} KiB, which may be compressed (Content-Encoding: gzip or deflate).`,
    required: true,
    content: Object.fromEntries(bodyTypes.map((type) => [type, { schema }])),
  };
}

function parameters({ path, query, table }: Pick<ApiRoute, "path" | "query" | "table">): object[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const properties = "properties" in query && isJsonObject(query.properties) ? query.properties : {};
  const required = "required" in query && Array.isArray(query.required) ? query.required : [];
  const inQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name) && !(isJsonObject(schema) && "default" in schema),
    ...(isJsonObject(schema) && schema.type === "array"
      ? { content: { "application/json": { schema } } }
      : { schema }),
  }));
  const formats = table === undefined ? ["json"] : ["json", "csv"];
  const format = { name: "format", in: "query", schema: { enum: formats, default: "json" } };
  const columns = {
    name: "columns",
    in: "query",
    description:
      "With format=csv: these columns in this order, between commas. `traits.plan` is the trait `plan`. Without it, all columns. The CSV has all rows unless `limit` is sent.",
    schema: { type: "string" },
  };
  return [...inPath, ...inQuery, ...(table === undefined ? [] : [format, columns])];
}
