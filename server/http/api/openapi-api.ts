/** The JSON API's part of the OpenAPI document, from its table of routes. */
import type { TSchema } from "typebox";
import { type Access, answerOf, type Route, takesReadKeys } from "../../../contract/api/route.ts";
import { routes } from "../../../contract/api/routes.ts";
import { type ApiErrorName, apiErrorStatus, errorMessages } from "../../../contract/errors.ts";
import { isJsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import { organizationParameter } from "../../../contract/members.ts";
import { bodyTypes, propertiesOf } from "./request.ts";

type Descriptions = Partial<Record<ApiErrorName, string>>;

const analysisErrors: Descriptions = {
  validation_error: "A parameter or a field of the body is not valid. The message names it.",
  invalid_write_key: `${errorMessages.invalidReadKey} Or nobody is signed in.`,
  forbidden: "The read key or the role lacks the right, or a page of another site sent the request.",
  not_found: "The requested object does not exist.",
  rate_limit_exceeded: `${errorMessages.tooManyRequests} Retry-After says how many seconds to wait.`,
  application_error: `${errorMessages.unexpected} Or: ${errorMessages.analysisStarting}.`,
};

const intakeErrors: Descriptions = {
  ...analysisErrors,
  invalid_write_key: "Not signed in, a wrong read key, or a wrong password: the message says which.",
  application_error: errorMessages.unexpected,
};

const otherVersion =
  "The change was based on an old version. The answer has the current version as `version`.";

/** The document's paths of the JSON API: `/api/users/{userId}` and its operations. */
export function apiPaths(): Record<string, object> {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, route] of Object.entries<Route>(routes)) {
    const [method = "", pattern = ""] = name.split(" ");
    const path = pattern.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(pattern, route) };
  }
  return paths;
}

function operation(pattern: string, route: Route): object {
  const { summary, access, body } = route;
  const isOfOrganization = access !== "anybody" && access !== "session";
  return {
    summary,
    ...authorization(route),
    parameters: [
      ...parameters(pattern, route),
      ...(isOfOrganization ? [organization(!takesReadKeys(route))] : []),
    ],
    ...(body !== undefined && { requestBody: requestBody(body, route) }),
    ...(route.isUpload === true && { requestBody: fileBody }),
    responses: { [route.status]: { description: summary, ...content(route) }, ...errorsOf(route) },
  };
}

const fileBody = {
  description: "The file itself.",
  required: true,
  content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
};

const accessInWords: Record<Access, string> = {
  anybody: "Needs no session.",
  session: "Needs a session of any team member.",
  read: "Needs a session of a team member of the organization.",
  manage: "Needs a session with the role owner or member.",
  erase: "Needs a session with the role owner.",
  own: "Needs a session with the role owner.",
};

function authorization(route: Route): object {
  const { access } = route;
  if (!takesReadKeys(route)) {
    const security = access === "anybody" ? [] : [{ session: [] }];
    return { description: accessInWords[access], security };
  }
  return {
    description: `Needs a read key with the right to ${access}, or a session with a role that has this right.`,
    security: [{ readKey: [] }, { session: [] }],
  };
}

function content(route: Route): object {
  const schema = answerOf(route);
  if (schema === undefined) return {};
  const csv = route.table === undefined ? {} : { "text/csv": { schema: { type: "string" } } };
  const type = route.isStream ? "text/event-stream" : (route.isFile ?? "application/json");
  return { content: { [type]: { schema }, ...csv } };
}

function errorsOf({ answeredBy, body, conflict }: Route): object {
  const errors = answeredBy === "intake" ? intakeErrors : analysisErrors;
  const isVersioned = answeredBy === "analysis" && Object.hasOwn(propertiesOf(body), "version");
  const why = isVersioned ? otherVersion : conflict;
  const described = why === undefined ? errors : { ...errors, conflict: why };
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

/** The organization of a request that has a session. */
function organization(required: boolean): object {
  return {
    name: organizationParameter,
    in: "query",
    required,
    schema: { type: "integer", minimum: 1 },
    description: `The organization's id. Required with a session${required ? "" : ", refused with a read key"}.`,
  };
}

function requestBody(schema: TSchema, { answeredBy }: Route): object {
  if (answeredBy === "intake") return { required: true, content: { "application/json": { schema } } };
  return {
    description: `At most ${limits.bodyBytes / 1024} KiB. The body may be compressed (Content-Encoding: gzip or deflate).`,
    required: true,
    content: Object.fromEntries(bodyTypes.map((type) => [type, { schema }])),
  };
}

function parameters(pattern: string, { query, table }: Route): object[] {
  const inPath = [...pattern.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const required = "required" in query && Array.isArray(query.required) ? query.required : [];
  const inQuery = Object.entries(propertiesOf(query)).map(([name, schema]) => ({
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
      "With format=csv: the columns to answer, in this order, separated by commas. `traits.plan` is the trait `plan`. Default: all columns. The CSV has all rows unless `limit` is sent.",
    schema: { type: "string" },
  };
  return [...inPath, ...inQuery, ...(table === undefined ? [] : [format, columns])];
}
