/** Webhooks: `POST /v1/webhooks/stripe/TOKEN`, and `/v1/webhooks/NAME/TOKEN` for those that an organization has set up.
 * Their senders can set no header, or one that is their own, so the token is the end of the address: nothing logs it. */
import type { Ledger } from "../../ledger/ledger.ts";
import {
  findPerson,
  ofWebhook,
  translateStripe,
  translateWebhook,
  whyNotSigned,
} from "../../sources/sources.ts";
import { notFound } from "../port/answers.ts";
import type { Handler } from "../port/routes.ts";
import { unwrapGzip } from "./source-body.ts";
import { sourceHandler } from "./source-handler.ts";
import type { SourceRoute } from "./source-route.ts";
import { webhookAddress, webhookPrefix } from "./source-token.ts";
import type { WriteParts } from "./write-steps.ts";

type Parts = Pick<Ledger, "sourceSettings" | "identities" | "findUser">;

/** Makes the handler of all webhooks. */
export function webhookHandler(parts: WriteParts): Handler {
  const stripe = sourceHandler(stripeRoute(parts.ledger), parts);
  const other = sourceHandler(webhookRoute(parts.ledger), parts);
  return (request, connection) => {
    const address = webhookAddress(request.url);
    if (address === undefined) return notFound();
    return address.name === "stripe" ? stripe(request, connection) : other(request, connection);
  };
}

function stripeRoute(ledger: Parts): SourceRoute {
  return {
    ...{ source: "stripe", path: `${webhookPrefix}stripe`, unwrap: unwrapGzip },
    senderOf: () => "stripe",
    success: () => Response.json({ received: true }),
    translate: async (body, delivery, { organization, headers, bytes }) => {
      const { signingSecrets, unknownCustomers } = await ledger.sourceSettings.stripe(organization);
      if (signingSecrets.length > 0) {
        const signature = headers.get("stripe-signature");
        const why = whyNotSigned(signature, bytes, signingSecrets, delivery.receivedAtMs);
        if (why !== undefined) return { invalid: why };
      }
      const known = await findPerson(ledger, organization, body);
      return translateStripe(body, delivery, known, unknownCustomers);
    },
  };
}

function webhookRoute(ledger: Parts): SourceRoute {
  return {
    ...{ source: "webhook", path: `${webhookPrefix}NAME`, unwrap: unwrapGzip },
    senderOf: () => "webhook",
    success: () => Response.json({ success: true }),
    translate: async (body, delivery, { organization, url, bytes }) => {
      const name = webhookAddress(url)?.name ?? "";
      const webhook = await ledger.sourceSettings.webhook(organization, name);
      if (webhook === undefined) {
        return { invalid: `There is no webhook called ${name}: add it among the sources, with its mapping.` };
      }
      const text = () => new TextDecoder().decode(bytes);
      const items = translateWebhook(body, webhook.mapping, delivery, text);
      return "invalid" in items ? items : items.map((item) => ofWebhook(name, item));
    },
  };
}
