/** JSON bodies of the JSON API: intake bounds and inflates them, analysis parses them and holds them against the
 * schema of their route. */
import type { Static, TSchema } from "typebox";
import type { Validator } from "typebox/compile";
import { explainInvalid } from "../../../contract/explain.ts";
import { limits } from "../../../contract/limits.ts";
import { type Invalid, isInvalid, parseBody } from "../../intake/intake.ts";
import { readBody } from "../port/body.ts";
import type { BodyBudget } from "../port/body-budget.ts";

/** A change of settings is a merge patch, whether its sender says so or not. */
export const bodyTypes = ["application/json", "application/merge-patch+json"] as const;

const methodsWithBody: readonly string[] = ["POST", "PUT", "PATCH"];

/** The bytes of a request to be passed on, inflated; null when its method has none. */
export async function readApiBody(
  request: Request,
  budget: BodyBudget,
  maxBytes: number = limits.bodyBytes,
): Promise<Uint8Array | Invalid | null> {
  return methodsWithBody.includes(request.method) ? readBody(request, maxBytes, budget) : null;
}

/** The body that a route takes, in an object of its own because a body may hold any key; or what is wrong with it. */
export async function parseApiBody(
  request: Request,
  schema: TSchema,
  validator: Validator,
): Promise<{ readonly body: Static<TSchema> } | Invalid> {
  return parseApiBytes(request, await request.bytes(), schema, validator);
}

/** As `parseApiBody`, of a body that was read already. */
export function parseApiBytes(
  request: Request,
  bytes: Uint8Array,
  schema: TSchema,
  validator: Validator,
): { readonly body: Static<TSchema> } | Invalid {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (!bodyTypes.some((known) => known === type)) {
    return { invalid: "Content-Type is not valid: send application/json." };
  }
  const parsed = parseBody(bytes);
  if (isInvalid(parsed)) return parsed;
  if (validator.Check(parsed.value)) return { body: parsed.value };
  return { invalid: explainInvalid(schema, validator, parsed.value) };
}
