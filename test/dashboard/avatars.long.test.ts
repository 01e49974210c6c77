/** Pictures of users and accounts: from other hosts only where the installation allows it, in data: addresses
 * always. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { Server } from "../server.ts";
import { startBrowser } from "./chromium.ts";
import { openInOrganization, settled } from "./support.ts";

const organization = "Pictures";
/** One pixel. */
const pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const remote = "https://pictures.test/a.png";
const within = `data:image/gif;base64,${pixel}`;

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** The hosts that the page of a user asks, and the pictures that it shows. */
async function shownOf(server: Server, userId: string, isLoaded: boolean) {
  const { page, complaints, id } = await openInOrganization(browser, server, "/users", organization);
  const asked: string[] = [];
  await page.context().route("https://pictures.test/**", async (route) => {
    asked.push(route.request().url());
    await route.fulfill({ contentType: "image/gif", body: Buffer.from(pixel, "base64") });
  });
  const toldOf = page.waitForResponse((response) => response.url().endsWith("/api/installation"));
  toldOf.catch(() => undefined);
  const document = await page.goto(`${server.url}/o/${id}/users/${userId}`);
  if (userId === "remote") await toldOf;
  await settled(page);
  if (isLoaded) await page.locator("img").waitFor();
  const pictures = await page.locator("img").evaluateAll((all) => all.map((one) => one.getAttribute("src")));
  const policy = document?.headers()["content-security-policy"] ?? "";
  await page.context().close();
  return { asked, pictures, complaints, images: /img-src ([^;]*)/.exec(policy)?.[1] };
}

test.each([
  ["off", undefined, []],
  ["on", "on", [remote]],
] as const)("with REMOTE_IMAGES %s", async (_title, REMOTE_IMAGES, expected) => {
  const server = await Server.start({ env: REMOTE_IMAGES === undefined ? {} : { REMOTE_IMAGES } });
  try {
    const token = await server.organization(organization);
    for (const [userId, avatar] of [
      ["remote", remote],
      ["within", within],
    ]) {
      const email = `${userId}@example.com`;
      await server.post("/identify", token, { userId, email, properties: { name: userId, avatar } });
    }
    await server.exported("users", organization);
    const ofRemote = await shownOf(server, "remote", REMOTE_IMAGES === "on");
    expect(ofRemote).toEqual({
      asked: [...expected],
      pictures: [...expected],
      complaints: [],
      images: REMOTE_IMAGES === "on" ? "'self' data: https:" : "'self' data:",
    });
    const ofWithin = await shownOf(server, "within", true);
    expect([ofWithin.pictures, ofWithin.asked, ofWithin.complaints]).toEqual([[within], [], []]);
  } finally {
    await server.stop();
  }
});
