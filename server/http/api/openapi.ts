/** The OpenAPI 3.1 document, made from the very schemas that validate and the very table of routes. */
import type { TSchema } from "typebox";
import { ArmAnswer, ArmBody } from "../../../contract/arm.ts";
import { type ErrorName, errorMessages, errorStatus } from "../../../contract/errors.ts";
import { limits } from "../../../contract/limits.ts";
import { secureSessionCookie, sessionCookie, sessionHeader } from "../../../contract/members.ts";
import {
  ApiErrorBody,
  BatchBody,
  BatchSuccessBody,
  ErrorBody,
  IdentifyBody,
  SuccessBody,
  TrackBody,
} from "../../../contract/write-api.ts";
import { apiPaths } from "./openapi-api.ts";
import { messageWebhooks } from "./openapi-messages.ts";
import { sourceDocumentPaths } from "./openapi-sources.ts";

const summaries: Record<ErrorName, string> = {
  validation_error: "The message says which field failed, why, and what to send.",
  invalid_write_key: errorMessages.invalidToken,
  not_found: errorMessages.userNotFound,
  rate_limit_exceeded: `${errorMessages.tooManyRequests} Retry-After says how many seconds to wait.`,
  application_error: errorMessages.unexpected,
};

const securitySchemes = {
  projectToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "Write Key",
    description:
      "Send `Authorization: Basic <PROJECT_TOKEN>`. A project token starts with `rk-`; it can write and never read. One of the scope `arm` can ask /arm alone.",
  },
  readKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "Read Key",
    description:
      "Send `Authorization: Bearer <READ_KEY>`. A read key starts with `rr-`; it can read and never write.",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: sessionCookie,
    description: `The cookie that signing in sets (POST /api/session); over https its name is ${secureSessionCookie}, or __Secure-${sessionCookie} if the service is below a path. All methods but GET also need the header \`${sessionHeader.name}: ${sessionHeader.value}\`. An Origin header has to be the service's own.`,
  },
};

/** The document for the service at this address. */
export function openApiDocument(publicUrl: string): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Rekindle",
      version: "1.0.0",
      description: "Tell Rekindle who your users are and what they do.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: publicUrl }],
    security: [{ projectToken: [] }],
    paths: {
      "/identify": operation({
        operationId: "identify",
        summary: "Register or update a user",
        description:
          "Call it on sign-up and whenever the profile changes. Properties are merged one level deep into the stored traits; keys that are not sent are kept.",
        body: "Identify",
        success: "The user is stored.",
      }),
      "/track": operation({
        operationId: "track",
        summary: "Record an event",
        description: "Records an event of a user who has been identified.",
        body: "Track",
        success: "The event is stored.",
        more: ["not_found"],
      }),
      "/batch": operation({
        operationId: "batch",
        summary: "Send several identifies and tracks",
        description: `Stores every valid item in order, and says which items were rejected and why. At most ${limits.batchItems} items, ${limits.batchBytes / 1024 ** 2} MiB, ${limits.values} values and ${limits.bodyKeys} keys. With an Idempotency-Key, each item without a messageId gets key:index as its messageId.`,
        body: "Batch",
        successBody: "BatchSuccess",
        success: "At least one item is stored, or was stored before.",
      }),
      "/arm": armOperation(),
      ...sourceDocumentPaths(),
      ...apiPaths(),
    },
    webhooks: messageWebhooks(),
    components: {
      schemas: {
        Identify: IdentifyBody,
        Track: TrackBody,
        Batch: BatchBody,
        Arm: ArmBody,
        ArmAnswer,
        Success: SuccessBody,
        BatchSuccess: BatchSuccessBody,
        Error: ErrorBody,
        ApiError: ApiErrorBody,
      },
      securitySchemes,
    },
  };
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly body: string;
  readonly successBody?: string;
  readonly success: string;
  /** Errors beside those of every operation. */
  readonly more?: readonly ErrorName[];
}

const usualErrors = [
  "validation_error",
  "invalid_write_key",
  "rate_limit_exceeded",
  "application_error",
] as const;

const compression =
  "The body may be compressed, with `Content-Encoding: gzip` or `deflate`. Limits are for the decompressed body.";

/** The arm of a control group, asked for by a company's server. */
function armOperation(): object {
  return {
    post: {
      operationId: "arm",
      summary: "Ask for the arm of a user or an account",
      description:
        "Ask before your page shows an offer: is this user in the control group of the alert rule? A user enters with the first request or the event of the rule, whichever comes first, and keeps the arm. Ask from your server, with a project token of the scope `arm`. If there is no answer within a second, show no offer, and send the event.",
      requestBody: { required: true, content: json(reference("Arm")) },
      responses: {
        200: { description: "The arm.", content: json(reference("ArmAnswer")) },
        ...errors(["not_found"]),
      },
    },
  };
}

/** The answers of errors, those of every operation among them. */
function errors(more: readonly ErrorName[]): object {
  return Object.fromEntries(
    [...usualErrors, ...more].map((name) => [
      errorStatus[name],
      { description: `\`${name}\`: ${summaries[name]}`, content: json(reference("Error")) },
    ]),
  );
}

function operation({ body, successBody = "Success", success, more = [], ...about }: Operation): object {
  return {
    post: {
      ...about,
      parameters: [
        {
          name: "Idempotency-Key",
          in: "header",
          description: "Another way to send messageId. If the body has a messageId, it counts.",
          schema: { type: "string", maxLength: limits.messageIdCharacters },
        },
      ],
      requestBody: { description: compression, required: true, content: json(reference(body)) },
      responses: {
        201: { description: success, content: json(reference(successBody)) },
        ...errors(more),
      },
    },
  };
}

function json(schema: TSchema | object): object {
  return { "application/json": { schema } };
}

function reference(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}
