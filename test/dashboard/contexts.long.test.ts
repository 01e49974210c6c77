/** A context that a test gives back has nothing left of it for the next one. */
import { afterAll, expect, test } from "bun:test";
import { startBrowser } from "./chromium.ts";
import { contextOf } from "./contexts.ts";

const browser = await startBrowser();
const server = Bun.serve({
  port: 0,
  fetch: () => new Response("<h1>hello</h1>", { headers: { "content-type": "text/html" } }),
});
afterAll(async () => {
  await browser.close();
  await server.stop(true);
});

const taken = () => contextOf(browser, {}, "plain", async () => undefined);
const address = `http://127.0.0.1:${server.port}/`;
const left = `[document.querySelector("h1").textContent, document.cookie, localStorage.length,
  sessionStorage.length, history.length]`;

test("nothing that it stored, routed or listened to is left", async () => {
  const first = await taken();
  let heard = 0;
  first.page.on("request", () => {
    heard += 1;
  });
  await first.page.route("**/*", (route) =>
    route.fulfill({ body: "<h1>routed</h1>", contentType: "text/html" }),
  );
  await first.page.goto(address);
  await first.page.evaluate(
    "document.cookie = 'a=b'; localStorage.a = sessionStorage.a = 'b'; location.hash = 'c'",
  );
  expect(await first.page.evaluate(left)).toEqual(["routed", "a=b", 1, 1, 3]);
  const heardBefore = heard;
  await first.giveBack();
  const second = await taken();
  expect(second.page).toBe(first.page);
  await second.page.goto(address);
  expect(await second.page.evaluate(left)).toEqual(["hello", "", 0, 0, 2]);
  expect(heard).toBe(heardBefore);
  await second.giveBack();
});

test.each<[string, (page: Awaited<ReturnType<typeof taken>>["page"]) => Promise<unknown>]>([
  ["runs a script before the page's own", (page) => page.addInitScript("window.a = 1")],
  ["sets the clock", (page) => page.clock.install()],
  ["grants a right", (page) => page.context().grantPermissions(["clipboard-read"])],
  ["opens a second page", (page) => page.context().newPage()],
  ["closes it", (page) => page.context().close()],
])("one that %s is not used again", async (_, spoil) => {
  const first = await taken();
  await spoil(first.page);
  await first.giveBack();
  const second = await taken();
  expect(second.page).not.toBe(first.page);
  await second.giveBack();
});
