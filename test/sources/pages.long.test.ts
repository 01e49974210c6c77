/** Clients of tools for pages, in a real browser, on a page of another origin, with a browser token. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { BadProxy, type Fate } from "./proxy.ts";
import { Shop } from "./shop.ts";

interface PageClient {
  /** The file of its module. */
  readonly module: string;
  /** Scripts of the page. `client` is what the module exports. */
  readonly start: (url: string, token: string) => string;
  /** Ada signs up for the account engines, and the events `Order Completed` have the numbers 0 to 9. */
  readonly visit: string;
  /** What it comes over by itself. */
  readonly comesOver: readonly Fate[];
  readonly view?: object;
  /** The account's name, where the client's page says none; null where its visitor gets no account. */
  readonly accountName?: string | null;
}

/** The fetch of docs/connect-a-source.md for clients that send nothing again. */
const patiently = `
  const patiently = async (url, init) => {
    for (let waitMs = 250; ; waitMs = Math.min(30_000, waitMs * 2)) {
      const response = await fetch(url, init).catch(() => undefined);
      if (response !== undefined && response.status !== 429 && response.status < 500) return response;
      // The wait of the documents' function.
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  };`;

const numbers = Array.from({ length: 10 }, (_, number) => number);

const clients: Readonly<Record<string, PageClient>> = {
  "posthog-js": {
    module: require.resolve("posthog-js"),
    start: (url, token) => `
      globalThis.posthog = client.posthog ?? client;
      posthog.init(${JSON.stringify(token)}, { api_host: ${JSON.stringify(url)}, opt_out_useragent_filter: true });`,
    visit: `
      posthog.capture("Order Completed", { number: 0 });
      posthog.identify("ada", { email: "ada@example.com", plan: "pro" });
      posthog.group("company", "engines", { name: "Analytical Engines" });
      for (let number = 1; number < 10; number += 1) posthog.capture("Order Completed", { number });
      posthog.getSurveys(() => {});
      posthog.getEarlyAccessFeatures(() => {}, true);`,
    comesOver: [503, "cut"],
    view: { path: "/products" },
  },
  "@rudderstack/analytics-js": {
    module: require.resolve("@rudderstack/analytics-js/bundled"),
    start: (url, token) => `
      globalThis.rudder = new client.RudderAnalytics();
      rudder.load(${JSON.stringify(token)}, ${JSON.stringify(url)}, {
        getSourceConfig: () => ({
          source: { id: "rekindle", writeKey: ${JSON.stringify(token)}, enabled: true, config: {}, destinations: [] },
        }),
      });
      rudder.page("Products");`,
    visit: `
      rudder.track("Order Completed", { number: 0 });
      rudder.identify("ada", { email: "ada@example.com", plan: "pro" });
      rudder.group("engines", { name: "Analytical Engines" });
      for (let number = 1; number < 10; number += 1) rudder.track("Order Completed", { number });`,
    comesOver: [503, "cut"],
    view: { name: "Products", path: "/products" },
  },
  "@jitsu/js": {
    module: require.resolve("@jitsu/js"),
    start: (url, token) => `
      ${patiently}
      globalThis.jitsu = client.jitsuAnalytics({
        host: ${JSON.stringify(url)}, writeKey: ${JSON.stringify(`rekindle:${token}`)}, fetch: patiently,
      });
      jitsu.page("Products");`,
    visit: `
      jitsu.track("Order Completed", { number: 0 });
      jitsu.identify("ada", { email: "ada@example.com", plan: "pro" });
      jitsu.group("engines", { name: "Analytical Engines" });
      for (let number = 1; number < 10; number += 1) jitsu.track("Order Completed", { number });`,
    comesOver: [503, "cut"],
    view: { path: "/products" },
  },
  "mixpanel-browser": {
    module: require.resolve("mixpanel-browser"),
    start: (url, token) => `
      client.init(${JSON.stringify(token)}, {
        api_host: ${JSON.stringify(`${url}/mixpanel`)}, track_pageview: true, batch_flush_interval_ms: 500,
      });`,
    visit: `
      client.track("Order Completed", { number: 0 });
      client.identify("ada");
      client.people.set({ $email: "ada@example.com", plan: "pro" });
      client.set_group("company", ["engines"]);
      for (let number = 1; number < 10; number += 1) client.track("Order Completed", { number });`,
    // A connection that fails while the browser is online is no reason for it to send again.
    comesOver: [503, 429],
    view: { current_url_path: "/products" },
    accountName: "engines",
  },
  "@openpanel/web": {
    module: require.resolve("@openpanel/web"),
    start: (url, token) => `
      globalThis.op = new client.OpenPanel({
        apiUrl: ${JSON.stringify(`${url}/openpanel`)}, clientId: ${JSON.stringify(token)},
        trackScreenViews: true, waitForProfile: true,
      });`,
    visit: `
      op.track("Order Completed", { number: 0 });
      op.identify({ profileId: "ada", email: "ada@example.com", properties: { plan: "pro" } });
      for (let number = 1; number < 10; number += 1) op.track("Order Completed", { number });`,
    // What is cut comes twice: its messages have no ids.
    comesOver: [503, 429],
    view: { path: "/products" },
    accountName: null,
  },
};

let server: Server;
let shop: Shop;

beforeAll(async () => {
  [server, shop] = await Promise.all([
    Server.start(),
    Shop.start(Object.fromEntries(Object.entries(clients).map(([name, { module }]) => [name, module]))),
  ]);
  await server.ready();
});
afterAll(async () => {
  await shop?.stop();
  await server?.stop();
});

const roads = Object.entries(clients).flatMap(([name, client]) =>
  [[], client.comesOver].map((fates) => [name, fates, client] as const),
);

test.each(roads)("what %s sends arrives once, over %p", async (name, fates, client) => {
  const organization = `${name} ${fates.length}`;
  await server.organization(organization);
  const create = ["token", "create", "--organization", organization, "--scope", "browser"];
  const token = (await server.command(...create)).trim();
  const proxy = await BadProxy.start(server.url, fates);
  const { page, errors } = await shop.open(name);
  await page.evaluate(client.start(proxy.url, token));
  await page.evaluate(client.visit);
  const named = async (name: string) =>
    (await server.exported("events", organization)).filter(({ event }) => event === name);
  const completed = async () =>
    (await named("Order_Completed"))
      .map(({ properties }) => Number((properties as Record<string, unknown>).number))
      .sort((a, b) => a - b);
  const views = client.view === undefined ? [] : [{ properties: client.view }];
  await until(
    "all has come",
    async () =>
      new Set(await completed()).size === numbers.length &&
      (await named("page_viewed")).length >= views.length,
  );
  // What was stored before its answer was lost comes again.
  await until("a request has passed", () => proxy.happened.includes("passed"));
  await page.close();
  proxy.stop();
  expect(await completed()).toEqual(numbers);
  expect(proxy.happened.slice(0, fates.length)).toEqual([...fates]);
  if (fates.length === 0) expect(errors).toEqual([]);
  const events = await server.exported("events", organization);
  expect([...new Set(events.map(({ userId }) => userId))]).toEqual(["ada"]);
  expect(await named("page_viewed")).toMatchObject(views);
  const [ada] = await server.exported("users", organization);
  const { accountName = "Analytical Engines" } = client;
  const account = accountName === null ? null : { id: "engines", name: accountName };
  expect(ada).toMatchObject({ userId: "ada", email: "ada@example.com", account });
  const traits = ada?.properties as Record<string, unknown>;
  expect(traits.plan).toBe("pro");
  expect(Object.entries(traits).filter(([, value]) => value === null)).toEqual([]);
  expect(await server.exported("accounts", organization)).toMatchObject(account === null ? [] : [account]);
});
