/** The pulse on the page of an account, and the columns and filters of seats and pulse in the list. */
import { beforeAll, expect, test } from "bun:test";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { axe, openInOrganization, settled } from "./support.ts";
import { untilShown } from "./tables.ts";
import { world } from "./world.ts";

const { server, browser } = await world();
const organization = "Pulses";

beforeAll(async () => {
  const token = await server.organization(organization, "--timezone", quietZone);
  const today = todayIn(quietZone);
  const seated = [
    { userId: "ada", account: { id: "acme", name: "Acme", properties: { seats: 20 } } },
    { userId: "bob", account: { id: "bolt", name: "Bolt", properties: { seats: 1 } } },
  ];
  const batch = [
    ...seated.map((one) => ({
      type: "identify",
      email: `${one.userId}@example.com`,
      timestamp: `${formatDay(today - 40)}T12:00:00Z`,
      ...one,
    })),
    ...seated.flatMap(({ userId }) =>
      Array.from({ length: 20 }, (_, days) => ({
        type: "track",
        userId,
        event: "opened",
        timestamp: `${formatDay(today - 1 - days)}T12:00:00Z`,
      })),
    ),
  ];
  expect((await server.post("/batch", token, { batch })).status).toBe(201);
  await server.exported("events", organization);
  await server.command("score", "--organization", organization);
});

test("a pulse is said, shown with its author, in the timeline, and taken back", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/accounts/acme", organization);
  await page.getByText("uses 1 of 20 seats (5%)").waitFor();
  await page.getByRole("button", { name: "No pulse …" }).click();
  const dialog = page.getByRole("dialog", { name: "Pulse" });
  await dialog.getByText("Nobody has judged this account yet.").waitFor();
  expect(await dialog.getByRole("button", { name: "Save pulse" }).isDisabled()).toBe(true);
  await dialog.getByLabel("How is this account doing?").selectOption({ label: "2, unhappy" });
  await dialog.getByLabel("Why, in a sentence").fill("Their champion left.");
  await settled(page);
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save pulse" }).click();
  await page.getByRole("button", { name: "Pulse 2 of 5 …" }).click();
  const said = dialog.getByRole("list", { name: "Pulses, the newest first" });
  await said.getByText("Their champion left.").waitFor();
  await said.getByText("current").waitFor();
  await settled(page);
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  const timeline = page.getByRole("region", { name: "Timeline" });
  await timeline.getByText("Pulse", { exact: true }).waitFor();
  await timeline.getByText("2 of 5 · Their champion left.").waitFor();
  await page.getByRole("button", { name: "Pulse 2 of 5 …" }).click();
  await said.getByRole("button", { name: "Take back" }).click();
  await said.getByText("taken back").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "No pulse …" }).waitFor();
  expect(complaints).toEqual([]);
});

test("the list has seats and seats used as columns, and is filtered by them", async () => {
  const { page, complaints } = await openInOrganization(
    browser,
    server,
    "/accounts?columns=account,seats,seatsUsed,pulse",
    organization,
  );
  await untilShown(page, ["Acme", "Bolt"]);
  for (const name of ["Seats", "Seats used", "Pulse"]) {
    await page.getByRole("columnheader", { name, exact: true }).waitFor();
  }
  const acme = page.getByRole("row").filter({ hasText: "Acme" });
  expect((await acme.getByRole("cell").allInnerTexts()).slice(-3)).toEqual(["20", "5%", "–"]);
  await page.getByRole("button", { name: "Seats and pulse" }).click();
  await page.getByLabel("Per cent of seats").fill("50");
  await page.getByLabel("Per cent of seats").press("Enter");
  await page.getByText("Seats used up to 50%").waitFor();
  await untilShown(page, ["Acme"]);
  expect(page.url()).toContain("seatsUsedTo=50");
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});
