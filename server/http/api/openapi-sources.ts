/** The connected sources' part of the OpenAPI document: their bodies are described where they come from. */
import { senderTitles } from "../../../contract/digest/sender-titles.ts";
import { errorMessages, errorStatus } from "../../../contract/errors.ts";
import { limits } from "../../../contract/limits.ts";
import { sourcePaths } from "../write/source-routes.ts";
import { webhookPrefix } from "../write/source-token.ts";

/** The tag of these operations, by which readers of the document tell them from the write API's. */
export const sourcesTag = "Connected sources";

const mebibytes = (bytes: number) => `${bytes / 1024 ** 2} MiB`;

/** The purpose of each path, in a sentence. */
const summaries: Readonly<Record<keyof typeof sourcePaths.segment, string>> = {
  identify: "A user with traits, as Segment's clients send them",
  track: "An event, as Segment's clients send it",
  group: "The account that a user belongs to, as Segment's clients send it",
  page: "The event page_viewed, as Segment's clients send it",
  screen: "The event screen_viewed, as Segment's clients send it",
  alias: "Two ids of one person, as Segment's clients send them",
  batch: "Several Segment calls in one request, each with its type",
};

const segmentDescription = [
  "Speaks to the clients of Segment, RudderStack and Customer.io pipelines.",
  "Clients send the project token in Authorization (Basic or Bearer), in X-Write-Key, or as writeKey in the body or the address.",
  "The body may be compressed with gzip, and have any Content-Type.",
  "An invalid message does not affect other messages: the answer is 200, and the live view says why the message was rejected.",
  "Pages of any origin may send.",
].join(" ");

const posthogSummary = "Events, as PostHog's clients send them";

const posthogDescription = [
  "Speaks to the clients of PostHog: an event, an array of events, or a batch.",
  "The project token is api_key or token in the body. POST /batch also takes PostHog's batches, which have an api_key in the body.",
  "The body may be compressed with gzip, base64, or form data.",
  `A body that is larger than ${mebibytes(limits.openBodyBytes)} is answered 413, so that the client sends it in parts. At POST /batch only clients whose User-Agent begins with posthog- get 413.`,
  "An invalid event does not affect other events: the answer is 200, and the live view says why the event was rejected.",
  "Pages of any origin may send.",
].join(" ");

const otherDescription = [
  "Clients send the project token in Authorization (Basic or Bearer), in X-Write-Key, in openpanel-client-id, or as token in the messages.",
  "An invalid message does not affect other messages: the answer is 200, and the live view says why the message was rejected.",
  "Pages of any origin may send.",
].join(" ");

const responses = {
  200: { description: "Valid items are stored, or held until their user is identified." },
  [errorStatus.validation_error]: {
    description: `\`validation_error\`: the body cannot be parsed, or is larger than ${mebibytes(limits.batchBytes)} (${mebibytes(limits.openBodyBytes)} if the token is only in the body), or has more than ${limits.sourceItems} messages, ${limits.values} values or ${limits.bodyKeys} keys.`,
  },
  [errorStatus.invalid_write_key]: { description: `\`invalid_write_key\`: ${errorMessages.invalidToken}` },
  [errorStatus.rate_limit_exceeded]: {
    description: `\`rate_limit_exceeded\`: ${errorMessages.tooManyRequests} Retry-After says how many seconds to wait.`,
  },
  [errorStatus.application_error]: { description: `\`application_error\`: ${errorMessages.unexpected}` },
};

const webhookDescription = [
  "The project token is the end of the address. It may also be in Authorization, X-Write-Key or the parameter token.",
  "An invalid item does not affect other items: the answer is 200, and the live view says why the item was rejected.",
].join(" ");

/** Webhooks by their paths. */
const webhooks: Readonly<Record<string, { readonly summary: string; readonly more: string }>> = {
  stripe: {
    summary: "An event of Stripe's: customers, subscriptions, invoices, checkouts, refunds, disputes",
    more: "Stripe-Signature is verified once a signing secret is set; a wrong signature is a `validation_error`.",
  },
  "{name}": {
    summary: "A body from any tool, read by the mapping or the preset of the webhook with this name",
    more: "A `validation_error` if there is no webhook with this name, if the body is not from the preset's tool, or if the request does not pass the check of the webhook's secret.",
  },
};

function webhookPaths(): Record<string, object> {
  const parameter = (name: string) => ({ name, in: "path", required: true, schema: { type: "string" } });
  return Object.fromEntries(
    Object.entries(webhooks).map(([name, { summary, more }]) => {
      const own = name === "{name}" ? [parameter("name")] : [];
      const requestBody = { content: { "application/json": { schema: {} } } };
      const post = {
        tags: [sourcesTag],
        summary,
        description: `${webhookDescription} ${more}`,
        parameters: [...own, parameter("token")],
        requestBody,
        responses,
      };
      return [`${webhookPrefix}${name}/{token}`, { post }];
    }),
  );
}

/** The document's paths of connected sources. */
export function sourceDocumentPaths(): Record<string, object> {
  const paths: Record<string, object> = {};
  for (const [call, ofCall] of Object.entries(sourcePaths.segment)) {
    const summary = summaries[call as keyof typeof summaries];
    for (const path of ofCall) paths[path] = { post: operation(summary, segmentDescription) };
  }
  for (const path of sourcePaths.posthog) {
    paths[path] = { post: operation(posthogSummary, posthogDescription) };
  }
  for (const { source, path } of sourcePaths.others) {
    const summary = `Messages, as ${senderTitles[source]}'s clients send them`;
    paths[path] = { post: operation(summary, otherDescription) };
  }
  return { ...paths, ...webhookPaths() };
}

function operation(summary: string, description: string): object {
  const content = { "application/json": { schema: { type: "object" } } };
  return { tags: [sourcesTag], summary, description, requestBody: { content }, responses };
}
