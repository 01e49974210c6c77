/** The messages to destinations, as the OpenAPI document's webhooks. */
import { type DescribedMessage, messages } from "../../../contract/actions/message-schemas.ts";

const headers = [
  { name: "webhook-id", description: "The message's id: the same for every attempt." },
  { name: "webhook-timestamp", description: "When this attempt was sent, in seconds since 1970." },
  {
    name: "webhook-signature",
    description:
      "`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. Two of them with a space between, while a secret is being replaced.",
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
  410: { description: "The address is gone: the destination is disabled." },
  default: {
    description:
      "The message is sent again, up to 10 attempts in 75 hours. Retry-After lengthens the waiting time, up to the schedule's next step. No answer within 15 s means the same.",
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
