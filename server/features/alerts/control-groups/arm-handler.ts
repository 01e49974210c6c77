/** `POST /arm`: the steps of a request, in the order of those of the write API: 401, 429, 400, 404. */
import { type ArmAnswer, ArmBody } from "../../../../contract/arm.ts";
import { errorMessages } from "../../../../contract/errors.ts";
import { limits } from "../../../../contract/limits.ts";
import { ApiError } from "../../../../contract/refusal.ts";
import { dayOrNull } from "../../../calendar/days.ts";
import { failure, refused, tooMany, unexpected } from "../../../http/port/answers.ts";
import type { Authorizer } from "../../../http/port/authorize.ts";
import { readBody } from "../../../http/port/body.ts";
import type { BodyBudget } from "../../../http/port/body-budget.ts";
import type { Connection, Handler } from "../../../http/port/handler.ts";
import type { UnknownTokens } from "../../../http/port/unknown-tokens.ts";
import { compile, explain, identifier } from "../../../intake/admission/admit-event.ts";
import { type Invalid, isInvalid, parseBody } from "../../../intake/admission/json.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { Logger } from "../../../process/log.ts";
import type { AnswerCounts } from "../../../process/metrics.ts";
import { ArmDesk } from "./arm-desk.ts";
import type { ArmOutcome, ArmQuestion } from "./asked-arms.ts";

interface ArmParts {
  readonly ledger: Pick<Ledger, "askedArms" | "settings">;
  /** Of project tokens of the scope `arm`. */
  readonly authorizer: Authorizer;
  /** Why no write of an organization is taken now. */
  readonly closedFor: (organization: number) => string | undefined;
  readonly bodies: BodyBudget;
  readonly unknownTokens: UnknownTokens;
  readonly counts: AnswerCounts;
  readonly nowMs: () => number;
  readonly log: Logger;
}

const closedRetryAfterSeconds = 5;
const validator = compile(ArmBody);

/** Makes the handler. No page of another origin can ask: its answer has no header that would allow it. */
export function armHandler(parts: ArmParts): Handler {
  const desk = new ArmDesk(parts.ledger, parts.nowMs);
  return async (request, connection) => {
    const response = await answerOf(parts, desk, request, connection);
    parts.counts.add("arm", response.status);
    return response;
  };
}

async function answerOf(
  parts: ArmParts,
  desk: ArmDesk,
  request: Request,
  connection: Connection,
): Promise<Response> {
  const { bodies, log } = parts;
  try {
    return await answer(parts, desk, request, connection);
  } catch (error) {
    const refusal = error instanceof ApiError ? refused(error) : undefined;
    if (refusal === undefined && !request.signal.aborted) log.error({ err: error }, "requests for arms fail");
    return refusal ?? unexpected();
  } finally {
    bodies.release(request);
  }
}

async function answer(
  { authorizer, bodies, unknownTokens, closedFor, nowMs }: ArmParts,
  desk: ArmDesk,
  request: Request,
  connection: Connection,
): Promise<Response> {
  const authorization = request.headers.get("authorization");
  const caller = await authorizer.authorize(authorization);
  const otherwise = failure("invalid_write_key", errorMessages.invalidArmToken);
  if (caller === undefined) return unknownTokens.answer(request, connection, { otherwise });
  const { bucket } = caller.usage;
  const waitSeconds = bucket.take(performance.now());
  if (waitSeconds > 0) return tooMany(errorMessages.tooManyRequests, waitSeconds, bucket.perSecond);
  const bytes = await readBody(request, limits.bodyBytes, bodies);
  const question = isInvalid(bytes) ? bytes : questionIn(bytes);
  if (isInvalid(question)) return failure("validation_error", question.invalid);
  // While a slow body was read, the token may have been revoked.
  const current = await authorizer.authorize(authorization);
  if (current === undefined) return otherwise;
  const closed = closedFor(current.organization.id);
  if (closed !== undefined) return tooMany(closed, closedRetryAfterSeconds);
  current.usage.lastUsedAtMs = nowMs();
  return responseTo(question, await desk.ask({ id: current.organization.id, zone: current.zone }, question));
}

function questionIn(bytes: Uint8Array): ArmQuestion | Invalid {
  const body = parseBody(bytes);
  if (isInvalid(body)) return body;
  const { value } = body;
  if (!validator.Check(value)) return explain(ArmBody, validator, value);
  const { rule, userId, accountId } = value;
  if ((userId === undefined) === (accountId === undefined))
    return { invalid: "Either userId or accountId says who is asked for: send one of them." };
  const kind = userId === undefined ? "account" : "user";
  const id = identifier(userId ?? accountId ?? "", body, [kind === "user" ? "userId" : "accountId"]);
  return isInvalid(id) ? id : { rule, entity: { kind, id } };
}

function responseTo({ rule, entity }: ArmQuestion, outcome: ArmOutcome): Response {
  switch (outcome) {
    case "noRule":
      return failure("not_found", `There is no alert rule with the id ${rule}.`);
    case "noEntity":
      return failure(
        "not_found",
        entity.kind === "user" ? errorMessages.userNotFound : errorMessages.accountNotFound,
      );
    case "notAboutEvents":
      return failure(
        "validation_error",
        `rule ${rule} has no arms by request: send the id of a rule about an event, such as a payment that failed.`,
      );
    case "aboutUsers":
      return failure("validation_error", `accountId is not valid: rule ${rule} is about users. Send userId.`);
    default: {
      const { arm, counted, experiment, until } = outcome;
      const body: ArmAnswer = { arm, counted, experiment, until: dayOrNull(until) };
      return Response.json(body, { headers: { "Cache-Control": "no-store" } });
    }
  }
}
