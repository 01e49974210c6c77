/** Parameters and bodies of the JSON API, checked by the schemas of their routes. */
import type { Static, TSchema } from "typebox";
import type { Validator } from "typebox/compile";
import type { Route } from "../../../contract/api/route.ts";
import { explainInvalid } from "../../../contract/explain.ts";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import { ApiError, noSuch } from "../../../contract/refusal.ts";
import { type Invalid, isInvalid, parseBody, whyUnstorable } from "../../intake/admission/json.ts";
import { readBody } from "../port/body.ts";
import type { BodyBudget } from "../port/body-budget.ts";

/** A change of settings is a merge patch, under either of these types. */
export const bodyTypes = ["application/json", "application/merge-patch+json"] as const;

const methodsWithBody: readonly string[] = ["POST", "PUT", "PATCH"];

/** The inflated bytes of a request's body; null when its method has none. */
export async function readApiBody(
  request: Request,
  budget: BodyBudget,
  maxBytes: number = limits.bodyBytes,
): Promise<Uint8Array | Invalid | null> {
  return methodsWithBody.includes(request.method) ? readBody(request, maxBytes, budget) : null;
}

/** A body as its schema has it. @throws ApiError naming the field that is wrong */
export function checkedBody(
  request: Request,
  bytes: Uint8Array,
  schema: TSchema,
  validator: Validator,
): Static<TSchema> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (!bodyTypes.some((known) => known === type)) {
    throw new ApiError("validation_error", "Content-Type is not valid: send application/json.");
  }
  const parsed = parseBody(bytes);
  if (isInvalid(parsed)) throw new ApiError("validation_error", parsed.invalid);
  if (validator.Check(parsed.value)) return parsed.value;
  throw new ApiError("validation_error", explainInvalid(schema, validator, parsed.value));
}

/** The parameters of a request as their schema has them. @param others names of parameters that the schema
 * does not have
 * @throws ApiError naming the parameter that is wrong */
export function checkedQuery(
  schema: TSchema,
  validator: Validator,
  sent: URLSearchParams,
  others: readonly string[] = [],
): Static<TSchema> {
  const query = readQuery(schema, sent, others);
  if (validator.Check(query)) return query;
  const unknown = Object.keys(query).find((name) => !Object.hasOwn(propertiesOf(schema), name));
  const why =
    unknown === undefined
      ? explainInvalid(schema, validator, query)
      : `${unknown} is no parameter of this path: leave it out.`;
  throw new ApiError("validation_error", why);
}

/** The parameters as values of their schemas' types. Another text stays a text, which the schema then
 * refuses. */
function readQuery(
  schema: TSchema,
  sent: URLSearchParams,
  others: readonly string[],
): Record<string, unknown> {
  const properties = propertiesOf(schema);
  // Without a prototype: a parameter may be called __proto__.
  const query: Record<string, unknown> = Object.create(null);
  for (const [name, property] of Object.entries(properties)) {
    if (isJsonObject(property) && "default" in property) query[name] = property.default;
  }
  for (const [name, text] of sent) {
    if (name === "format" || others.includes(name)) continue;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    query[name] = isJsonObject(property) ? parsed(property, text) : text;
    const problem = whyUnstorable({ [name]: query[name] }, () => undefined);
    if (problem !== undefined) throw new ApiError("validation_error", problem.invalid);
  }
  return query;
}

function parsed({ type, enum: listed }: JsonObject, text: string): unknown {
  if (Array.isArray(listed)) return listed.find((value) => String(value) === text) ?? text;
  if ((type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type === "array") return jsonOf(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** The JSON value of a text; the text itself when it is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The schemas of an object's properties. */
export function propertiesOf(schema: TSchema | undefined): Readonly<Record<string, unknown>> {
  if (schema === undefined || !("properties" in schema)) return {};
  return isJsonObject(schema.properties) ? schema.properties : {};
}

/** The format of the answer. @throws ApiError for one that the route does not have */
export function formatOf({ table }: Pick<Route, "table">, sent: URLSearchParams): "json" | "csv" {
  const format = sent.get("format") ?? "json";
  if (format === "json" || (format === "csv" && table !== undefined)) return format;
  const formats = table === undefined ? "json" : "json or csv";
  throw new ApiError("validation_error", `format is not valid: send ${formats}.`);
}

/** A number in a path. @throws ApiError, as for a number that does not exist */
export function idIn(text: string, what: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text);
  throw noSuch(what);
}
