/** The pages as a browser gets them: policy, keyboard, screen readers, narrow screens, and the states of
 * figures. */
import { describe, expect, test } from "bun:test";
import {
  axe,
  comesTrue,
  openInOrganization,
  openPage,
  openWhileStarting,
  phone,
  settled,
  sidewaysPixels,
  signedIn,
  wide,
} from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();

/** A page of the demonstration's organization, with a signed-in user. */
const demoPage = (path: string, options: Parameters<typeof openPage>[1] = {}) =>
  openInOrganization(browser, server, path, "Demo", options);

const inOrganization = [
  "/overview",
  "/start",
  "/users",
  "/accounts",
  "/retention",
  "/revenue",
  "/renewals",
  "/events",
  "/model",
  "/settings/account",
];

describe("every page", () => {
  test.each(inOrganization)(
    // The end-to-end test sees them in light.
    "%s in dark obeys the security policy, axe finds nothing, and it is not wider than a phone",
    async (path) => {
      const { page, complaints } = await demoPage(path, { colorScheme: "dark" });
      await settled(page);
      expect(await axe(page)).toEqual([]);
      await page.setViewportSize(phone);
      expect(await sidewaysPixels(page)).toBe(0);
      expect(complaints).toEqual([]);
    },
  );
});

describe("before signing in", () => {
  test.each(["/sign-in", "/claim#code", "/password#code"])(
    "%s has names for everything, in both themes and on a phone",
    async (path) => {
      for (const options of [
        { colorScheme: "light", viewport: wide },
        { colorScheme: "dark", viewport: phone },
      ] as const) {
        const { page, complaints } = await openPage(browser, options);
        await page.goto(server.url + path);
        await page.locator("h1").waitFor();
        expect(await axe(page)).toEqual([]);
        expect(await sidewaysPixels(page)).toBe(0);
        expect(complaints).toEqual([]);
        await page.context().close();
      }
    },
  );

  test("the code of a link leaves the address at once", async () => {
    const { page } = await openPage(browser);
    await page.goto(`${server.url}/password#secret-code`);
    await page.getByLabel("New password").waitFor();
    await page.waitForURL(`${server.url}/password`);
  });

  test("a signed-out visitor is asked to sign in, and the requested page is kept", async () => {
    const { page } = await openPage(browser);
    await page.goto(`${server.url}/o/1/users?search=ada`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.waitForURL((url) => url.searchParams.get("next") === "/o/1/users?search=ada");
  });
});

describe("by keyboard", () => {
  test("the first key leads past the navigation", async () => {
    const { page } = await demoPage("/users");
    await settled(page);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await comesTrue(page, `document.activeElement.id === "page"`);
  });

  test("the palette opens with Ctrl+K, finds a user and goes there", async () => {
    const { page, complaints } = await demoPage("/overview");
    const [email = "", userId = ""] = await firstUser();
    await settled(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find a page, a user or an account" }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.type(email);
    await page.getByRole("option", { name: /Users$/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/users/${encodeURIComponent(userId)}`);
    await page.getByRole("main").getByText(email).first().waitFor();
    expect(complaints).toEqual([]);
  });

  test("a column's header sorts, and says so in the address and to screen readers", async () => {
    const { page } = await demoPage("/users");
    const header = page.getByRole("columnheader", { name: "User" });
    await header.getByRole("button").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/sort=name/);
    // The address changes first, and then the page.
    await header.and(page.locator("[aria-sort=ascending]")).waitFor();
  });
});

/** E-mail and id of one user of the demonstration. */
async function firstUser(): Promise<string[]> {
  const [user] = await server.exported("users", "Demo");
  return [String(user?.email), String(user?.userId)];
}

describe("the states of a figure", () => {
  test("while analysis starts, it is said, and the figure comes by itself", async () => {
    const { page, ends } = await openWhileStarting(browser, server, "/events", "**/api/events?*");
    ends();
    await page.getByRole("table", { name: "Every event by name" }).waitFor();
  });

  test("an error is shown in the server's words, and another try repairs it", async () => {
    const { page } = await openPage(browser);
    const { id } = await signedIn(page, server, "Demo");
    let isFailing = true;
    await page.route("**/api/events?*", (route) =>
      isFailing
        ? route.fulfill({
            status: 400,
            json: { message: "limit is not valid.", statusCode: 400, name: "validation_error" },
          })
        : route.fallback(),
    );
    await page.goto(`${server.url}/o/${id}/events`);
    await page.getByRole("alert").getByText("The limit is not valid.").waitFor();
    isFailing = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("table", { name: "Every event by name" }).waitFor();
  });

  test("an organization that is not the reader's is no page", async () => {
    const { page } = await openPage(browser);
    await signedIn(page, server, "Demo");
    await page.goto(`${server.url}/o/999/overview`);
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  });
});

test("a theme that was chosen stays, and is there before anything is drawn", async () => {
  const { page } = await demoPage("/overview", { colorScheme: "light" });
  await page.getByRole("button", { name: /Ada Lovelace/ }).click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  await page.reload({ waitUntil: "commit" });
  await page.locator("h1").waitFor();
  expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
});
