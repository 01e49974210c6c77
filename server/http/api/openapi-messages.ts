/** The messages to destinations, as the OpenAPI document's webhooks. */
import { type DescribedMessage, messages } from "../../../contract/destinations/message-schemas.ts";

const headers = [
  { name: "webhook-id", description: "The message's id: the same for every attempt." },
  { name: "webhook-timestamp", description: "When this attempt was sent, in seconds since 1970." },
  {
    name: "webhook-signature",
    description:
      "`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. While a secret is being replaced: two signatures, separated by a space.",
  },
];

const parameters = headers.map((header) => ({
  ...header,
  in: "header",
  required: true,
  schema: { type: "string" },
}));

const responses = {
  "2XX": { description: "The message is delivered." },
  "3XX": { description: "The attempt failed for good: no redirect is followed." },
  410: { description: "The address no longer exists: the destination is disabled." },
  default: {
    description:
      "The message is sent again, up to 10 attempts in 75 hours, also after no answer within 15 s. Retry-After lengthens the waiting time, up to the schedule's next step.",
  },
};

/** One webhook a type of message. */
export function messageWebhooks(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(messages).map(([type, described]) => [type, { post: operation(described) }]),
  );
}

function operation({ summary, schema }: DescribedMessage): object {
  return {
    summary,
    // The signature takes the place of a token.
    security: [],
    parameters,
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses,
  };
}
