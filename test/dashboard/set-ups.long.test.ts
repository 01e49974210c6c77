/** The set-up of every source as the page shows it, run as it stands with the source's own client: the user
 * and the event arrive. Beside it the start page's program with the client package. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { run } from "../server.ts";
import { signed, signingSecret, stripeEvent, subscription } from "../sources/stripe-objects.ts";
import { openInOrganization, patienceMs } from "./support.ts";
import { world } from "./world.ts";

const modules = join(import.meta.dir, "..", "..", "node_modules");
const organization = "Set up";
let folder: string;
const { server, browser } = await world();
let page: Page;
let token: string;
let id: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rekindle-set-ups-"));
  await server.organization(organization);
  ({ page, id } = await openInOrganization(browser, server, "/sources?open=segment", organization));
  await page.getByRole("button", { name: "Create a token" }).click();
  await page.getByText("The new token is in place").waitFor();
  token = /rk-[A-Za-z0-9]{32}/.exec(await shown("On a server, @segment/analytics-node"))?.[0] ?? "";
});
afterAll(async () => {
  await page?.context().close();
  rmSync(folder, { recursive: true, force: true });
});

/** The text of a box of code. */
async function shown(label: string): Promise<string> {
  return (await page.getByRole("region", { name: label, exact: true }).textContent()) ?? "";
}

/** Opens the set-up of a source, and with it the token that was made. */
async function open(source: string): Promise<void> {
  const button = page.getByRole("button", { name: `Set up ${source}` });
  if ((await button.count()) > 0) await button.click();
}

/** The program as a user of its own, so that several may run beside each other. */
const asUser = (program: string, userId: string) => program.replaceAll('"u1"', `"${userId}"`);

/** The stored data of a user: the e-mail address, and the names of events. */
async function arrived(userId: string): Promise<unknown[]> {
  const [users, events] = await Promise.all([
    server.exported("users", organization),
    server.exported("events", organization),
  ]);
  const user = users.find((one) => one.userId === userId);
  return [user?.email, ...events.filter((one) => one.userId === userId).map(({ event }) => event)];
}

test.each([
  ["Segment", "@segment/analytics-node"],
  ["RudderStack", "@rudderstack/rudder-sdk-node"],
  ["Customer.io", "@customerio/cdp-analytics-node"],
  ["PostHog", "posthog-node"],
  ["Jitsu", "@jitsu/js"],
  ["Dittofeed", "@dittofeed/sdk-node"],
  ["OpenPanel", "@openpanel/sdk"],
  ["Mixpanel", "mixpanel"],
])("%s: the program with %s runs as it is shown", async (source, client) => {
  await open(source);
  const program = await shown(`On a server, ${client}`);
  expect(program).toContain(token);
  const place = join(folder, source);
  mkdirSync(place);
  symlinkSync(modules, join(place, "node_modules"));
  writeFileSync(join(place, "index.mjs"), asUser(program, source));
  const ended = await run(["node", join(place, "index.mjs")]);
  expect(ended).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  const name = program.includes("report_created") ? "report_created" : "Report_Created";
  expect(await arrived(source)).toEqual(["ada@example.com", name]);
});

test("Segment: the program with @segment/analytics-next runs in a browser, and sends to no other host", async () => {
  await open("Segment");
  await page.getByRole("button", { name: "Create a browser token" }).click();
  await page.getByText("The new browser token is in place").waitFor();
  const program = await shown("In a browser, @segment/analytics-next");
  expect(program).not.toContain(token);
  const file = join(folder, "page.js");
  writeFileSync(file, asUser(program, "browser"));
  symlinkSync(modules, join(folder, "node_modules"));
  const { outputs } = await Bun.build({ entrypoints: [file], target: "browser" });
  const script = (await outputs[0]?.text()) ?? "";
  const shop = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      url.endsWith(".js")
        ? new Response(script, { headers: { "Content-Type": "text/javascript" } })
        : new Response('<!doctype html><title>Shop</title><script type="module" src="/page.js"></script>', {
            headers: { "Content-Type": "text/html" },
          }),
  });
  const visitor = await browser.newContext();
  visitor.setDefaultTimeout(patienceMs);
  const asked: string[] = [];
  visitor.on("request", (request) => asked.push(new URL(request.url()).origin));
  const visited = await visitor.newPage();
  // The user and the event are requests of their own, and either may be answered first.
  const sent = ["/v1/i", "/v1/t"].map((path) =>
    visited.waitForResponse((response) => response.url().endsWith(path)),
  );
  await visited.goto(String(shop.url));
  expect((await Promise.all(sent)).map((response) => response.status())).toEqual([200, 200]);
  await visitor.close();
  await shop.stop(true);
  expect(new Set(asked)).toEqual(new Set([shop.url.origin, server.url]));
  expect(await arrived("browser")).toEqual(["ada@example.com", "Report_Created"]);
  const [inPage] = /rk-[A-Za-z0-9]{32}/.exec(program) ?? [];
  const changed = { userId: "browser", email: "mallory@evil.test" };
  expect((await server.post("/identify", inPage, changed)).status).toBe(201);
  expect(await arrived("browser")).toEqual(["ada@example.com", "Report_Created"]);
});

test("Stripe: its events are taken at the address that is shown, signed with the secret that is typed", async () => {
  await open("Stripe");
  const address = await shown("An endpoint in Stripe's dashboard, under Webhooks");
  await page.getByLabel("Signing secret").fill(signingSecret);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Only requests signed with").waitFor();
  const event = stripeEvent(
    "customer.subscription.created",
    subscription({ metadata: { userId: "customer" } }),
  );
  const body = JSON.stringify(event);
  const headers = { "Content-Type": "application/json; charset=utf-8" };
  const send = (signature: string) =>
    fetch(address, { method: "POST", body, headers: { ...headers, "Stripe-Signature": signature } });
  const seconds = Math.floor(server.nowMs() / 1_000);
  expect((await send(await signed(body, "whsec_another", seconds))).status).toBe(400);
  expect((await send(await signed(body, signingSecret, seconds))).status).toBe(200);
  expect(await arrived("customer")).toEqual([null, "subscription_started"]);
});

test("Webhooks: a webhook has the address that is shown, with its name in place", async () => {
  await open("Webhooks");
  const general = await shown("The address for the other tool");
  await page.getByRole("button", { name: "Add webhook" }).click();
  await page.getByLabel("Name", { exact: true }).fill("calls");
  await page.getByLabel("The user's id").fill("user");
  await page.getByLabel("The user's e-mail").fill("email");
  await page.getByLabel("… or always").fill("called");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("heading", { name: "calls" }).waitFor();
  const address = await shown("The address of calls");
  expect(address).toBe(general.replace("NAME", "calls"));
  const body = JSON.stringify({ user: "caller", email: "bob@example.com" });
  expect((await fetch(address, { method: "POST", body })).status).toBe(200);
  expect(await arrived("caller")).toEqual(["bob@example.com", "called"]);
});

test("the start page's client package is built and installed as it is shown, and its program runs", async () => {
  await page.goto(`${server.url}/o/${id}/start?language=client`);
  const program = await shown("Two calls in rekindle-client");
  const installation = await shown("Build and install rekindle-client");
  const [build = "", install = ""] = installation.replaceAll("/tmp", folder).split("# In your application");
  const place = join(folder, "client");
  mkdirSync(place);
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "application", private: true }));
  const source = join(import.meta.dir, "..", "..");
  expect(await run(["sh", "-ec", build], { cwd: source })).toMatchObject({ exitCode: 0 });
  expect(await run(["sh", "-ec", install], { cwd: place })).toMatchObject({ exitCode: 0 });
  expect(program).toContain("YOUR_TOKEN");
  writeFileSync(join(place, "index.mjs"), asUser(program, "client").replace("YOUR_TOKEN", token));
  const ended = await run(["node", join(place, "index.mjs")]);
  expect(ended).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  expect(await arrived("client")).toEqual(["ada@example.com", "report_created"]);
});
