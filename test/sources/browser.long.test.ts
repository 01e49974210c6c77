/** Segment's own client for browsers, @segment/analytics-next, in a real browser, on a page of another
 * origin. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { startBrowser } from "../dashboard/chromium.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { BadProxy, type Fate } from "./proxy.ts";

let server: Server;
let browser: Browser;
let shop: Bun.Server<undefined>;

beforeAll(async () => {
  const [started, opened, bundled] = await Promise.all([
    Server.start(),
    startBrowser(),
    Bun.build({
      entrypoints: [require.resolve("@segment/analytics-next")],
      target: "browser",
    }),
  ]);
  [server, browser] = [started, opened];
  await server.ready();
  const script = await bundled.outputs[0]?.text();
  shop = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      url.endsWith("/client.js")
        ? new Response(script ?? "", { headers: { "Content-Type": "text/javascript" } })
        : new Response(html, { headers: { "Content-Type": "text/html" } }),
  });
});
afterAll(async () => {
  await browser?.close();
  await shop?.stop(true);
  await server?.stop();
});

const html = `<!doctype html><title>Shop</title>
<script type="module">
  import client from "/client.js";
  globalThis.AnalyticsBrowser = client.AnalyticsBrowser;
</script>`;

async function openShop(): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(150_000);
  await page.goto(`${shop.url}products?color=red`);
  await page.waitForFunction("globalThis.AnalyticsBrowser !== undefined");
  return page;
}

/** The calls of a shop's page: a visitor looks around, signs up, and works on. */
const visit = `
  analytics.page("Shop", "Products");
  analytics.track("Product Viewed", { number: 0 });
  await analytics.identify("ada", { email: "ada@example.com", plan: "pro" });
  await analytics.group("engines", { name: "Analytical Engines" });
  for (let number = 1; number < 12; number += 1) await analytics.track("Order Completed", { number });
`;

const strategies: readonly (readonly [string, object, readonly Fate[]])[] = [
  ["message by message", {}, ["cut", 429, 500, "cut"]],
  ["in batches", { strategy: "batching", config: { size: 5, timeout: 100 } }, ["cut", 429, 500]],
];

test.each(strategies)(
  "what it sends %s arrives once, whatever happens on the way",
  async (name, strategy, fates) => {
    const token = await server.organization(name);
    const proxy = await BadProxy.start(server.url, fates);
    const page = await openShop();
    const settings = {
      apiKey: token,
      apiHost: `${proxy.url.replace("http://", "")}/v1`,
      protocol: "http",
      ...("strategy" in strategy && { deliveryStrategy: strategy }),
    };
    const loaded = { writeKey: token, cdnSettings: { integrations: { "Segment.io": settings } } };
    await page.evaluate(`(async () => {
    const analytics = globalThis.analytics = AnalyticsBrowser.load(${JSON.stringify(loaded)});
    ${visit}
  })()`);
    const numbers = async () =>
      (await server.exported("events", name))
        .filter(({ event }) => event !== "page_viewed")
        .map(({ properties }) => (properties as { number: number }).number)
        .sort((a, b) => a - b);
    const all = Array.from({ length: 12 }, (_, number) => number);
    const hasArrived = async () =>
      (await server.exported("events", name)).length > all.length &&
      (await server.exported("users", name)).some(({ email }) => email === "ada@example.com") &&
      (await server.exported("accounts", name)).length > 0;
    await until("all events, the user and the account have arrived", hasArrived);
    // A request that is still under way now would show itself as a duplicate.
    await page.waitForTimeout(1_000);
    await page.context().close();
    proxy.stop();
    expect(proxy.happened.slice(0, fates.length)).toEqual([...fates]);
    expect(await numbers()).toEqual(all);
    const events = await server.exported("events", name);
    expect(new Set(events.map(({ userId }) => userId))).toEqual(new Set(["ada"]));
    expect(events.filter(({ event }) => event === "page_viewed")).toMatchObject([
      { properties: { name: "Products", category: "Shop", path: "/products", search: "?color=red" } },
    ]);
    expect(await server.exported("users", name)).toMatchObject([
      { userId: "ada", email: "ada@example.com", properties: { plan: "pro" } },
    ]);
    expect(await server.exported("accounts", name)).toMatchObject([{ name: "Analytical Engines" }]);
  },
);

test("a page may send by beacon and by fetch, and may read nothing", async () => {
  const token = await server.organization("Door of pages");
  const page = await openShop();
  const body = (number: number) =>
    JSON.stringify({ writeKey: token, userId: "ada", event: "left", messageId: `m-${number}` });
  const tried = (await page.evaluate(`(async () => {
    const blocked = (path, options) => fetch(${JSON.stringify(server.url)} + path, options).then(
      ({ status }) => status, ({ name }) => name);
    const read = { headers: { Authorization: "Bearer ${token}" } };
    return [
      navigator.sendBeacon(${JSON.stringify(`${server.url}/v1/t`)}, ${JSON.stringify(body(1))}),
      await blocked("/v1/t", { method: "POST", body: ${JSON.stringify(body(2))}, ...read }),
      await blocked("/v1/t", { method: "POST", body: ${JSON.stringify(body(2))}, ...read, credentials: "include" }),
      await blocked("/api/users", read),
      await blocked("/api/users"),
      await blocked("/track", { method: "POST", body: ${JSON.stringify(body(3))}, ...read }),
    ];
  })()`)) as unknown[];
  // The write API's path answers a page, too: nobody has identified this user yet.
  expect(tried).toEqual([true, 200, "TypeError", "TypeError", "TypeError", 404]);
  await page.context().close();
  await server.post("/identify", token, { userId: "ada", email: "ada@example.com" });
  expect((await server.exported("events", "Door of pages")).map(({ messageId }) => messageId).sort()).toEqual(
    ["m-1", "m-2"],
  );
});
