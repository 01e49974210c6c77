/** Tasks, notes, contacts and owners on the pages, with the mouse and with the keyboard. */
import { beforeAll, expect, test } from "bun:test";
import { axe, openInOrganization, settled } from "./support.ts";
import { untilShown } from "./tables.ts";
import { world } from "./world.ts";

const { server, browser } = await world();
const organization = "At work";
const longTitle = `Call ${"long ".repeat(39)}`.trim();

beforeAll(async () => {
  const token = await server.organization(organization);
  const account = { id: "acme", name: "Acme" };
  const batch = ["ada", "bob"].map((userId) => ({
    type: "identify",
    userId,
    email: `${userId}@example.com`,
    account,
  }));
  expect((await server.post("/batch", token, { batch })).status).toBe(201);
  await server.exported("accounts", organization);
});

test("a task is added, changed and done on a user's page, and listed on the page Tasks", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/users/ada", organization);
  const panel = page.getByRole("region", { name: "Tasks, notes and contacts" });
  await panel.getByText("No task yet").waitFor();
  await panel.getByRole("button", { name: "Add task" }).click();
  const dialog = page.getByRole("dialog", { name: "Add task" });
  await dialog.getByLabel("Title").fill(longTitle);
  await dialog.getByLabel("Due").fill("2020-02-29");
  const mine = await dialog.getByLabel("Assignee").locator("option", { hasText: "(you)" }).textContent();
  await dialog.getByLabel("Assignee").selectOption({ label: mine ?? "" });
  expect(await axe(page)).toEqual([]);
  await dialog.getByLabel("Title").press("Enter");
  await dialog.waitFor({ state: "detached" });
  await panel.getByText(longTitle).waitFor();
  await panel.getByText(/^Overdue since/).waitFor();
  await page.getByRole("link", { name: "Tasks", exact: true }).first().click();
  await page.getByRole("tab", { name: "Overdue" }).click();
  await page.getByRole("link", { name: "ada@example.com" }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("checkbox", { name: `Done: ${longTitle}` }).press("Space");
  await page.getByText("Nothing is overdue").waitFor();
  await page.getByRole("tab", { name: "Done" }).click();
  await page.getByText(longTitle).waitFor();
  expect(complaints).toEqual([]);
});

test("the page Tasks has those for the users and accounts of a segment", async () => {
  const { page, complaints, id } = await openInOrganization(browser, server, "/tasks", organization);
  const post = async (path: string, data: object) => {
    const headers = { "X-Rekindle": "dashboard" };
    const at = `${server.url}${path}?organization=${id}`;
    expect((await page.request.post(at, { headers, data })).status()).toBe(201);
  };
  await post("/api/users/bob/tasks", { title: "Bring Bob back" });
  await post("/api/accounts/acme/tasks", { title: "Renew Acme" });
  await post("/api/segments", { kind: "users", name: "Only Ada", ids: ["ada"] });
  await post("/api/segments", { kind: "users", name: "Only Bob", ids: ["bob"] });
  await post("/api/segments", { kind: "accounts", name: "Only Acme", ids: ["acme"] });
  await page.goto(`${server.url}/o/${id}/tasks?assignee=anyone`);
  await page.getByText("2 tasks", { exact: true }).waitFor();
  const pick = page.getByLabel("Segment", { exact: true });
  await pick.selectOption({ label: "Only Bob" });
  await page.getByText("1 task", { exact: true }).waitFor();
  await page.getByText("Bring Bob back").waitFor();
  expect(page.url()).toMatch(/[?&]segment=\d+/);
  await pick.selectOption({ label: "Only Acme" });
  await page.getByText("2 tasks", { exact: true }).waitFor();
  await page.getByText("Renew Acme").waitFor();
  await pick.selectOption({ label: "Only Ada" });
  await page.getByText("No task matches").waitFor();
  await settled(page);
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("notes and contacts are written, and stand in the timeline", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/users/bob", organization);
  const panel = page.getByRole("region", { name: "Tasks, notes and contacts" });
  // Before the first scores one card stands in place of six empty ones.
  await page.getByRole("region", { name: "Scores", exact: true }).getByText("No scores yet").waitFor();
  for (const name of ["What changed", "Churn risk", "Health by component", "Score history"]) {
    expect([name, await page.getByRole("region", { name, exact: true }).count()]).toEqual([name, 0]);
  }
  await panel.getByRole("tab", { name: "Notes" }).click();
  await panel.getByLabel("New note").fill("First line\nsecond line");
  await panel.getByRole("button", { name: "Add note" }).click();
  await panel.getByText("First line").waitFor();
  await panel.getByRole("button", { name: "Change" }).click();
  await panel.getByLabel("Note", { exact: true }).fill("Another text, **bold**, https://crm.example.com/7.");
  await panel.getByRole("button", { name: "Save" }).click();
  await panel.getByText("Another text").waitFor();
  await panel.locator("b", { hasText: "bold" }).waitFor();
  expect(await panel.getByRole("link", { name: "https://crm.example.com/7" }).getAttribute("href")).toBe(
    "https://crm.example.com/7",
  );
  expect(await axe(page)).toEqual([]);
  await panel.getByRole("tab", { name: "Contacts" }).click();
  // Nothing is logged by one click.
  await panel.getByRole("button", { name: "Add contact" }).click();
  await panel.getByText("Write what it was about.").waitFor();
  await panel.getByText("No contact yet").waitFor();
  await panel.getByLabel("What was said").fill("Was glad");
  await panel.getByRole("button", { name: "Add contact" }).click();
  const contacts = panel.getByRole("list", { name: "Contacts, the latest first" });
  await contacts.getByText("Was glad").waitFor();
  await contacts.getByText("Call", { exact: true }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.reload();
  const timeline = page.getByRole("region", { name: "Timeline" });
  await timeline.getByText("Note", { exact: true }).waitFor();
  await timeline.getByText("contacted", { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

test("an owner is chosen, and lists show and filter it", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/accounts/acme", organization);
  await page.getByRole("button", { name: "No owner …" }).click();
  const dialog = page.getByRole("dialog", { name: "Owner" });
  const mine = await dialog.getByLabel("Team member").locator("option", { hasText: "(you)" }).textContent();
  await dialog.getByLabel("Team member").selectOption({ label: mine ?? "" });
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: /^Owner: / }).waitFor();
  await server.exported("accounts", organization);
  await page.goto(page.url().replace(/\/accounts\/.*/, "/users?owner=me"));
  await untilShown(page, ["ada@example.com", "bob@example.com"]);
  await page.getByRole("columnheader", { name: "Owner" }).waitFor();
  await page.getByLabel("Owner", { exact: true }).selectOption("nobody");
  await page.getByText("No user matches").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("churned accounts that there are none of are said to be none", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/win-back", organization);
  await page.getByText("No scores yet").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});
