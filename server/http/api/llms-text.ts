/** GET /llms.txt: what a coding assistant has to know to make an application send to Rekindle. It is written
 * in Markdown, as https://llmstxt.org asks. */
import { limits } from "../../../contract/limits.ts";

/** @param publicUrl the service's address, without a slash at its end */
export function llmsText(publicUrl: string): string {
  return `# Rekindle

> Rekindle computes engagement, health and churn risk of an application's users and accounts. The application tells it who its users are (POST /identify) and what they do (POST /track). Nothing else has to be sent.

Service: ${publicUrl}

## Identify

Send it from the server when a user signs up, signs in, or changes. An identify with the same userId updates the user: keys that are left out are kept, null removes a value.

\`\`\`
POST ${publicUrl}/identify
Authorization: Basic <project token>
Content-Type: application/json

{
  "userId": "u1",
  "email": "ada@example.com",
  "properties": { "name": "Ada", "plan": "pro", "acquisitionChannel": "ads", "companySize": "11-50", "segment": "smb" },
  "isAccountOwner": true,
  "account": { "id": "acme", "name": "Acme", "properties": { "renewsAt": "2027-03-31", "contractValue": 12000, "seats": 25 } }
}
\`\`\`

- userId and email are required. userId is the application's own id, never an e-mail address that can change.
- account is the company or workspace that the user belongs to. Send it wherever the application knows it: most figures are of accounts.
- plan, acquisitionChannel, companySize and segment are texts with a meaning. Any other key is a trait of the user.

## Track

Send it when a user did something in the product.

\`\`\`
POST ${publicUrl}/track
Authorization: Basic <project token>
Content-Type: application/json

{ "userId": "u1", "event": "report_created", "properties": { "pages": 3 }, "timestamp": "2026-05-17T09:30:00Z", "messageId": "report-4711" }
\`\`\`

- The user has to be identified first, otherwise the answer is 404.
- event: at most ${limits.eventNameCharacters} characters without white space. Use object_action in the past tense: report_created, invoice_sent, colleague_invited.
- Choose 5 to 20 events in which the user gets value. Leave out page views, jobs and webhooks: what no user did is no activity.
- timestamp is when it happened; without it, now. messageId makes repeating safe: the same messageId is stored once.

## Sending well

- Read the token from the environment variable REKINDLE_TOKEN. It can write and never read. Server tokens never go into a browser; there are browser tokens for that.
- Do not make the user's request wait: queue, or send in the background with a time-out of 5 s.
- 201: stored on disk. 400: the message names the field and what to send; do not repeat. 401: wrong token. 404: identify the user first. 429 and 5xx: repeat with the same messageId, after Retry-After where it is sent, else with growing pauses.
- Much at once: POST ${publicUrl}/batch takes {"batch": [{"type": "identify" | "track", …}]} with up to ${limits.batchItems.toLocaleString("en")} items. Bad items come back in rejected, with their index and the reason.
- Past events are sent in the same way with their timestamps, identifies before their events.

## More

- [OpenAPI](${publicUrl}/openapi.json): every route, field, limit and error
- [Reference](${publicUrl}/reference): the same for people, with billing events (revenue) and the routes that read
`;
}
