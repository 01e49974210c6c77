/** Settings, Assistants: a key that may write, what an assistant writes with it, and undo. */
import { expect, test } from "bun:test";
import { answered, httpClient } from "../assistants/support.ts";
import { at, SettingsWorld } from "./settings-support.ts";
import { axe, phone, sidewaysPixels, wide } from "./support.ts";

const world = await SettingsWorld.shared();

test("an owner makes a key, sees what the assistant wrote, and takes it back", async () => {
  const owner = await world.founder("Of assistants");
  const made = await owner.json<{ token: string }>("POST", at(owner, "/api/tokens"), { name: "server" }, 201);
  const sent = { userId: "u1", email: "ada@example.com", properties: { name: "Ada" } };
  expect((await world.server.post("/identify", made.token, sent)).status).toBe(201);

  const { page, complaints } = await world.settingsOf(owner, "assistants");
  await page.getByText("Nothing yet").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Claude");
  await page.getByLabel("Rights").selectOption({ label: "Reads, adds notes and tasks, handles alerts" });
  await page.getByRole("button", { name: "Create key" }).click();
  const shown = page.getByRole("dialog", { name: "Your new read key" });
  await shown.waitFor();
  const [key = ""] = /rr-[A-Za-z0-9]+/.exec((await shown.locator("pre").textContent()) ?? "") ?? [];
  expect(key).toMatch(/^rr-[A-Za-z0-9]{32}$/);
  await shown.getByRole("button", { name: "Done" }).click();

  const setUp = page.getByRole("region", { name: /^Set-up of/ });
  expect(await setUp.textContent()).toContain(`${world.server.url}/mcp`);
  await page.getByLabel("Assistant", { exact: true }).selectOption({ label: "Claude Desktop" });
  await page.getByRole("region", { name: "Set-up of Claude Desktop" }).getByText("REKINDLE_KEY").waitFor();

  const client = await httpClient(world.server, key, "2025-11-25");
  await answered(client, "add_note", {
    kind: "user",
    id: "u1",
    text: "Asked for an invoice.",
    idempotencyKey: "page-0001",
  });
  await client.close();
  const notes = () => owner.json<{ notes: { author: string }[] }>("GET", at(owner, "/api/users/u1/notes"));
  expect((await notes()).notes).toMatchObject([{ author: expect.stringMatching(/^assistant \(key \d+\)$/) }]);

  await page.reload();
  const row = page.getByRole("row", { name: /Added a note.*Claude/ });
  await row.waitFor();
  expect(await axe(page)).toEqual([]);
  await page.setViewportSize(phone);
  expect(await sidewaysPixels(page)).toBe(0);
  await page.setViewportSize(wide);
  await row.getByRole("button", { name: /^Undo note/ }).click();
  await row.getByText("undone").waitFor();
  expect((await notes()).notes).toEqual([]);
  expect(complaints).toEqual([]);
});
