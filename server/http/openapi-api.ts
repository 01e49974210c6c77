/** The JSON API's part of the OpenAPI document, from its table of routes. */
import type { TSchema } from "typebox";
import { type ErrorName, errorMessages, errorStatus } from "../../contract/errors.ts";
import { limits } from "../../contract/limits.ts";
import { isJsonObject } from "../ledger/ledger.ts";
import type { ApiRoute } from "./api.ts";
import { bodyTypes } from "./api-body.ts";

const errors: Record<ErrorName, string> = {
  validation_error: "A parameter, or a field of the body, is not valid: the message names it.",
  invalid_write_key: `${errorMessages.invalidReadKey} Or the key lacks the right, which the message names.`,
  not_found: "What was asked for is not there.",
  rate_limit_exceeded: `${errorMessages.tooManyRequests} Retry-After says how many seconds to wait.`,
  application_error: `${errorMessages.unexpected} Or: ${errorMessages.analysisStarting}.`,
};

/** The document's paths for these routes: `/api/users/{userId}` and what can be done there. */
export function apiPaths(routes: readonly ApiRoute[]): Record<string, object> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return paths;
}

function operation(route: ApiRoute): object {
  const { summary, right, body, answer, table } = route;
  const json = { "application/json": { schema: answer } };
  return {
    summary,
    description: `Needs a read key with the right to ${right}.`,
    security: [{ readKey: [] }],
    parameters: parameters(route),
    ...(body !== undefined && { requestBody: requestBody(body) }),
    responses: {
      200: {
        description: summary,
        content: table === undefined ? json : { ...json, "text/csv": { schema: { type: "string" } } },
      },
      ...Object.fromEntries(
        Object.entries(errors).map(([name, description]) => [
          errorStatus[name as ErrorName],
          {
            description: `\`${name}\`: ${description}`,
            content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
          },
        ]),
      ),
    },
  };
}

function requestBody(schema: TSchema): object {
  return {
    description: `At most ${limits.bodyBytes / 1024} KiB, which may be compressed (Content-Encoding: gzip or deflate).`,
    required: true,
    content: Object.fromEntries(bodyTypes.map((type) => [type, { schema }])),
  };
}

function parameters({ path, query, table }: ApiRoute): object[] {
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
    schema,
  }));
  const formats = table === undefined ? ["json"] : ["json", "csv"];
  const format = { name: "format", in: "query", schema: { enum: formats, default: "json" } };
  return [...inPath, ...inQuery, ...(table === undefined ? [] : [format])];
}
