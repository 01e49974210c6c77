/** The question whether users have left, as members and viewers see it. */
import { beforeAll, expect, test } from "bun:test";
import { joined } from "../people/support.ts";
import { axe, openPage, phone, sidewaysPixels, signInAs, wide } from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();
const longName = `order_cancelled_${"by_customer_".repeat(12)}`;

beforeAll(async () => {
  const token = await server.organization("Asked");
  const batch = Array.from({ length: 14 }, (_, n) => [
    { type: "identify", userId: `u${n}`, email: `u${n}@example.com` },
    { type: "track", userId: `u${n}`, event: "opened" },
    { type: "track", userId: `u${n}`, event: "subscription_canceled" },
    ...(n === 0 ? [longName, "trial_cancelled"] : []).map((event) => ({
      type: "track",
      userId: "u0",
      event,
    })),
  ]).flat();
  await server.post("/batch", token, { batch });
  await server.exported("events", "Asked");
});

const question = "14 people sent subscription_canceled. Does it mean that they have left?";

async function pageOf(role: "viewer" | "member", options: Parameters<typeof openPage>[1] = {}) {
  const person = await joined(server, "Asked", role, `${role} ${crypto.randomUUID().slice(0, 8)}`);
  const watched = await openPage(browser, options);
  await signInAs(watched.page, server, person);
  const open = async (path: string) => {
    await watched.page.goto(`${server.url}/o/${person.organization}/${path}`);
    await watched.page.getByText(question).waitFor();
  };
  return { ...watched, open };
}

test("viewers see the question on overview, start and settings, and have no buttons", async () => {
  const { page, open } = await pageOf("viewer");
  for (const path of ["overview", "start", "settings/scores"]) {
    await open(path);
    const card = page.getByRole("region", { name: "What subscription_canceled means" });
    expect(await card.textContent()).toContain("Members and owners can answer.");
    expect(await card.getByRole("button").count()).toBe(0);
  }
});

test("it fits wide and narrow screens, light and dark, and axe finds nothing", async () => {
  for (const viewport of [wide, phone]) {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, open } = await pageOf("member", { viewport, colorScheme });
      await open("overview");
      expect([viewport.width, colorScheme, await axe(page)]).toEqual([viewport.width, colorScheme, []]);
      expect(await sidewaysPixels(page)).toBe(0);
      await page.context().close();
    }
  }
});

test("an answer keeps what others changed meanwhile, and no second one is sent beside it", async () => {
  const { page, open } = await pageOf("member");
  await open("overview");
  const card = page.getByRole("region", { name: "What trial_cancelled means" });
  await card.getByRole("button", { name: "No" }).waitFor();
  await server.command("settings", "set", "--organization", "Asked", "--ordinary-event", "refund_cancelled");
  const held = Promise.withResolvers<void>();
  await page.route("**/api/settings?*", async (route) => {
    if (route.request().method() === "PATCH") await held.promise;
    await route.continue();
  });
  await card.getByRole("button", { name: "No" }).click();
  for (const button of await page.getByRole("button", { name: /^(No|Yes, they have left)$/ }).all()) {
    expect(await button.isDisabled()).toBe(true);
  }
  held.resolve();
  await card.waitFor({ state: "detached" });
  const shown = await server.command("settings", "show", "--organization", "Asked");
  expect(shown).toMatch(/ordinaryEvents +.*refund_cancelled.*trial_cancelled/);
});

test("a member answers with a click: yes makes it the churn event, no an ordinary one", async () => {
  const { page, open, complaints } = await pageOf("member");
  await open("overview");
  const card = (event: string) => page.getByRole("region", { name: `What ${event} means` });
  await card("subscription_canceled").getByRole("button", { name: "Yes, they have left" }).click();
  await card("subscription_canceled").waitFor({ state: "detached" });
  await card(longName).getByRole("button", { name: "No" }).click();
  await card(longName).waitFor({ state: "detached" });
  const shown = await server.command("settings", "show", "--organization", "Asked");
  expect(shown).toMatch(/churnTargets\.user\.event +subscription_canceled/);
  expect(shown).toMatch(new RegExp(`ordinaryEvents +.*${longName}`));
  expect(complaints).toEqual([]);
});
