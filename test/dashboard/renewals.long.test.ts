/** The page of renewals, from billing events that are tracked to the figures that stand there. */
import { describe, expect, test } from "bun:test";
import { dayText } from "../../dashboard/text/format.ts";
import { company } from "../people/support.ts";
import { demonstrationDay } from "../scored-demonstration.ts";
import { openInOrganization, openPage, signInAs } from "./support.ts";
import { emptyOrganization, world } from "./world.ts";

const { server, browser } = await world();

const today = new Date(demonstrationDay * 86_400_000);
/** A day of the month so many months after the current one. */
const dayOf = (months: number, day: number) =>
  new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + months, day)).toISOString().slice(0, 10);

describe("billing events that were tracked", () => {
  test("are what renews, ends and came, and the payers of a month by date", async () => {
    const made = await company(server, "Renewing");
    const send = async (path: string, body: object) =>
      expect((await server.post(path, made.token, body)).status).toBe(201);
    for (const userId of ["ada", "bob", "cyd"]) {
      const properties = userId === "cyd" ? { owner: made.owner.email } : {};
      const account = { id: userId, name: `${userId} & sons`, properties };
      await send("/identify", { userId, email: `${userId}@example.com`, account });
    }
    const track = (userId: string, event: string, day: string, properties: object = {}) =>
      send("/track", {
        userId,
        event,
        timestamp: `${day}T12:00:00Z`,
        properties: { subscriptionId: `of ${userId}`, ...properties },
      });
    const price = (amount: number, interval: string, end: string) => ({
      plan: interval === "year" ? "Enterprise" : "Team",
      amount,
      currency: "USD",
      interval,
      currentPeriodEnd: `${end}T12:00:00Z`,
    });
    await track("ada", "subscription_started", dayOf(-2, 10), price(5_000, "month", dayOf(-1, 10)));
    await track("ada", "subscription_changed", dayOf(-1, 10), price(5_000, "month", dayOf(1, 10)));
    await track("bob", "subscription_started", dayOf(-2, 12), price(3_000, "month", dayOf(-1, 12)));
    await track("bob", "subscription_canceled", dayOf(-1, 12));
    await track("cyd", "subscription_started", dayOf(-2, 9), price(120_000, "year", dayOf(1, 9)));
    await server.exported("subscriptions", "Renewing");
    const { page, complaints } = await openPage(browser);
    await signInAs(page, server, made.owner);
    await page.goto(`${server.url}/o/${made.organization}/renewals`);
    const coming = page.getByRole("region", { name: "This month and the coming ones", exact: true });
    const next = dayText(dayOf(1, 1), "month");
    const renewing = await coming.getByRole("row", { name: new RegExp(next) }).textContent();
    expect(renewing).toContain("$150.00");
    await coming.getByText("No churn risk yet, so this is only what is due.", { exact: false }).waitFor();
    const past = page.getByRole("region", { name: "Past months: expected and outcome", exact: true });
    const before = await past
      .getByRole("row", { name: new RegExp(dayText(dayOf(-1, 1), "month")) })
      .textContent();
    for (const amount of ["$80.00", "$50.00", "$30.00"]) expect(before).toContain(amount);

    await coming.getByRole("button", { name: `Payers of ${next}` }).click();
    const payers = page.getByRole("table", { name: "Payers by date of renewal" });
    await payers.getByRole("link", { name: "cyd & sons" }).waitFor();
    const rows = await payers.getByRole("row").allTextContents();
    expect(rows).toHaveLength(3);
    expect(rows[1]).toMatch(
      /cyd & sons[\s\S]*\$100\.00[\s\S]*Enterprise[\s\S]*1 year[\s\S]*Renewing owner[\s\S]*no risk yet/,
    );
    await page.getByLabel("Billing interval").selectOption("yearly");
    await page.waitForURL(/interval=yearly/);
    await payers.getByRole("link", { name: "ada & sons" }).waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });
});

test("without billing data the page says how to connect it", async () => {
  const { page } = await openInOrganization(browser, server, "/renewals", await emptyOrganization());
  await page.getByRole("region", { name: "Connect your billing data" }).waitFor();
  await page.getByRole("link", { name: "Set up Stripe" }).waitFor();
});
