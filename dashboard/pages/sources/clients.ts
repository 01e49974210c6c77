/** The set-up code of each source's client, with the address and the token filled in. */
import type { SenderName } from "../../../contract/sources.ts";

/** One client of a source. */
export interface Client {
  readonly label: string;
  /** A hint for using the code, where the code itself is not enough. */
  readonly note?: string;
  /** It runs in a web page, where everyone can read its token. */
  readonly isInBrowser?: boolean;
  readonly code: (address: string, token: string) => string;
}

/** The part of an address that a browser's client wants without its protocol. */
const hostOf = (address: string) => address.replace(/^\w+:\/\//, "");
const protocolOf = (address: string) => address.slice(0, address.indexOf(":"));
const portOf = (address: string) => new URL(address).port || (protocolOf(address) === "https" ? 443 : 80);

/** For clients that send nothing again. */
const patiently = `const patiently = async (url, init) => {
  for (let waitMs = 250; ; waitMs = Math.min(30_000, waitMs * 2)) {
    const response = await fetch(url, init).catch(() => undefined);
    if (response !== undefined && response.status !== 429 && response.status < 500) return response;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
};`;

/** The clients of each source, each a program that runs as it stands: a user, an event, and what is needed so
 * that both are sent before it ends. The write API's calls are on the page Start. */
export const clients: Readonly<Record<Exclude<SenderName, "api">, readonly Client[]>> = {
  segment: [
    {
      label: "On a server, @segment/analytics-node",
      code: (address, token) => `import { Analytics } from "@segment/analytics-node";

const analytics = new Analytics({
  writeKey: "${token}",
  host: "${address}",
});

analytics.identify({ userId: "u1", traits: { email: "ada@example.com" } });
analytics.track({ userId: "u1", event: "Report Created" });
await analytics.closeAndFlush();`,
    },
    {
      label: "In a browser, @segment/analytics-next",
      isInBrowser: true,
      note: "Use a browser token, because everyone can read it in the page. It sets e-mail and account only when it first identifies a user. Later changes have to come from your server. With cdnSettings the library sends no request to Segment.",
      code: (address, token) => `import { AnalyticsBrowser } from "@segment/analytics-next";

const rekindle = {
  apiKey: "${token}",
  apiHost: "${hostOf(address)}/v1",
  protocol: "${protocolOf(address)}",
};
const cdnSettings = { integrations: { "Segment.io": rekindle } };
const analytics = AnalyticsBrowser.load({
  writeKey: "${token}",
  cdnSettings,
});

analytics.identify("u1", { email: "ada@example.com" });
analytics.track("Report Created");`,
    },
  ],
  rudderstack: [
    {
      label: "On a server, @rudderstack/rudder-sdk-node",
      note: "Without retryCount it gives up after 3 attempts within 2 seconds.",
      code: (address, token) => `import RudderAnalytics from "@rudderstack/rudder-sdk-node";

const analytics = new RudderAnalytics("${token}", {
  dataPlaneUrl: "${address}",
  retryCount: 10,
});

analytics.identify({ userId: "u1", traits: { email: "ada@example.com" } });
analytics.track({ userId: "u1", event: "Report Created" });
await analytics.flush();`,
    },
    {
      label: "In a browser, @rudderstack/analytics-js",
      isInBrowser: true,
      note: "Use a browser token, because everyone can read it in the page. Only the build “bundled” with getSourceConfig sends here: the others load parts or settings from RudderStack's hosts.",
      code: (address, token) => `import { RudderAnalytics } from "@rudderstack/analytics-js/bundled";

const source = { id: "rekindle", writeKey: "${token}", enabled: true, config: {}, destinations: [] };
const analytics = new RudderAnalytics();
analytics.load("${token}", "${address}", {
  getSourceConfig: () => ({ source }),
});

analytics.identify("u1", { email: "ada@example.com" });
analytics.track("Report Created");`,
    },
  ],
  customerio: [
    {
      label: "On a server, @customerio/cdp-analytics-node",
      note: "Without maxRetries it gives up after 3 attempts within 0.2 seconds.",
      code: (address, token) => `import { Analytics } from "@customerio/cdp-analytics-node";

const analytics = new Analytics({
  writeKey: "${token}",
  host: "${address}",
  maxRetries: 30,
});

analytics.identify({ userId: "u1", traits: { email: "ada@example.com" } });
analytics.track({ userId: "u1", event: "Report Created" });
await analytics.closeAndFlush();`,
    },
  ],
  posthog: [
    {
      label: "On a server, posthog-node",
      note: "Without fetchRetryCount it gives up after 3 attempts within 9 seconds.",
      code: (address, token) => `import { PostHog } from "posthog-node";

const posthog = new PostHog("${token}", {
  host: "${address}",
  fetchRetryCount: 10,
});

posthog.identify({ distinctId: "u1", properties: { email: "ada@example.com" } });
posthog.capture({ distinctId: "u1", event: "report_created" });
await posthog.shutdown();`,
    },
    {
      label: "In a browser, posthog-js",
      isInBrowser: true,
      note: "Use a browser token, because everyone can read it in the page. It sets e-mail and account only when it first identifies a user. Later changes have to come from your server. Feature flags, surveys and recordings are not there, and the snippet of HTML does not work: install the package with npm. Requests over the limit are lost: the library does not retry them.",
      code: (address, token) => `import posthog from "posthog-js";

posthog.init("${token}", {
  api_host: "${address}",
});

posthog.identify("u1", { email: "ada@example.com" });
posthog.capture("report_created");`,
    },
  ],
  jitsu: [
    {
      label: "On a server, @jitsu/js",
      note: "The client sends nothing again. The fetch below does. The key is any word, a colon and the token.",
      code: (address, token) => `import { jitsuAnalytics } from "@jitsu/js";

${patiently}

const analytics = jitsuAnalytics({
  host: "${address}",
  writeKey: "rekindle:${token}",
  s2s: true,
  fetch: patiently,
});

await analytics.identify("u1", { email: "ada@example.com" });
await analytics.track("report_created", {}, { userId: "u1" });`,
    },
    {
      label: "In a browser, @jitsu/js",
      isInBrowser: true,
      note: "Use a browser token, because everyone can read it in the page. With the fetch above, what fails is sent again.",
      code: (address, token) => `import { jitsuAnalytics } from "@jitsu/js";

const analytics = jitsuAnalytics({
  host: "${address}",
  writeKey: "rekindle:${token}",
});

analytics.identify("u1", { email: "ada@example.com" });
analytics.track("report_created");`,
    },
  ],
  dittofeed: [
    {
      label: "On a server, @dittofeed/sdk-node",
      note: "The client sends nothing again. The request below does. A flush sends five messages.",
      code: (address, token) => `import { DittofeedSdkBase } from "@dittofeed/sdk-node";

${patiently}

const dittofeed = new DittofeedSdkBase({
  writeKey: "Basic ${token}",
  host: "${address}",
  uuid: () => crypto.randomUUID(),
  setTimeout,
  clearTimeout,
  issueRequest: async (data, { host, writeKey }) => {
    const headers = { authorization: writeKey, "Content-Type": "application/json" };
    await patiently(host + "/api/public/apps/batch", { method: "POST", headers, body: JSON.stringify(data) });
  },
});

dittofeed.identify({ userId: "u1", traits: { email: "ada@example.com" } });
dittofeed.track({ userId: "u1", event: "report_created" });
await dittofeed.flush();`,
    },
  ],
  openpanel: [
    {
      label: "On a server, @openpanel/sdk",
      note: "Without maxRetries it gives up after 3 attempts within 4 seconds. Its events have no id: one that is sent twice is stored twice, unless you give it a __messageId.",
      code: (address, token) => `import { OpenPanel } from "@openpanel/sdk";

const op = new OpenPanel({
  apiUrl: "${address}/openpanel",
  clientId: "${token}",
});
op.api.maxRetries = 12;

await op.identify({ profileId: "u1", email: "ada@example.com" });
await op.track("report_created", { profileId: "u1", __messageId: crypto.randomUUID() });`,
    },
    {
      label: "In a browser, @openpanel/web",
      isInBrowser: true,
      note: "Use a browser token, because everyone can read it in the page. With waitForProfile events wait in the page until identify: OpenPanel's client sends no id of a visitor.",
      code: (address, token) => `import { OpenPanel } from "@openpanel/web";

const op = new OpenPanel({
  apiUrl: "${address}/openpanel",
  clientId: "${token}",
  waitForProfile: true,
});

op.identify({ profileId: "u1", email: "ada@example.com" });
op.track("report_created");`,
    },
  ],
  mixpanel: [
    {
      label: "On a server, mixpanel",
      note: "The client sends nothing again: its callback has the error. With an $insert_id you may call it again.",
      code: (address, token) => `import Mixpanel from "mixpanel";

const mixpanel = Mixpanel.init("${token}", {
  protocol: "${protocolOf(address)}",
  host: "${hostOf(address).replace(/:\d+$/, "")}",
  port: ${portOf(address)},
  path: "/mixpanel",
});
const send = (call) =>
  new Promise((resolve) => {
    const again = () => call((error) => (error ? setTimeout(again, 1_000) : resolve()));
    again();
  });

await send((done) => mixpanel.people.set("u1", { $email: "ada@example.com" }, done));
const event = { distinct_id: "u1", $insert_id: crypto.randomUUID(), time: new Date() };
await send((done) => mixpanel.track("report_created", { ...event }, done));`,
    },
    {
      label: "In a browser, mixpanel-browser",
      isInBrowser: true,
      note: "Use a browser token, because everyone can read it in the page. Replays and flags are not there.",
      code: (address, token) => `import mixpanel from "mixpanel-browser";

mixpanel.init("${token}", { api_host: "${address}/mixpanel", track_pageview: true });

mixpanel.identify("u1");
mixpanel.people.set({ $email: "ada@example.com" });
mixpanel.track("report_created");`,
    },
  ],
  stripe: [
    {
      label: "An endpoint in Stripe's dashboard, under Webhooks",
      note: "In Stripe, choose snapshot payloads and select: customer.*, customer.subscription.*, invoice.*, checkout.session.*, charge.*",
      code: (address, token) => `${address}/v1/webhooks/stripe/${token}`,
    },
  ],
  webhook: [
    {
      label: "The address for the other tool",
      note: "Add a webhook below. Its name, in place of NAME, defines how the body is read.",
      code: (address, token) => `${address}/v1/webhooks/NAME/${token}`,
    },
  ],
};

/** A message of a source, and its meaning here. */
export type Meaning = readonly [theirs: string, ours: string];

const ofSegment: readonly Meaning[] = [
  ["identify", "A user with e-mail, name and traits; the trait company is the account"],
  ["track", "An event. “Order Completed” is stored as Order_Completed and shown as sent"],
  ["page, screen", "The events page_viewed and screen_viewed"],
  ["group", "The user joins the account; its traits become the account's attributes"],
  ["context.groupId", "The account in which it happened"],
  ["alias", "Two ids are one person"],
  ["context.active: false", "The event is stored but does not count as activity"],
  ["context.traits", "The user's traits, on any call with a userId"],
  ["integrations", "Ignored where All is false, and neither Rekindle nor Segment.io is true"],
  [
    "anonymousId alone, or a userId not identified",
    "Held for up to 30 days, until an identify or alias with this id",
  ],
];

/** The meaning of each source's messages. */
export const meanings: Readonly<Record<SenderName, readonly Meaning[]>> = {
  segment: ofSegment,
  rudderstack: ofSegment,
  customerio: ofSegment,
  posthog: [
    ["$identify, $set", "A user with e-mail and traits"],
    ["your own events", "Events of the same name"],
    ["$pageview, $screen", "The events page_viewed and screen_viewed"],
    [
      "$autocapture, $rageclick, $exception",
      "clicked, rage_clicked, error_seen: stored, but not counted as activity",
    ],
    ["$groupidentify, $groups", "Accounts, of the types company, organization, account, workspace, customer"],
    ["$create_alias", "Two ids are one person"],
    ["a distinct_id not identified", "Held for up to 30 days, until an identify or alias with this id"],
    ["$pageleave, $web_vitals, flags, recordings", "Ignored"],
  ],
  jitsu: ofSegment,
  dittofeed: ofSegment,
  openpanel: [
    ["identify", "A user with e-mail, names, picture and traits"],
    ["track", "An event. “Order Completed” is stored as Order_Completed and shown as sent"],
    ["screen_view", "The event page_viewed"],
    ["groups of an event, setGroup", "The account: the first group"],
    ["upsertGroup", "The account's name and attributes. Only from servers"],
    ["an event without a profileId", "Rejected: set waitForProfile"],
    ["increment, decrement, replays", "Ignored"],
  ],
  mixpanel: [
    ["people.set, set_once, unset", "A user with e-mail and traits"],
    ["$identify, alias", "Two ids are one person"],
    ["your own events", "Events of the same name"],
    ["$mp_web_page_view", "The event page_viewed"],
    ["set_group of company, organization, account, workspace, customer", "The user's account"],
    ["groups.set of these keys", "The account's name and attributes. Only from servers"],
    ["a distinct_id not identified", "Held for up to 30 days, until people.set or $identify with this id"],
    ["increment, append, union, remove, delete_user, replays, flags", "Ignored"],
  ],
  stripe: [
    [
      "metadata.userId, client_reference_id of a user",
      "The user. Otherwise the user with the customer's e-mail address. Held for up to 30 days.",
    ],
    ["customer.created, customer.updated", "Links the customer to a user. No event."],
    [
      "customer.subscription.…",
      "subscription_started, subscription_changed, subscription_canceled, trial_ending … and the trait plan. Stripe events do not count as activity.",
    ],
    [
      "invoice.paid, invoice.payment_failed, invoice.overdue",
      "payment_succeeded, payment_failed, payment_overdue",
    ],
    [
      "payment_method.attached, .updated, .automatically_updated, .detached; customer.source.…",
      "card_updated, card_removed, with the month in which the card ends",
    ],
    ["checkout.session.completed", "checkout_completed"],
    ["charge.refunded, charge.dispute.created", "payment_refunded, payment_disputed"],
    ["all others", "Ignored"],
  ],
  webhook: [["the paths that are set for it", "A user, an event, traits, an account"]],
  api: [
    ["POST /identify", "A user with traits and account"],
    ["POST /track", "An event of a user who is identified"],
    ["POST /batch", "Both, many at once"],
  ],
};
