/** The pages below a path of PUBLIC_URL, behind a proxy that keeps the path and one that takes it away. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { codeIn, password } from "../people/support.ts";
import { Server } from "../server.ts";
import { send } from "../specification/support.ts";
import { until } from "../until.ts";
import { startBrowser } from "./chromium.ts";
import { openPage } from "./support.ts";

const path = "/tools/rekindle";

let server: Server;
let browser: Browser;
let proxy: Bun.Server<undefined>;
beforeAll(async () => {
  const env = { PUBLIC_URL: `http://127.0.0.1${path}` };
  [server, browser] = await Promise.all([Server.start({ env }), startBrowser()]);
  proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    // The live view is silent for longer than the default.
    idleTimeout: 60,
    fetch(request) {
      const { pathname, search, host } = new URL(request.url);
      if (!pathname.startsWith(`${path}/`)) return new Response("another application", { status: 404 });
      const headers = new Headers(request.headers);
      headers.set("Host", host);
      return fetch(server.url + pathname.slice(path.length) + search, {
        method: request.method,
        headers,
        body: request.body,
        redirect: "manual",
        decompress: false,
      });
    },
  });
  await server.ready();
  await send(server, "/identify", server.firstToken, { userId: "u1", email: "u1@example.com" });
  await until("the user is loaded", async () => (await server.exported("users", "default")).length === 1);
});
afterAll(async () => {
  await browser?.close();
  await proxy?.stop(true);
  await server?.stop();
});

test.each([
  ["keeps the path", () => server.url],
  ["takes the path away", () => `http://127.0.0.1:${proxy.port}`],
])("a proxy that %s: somebody joins, goes to pages, loads one again, signs out and in", async (_, origin) => {
  const base = origin() + path;
  const { page, complaints } = await openPage(browser);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  const name = `Ada ${asked.length}${base.length}`;
  const email = `${base.length}-${new URL(base).port}@example.com`;
  const said = await server.command(
    "member",
    "invite",
    email,
    "--organization",
    "default",
    "--role",
    "owner",
  );
  await page.goto(`${base}/invitation#${codeIn(said, "invitation")}`);
  await page.getByLabel("Your name").fill(name);
  await page
    .getByLabel(/password/i)
    .first()
    .fill(password);
  await page.getByRole("button", { name: "Join" }).click();
  await page.waitForURL(`${base}/o/1/overview`);

  await page.getByRole("link", { name: "Users", exact: true }).click();
  await page.waitForURL(`${base}/o/1/users`);
  await page.locator(`a[download][href^="${path}/api/users?"]`).waitFor();
  await page.goBack();
  await page.waitForURL(`${base}/o/1/overview`);

  await page.goto(`${base}/o/1/start`);
  await page.getByText(`${base}/identify`).first().waitFor();
  await page.goto(`${base}/o/1/events?tab=live`);
  await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  await page.goto(`${base}/o/1/users?order=ascending`);
  await page.getByRole("heading", { name: "Users" }).waitFor();
  await page.getByRole("button", { name: new RegExp(name) }).click();
  const reference = page.getByRole("menuitem", { name: "API reference" });
  expect(await reference.getAttribute("href")).toBe(`${path}/reference`);
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();

  await page.goto(`${base}/o/1/users?order=ascending`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${base}/o/1/users?order=ascending`);
  await page.getByRole("heading", { name: "Users" }).waitFor();
  expect(asked.length).toBeGreaterThan(20);
  expect(asked.filter((url) => !url.startsWith(`${base}/`))).toEqual([]);
  expect(complaints).toEqual([]);
});
