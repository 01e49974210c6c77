/** The connected sources' part of the OpenAPI document: their bodies are described where they come from. */
import { senderTitles } from "../../../contract/actions/sender-titles.ts";
import { errorMessages, errorStatus } from "../../../contract/errors.ts";
import { limits } from "../../../contract/limits.ts";
import { sourcePaths } from "../write/source-routes.ts";
import { webhookPrefix } from "../write/source-token.ts";

/** The tag of these operations, by which readers of the document tell them from the write API's. */
export const sourcesTag = "Connected sources";

const mebibytes = (bytes: number) => `${bytes / 1024 ** 2} MiB`;

/** The purpose of each path, in a sentence. */
const summaries: Readonly<Record<keyof typeof sourcePaths.segment, string>> = {
  identify: "A user and its traits, as Segment's clients send them",
  track: "An event, as Segment's clients send it",
  group: "The account that a user belongs to, as Segment's clients send it",
  page: "The event page_viewed, as Segment's clients send it",
  screen: "The event screen_viewed, as Segment's clients send it",
  alias: "Two ids that are one person, as Segment's clients send them",
  batch: "Several of these calls, each with its type",
};

const segmentDescription = [
  "Speaks to the clients of Segment, RudderStack and Customer.io pipelines.",
  "The token is theirs to send: Authorization as Basic or Bearer, X-Write-Key, writeKey in the body or in the address.",
  "The body may be gzip, and of any Content-Type.",
  "A message that cannot be taken fails no other: the answer is 200, and the live view says why.",
  "A page of any origin may send.",
].join(" ");

const posthogSummary = "Events, as PostHog's clients send them";

const posthogDescription = [
  "Speaks to the clients of PostHog: an event, an array of events, or a batch.",
  "The token is api_key or token in the body. POST /batch is PostHog's too when the body has an api_key.",
  "The body may be gzip, base64, or a form's data.",
  `A body that is larger than ${mebibytes(limits.openBodyBytes)} is answered 413, so that the client sends it in parts. At POST /batch only clients whose User-Agent begins with posthog- are told so.`,
  "An event that cannot be taken fails no other: the answer is 200, and the live view says why.",
  "A page of any origin may send.",
].join(" ");

const otherDescription = [
  "The token is theirs to send: Authorization as Basic or Bearer, X-Write-Key, openpanel-client-id, or token in the messages.",
  "A message that cannot be taken fails no other: the answer is 200, and the live view says why.",
  "A page of any origin may send.",
].join(" ");

const responses = {
  200: { description: "Valid items are stored, or held until their user is identified." },
  [errorStatus.validation_error]: {
    description: `\`validation_error\`: the body cannot be parsed, or is larger than ${mebibytes(limits.batchBytes)}, or than ${mebibytes(limits.openBodyBytes)} with its token only in the body, or has more than ${limits.sourceItems} messages, ${limits.values} values or ${limits.bodyKeys} keys.`,
  },
  [errorStatus.invalid_write_key]: { description: `\`invalid_write_key\`: ${errorMessages.invalidToken}` },
  [errorStatus.rate_limit_exceeded]: {
    description: `\`rate_limit_exceeded\`: ${errorMessages.tooManyRequests} Retry-After says how many seconds to wait.`,
  },
  [errorStatus.application_error]: { description: `\`application_error\`: ${errorMessages.unexpected}` },
};

const webhookDescription = [
  "The end of the address is the project token; it may also be in Authorization, X-Write-Key or the parameter token.",
  "An item that cannot be taken fails no other: the answer is 200, and the live view says why.",
].join(" ");

/** Webhooks by their paths. */
const webhooks: Readonly<Record<string, { readonly summary: string; readonly more: string }>> = {
  stripe: {
    summary: "An event of Stripe's: customers, subscriptions, invoices, checkouts, refunds, disputes",
    more: "Stripe-Signature is verified once a signing secret is set; a wrong one is a `validation_error`.",
  },
  "{name}": {
    summary: "A body of any tool, read by the mapping or the preset of the webhook of this name",
    more: "A webhook that nobody has added is a `validation_error`. So is a body that is not of the preset's tool, and a request that the webhook's secret does not verify.",
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
