/** The page that imports files: the guess with its reasons, the question for the timezone, the dry run,
 * progress after a reload, and rejected rows. */
import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { joined } from "../people/support.ts";
import { answered, SettingsWorld } from "./settings-support.ts";
import { axe, phone, type Somebody, settled, sidewaysPixels } from "./support.ts";

const world = await SettingsWorld.shared();
let owner: Somebody;

beforeAll(async () => {
  await world.server.organization("Importing");
  owner = await joined(world.server, "Importing", "owner", "Olga Owner");
});

const users = "customer,mail,seats\nc1,ada@example.com,3\nc2,bob@example.com,4\nc3,nobody,5\n";
const events = "customer,event,when\nc1,opened,2026-05-01 10:00\nc2,opened,2026-05-01 11:00\n";

function file(name: string, content: string) {
  return { name, mimeType: "text/csv", buffer: Buffer.from(content) };
}

test("an owner imports users and events, and sees each step", async () => {
  const { page, complaints } = await world.settingsOf(owner, "import");
  await page.getByText("No imports yet").waitFor();
  const choose = page.getByLabel("Choose a file, or drop it here");
  await choose.setInputFiles(file("users.csv", users));
  const one = page.getByRole("region", { name: "users.csv", exact: true });
  await one.getByText("By its name.").first().waitFor();
  expect(await one.getByLabel("What it is").inputValue()).toBe("users");
  expect(await one.getByLabel("What customer becomes").inputValue()).toBe("userId");
  expect(await one.getByLabel("What mail becomes").inputValue()).toBe("email");
  await one.getByText("2 of 3 values are e-mail addresses.").waitFor();
  await one.getByRole("cell", { name: "bob@example.com" }).waitFor();
  expect(await axe(page)).toEqual([]);
  await one.getByRole("button", { name: "Check file" }).click();
  await one.getByText("Of 3 rows, 2 would be stored", { exact: false }).waitFor();
  await one.getByRole("row", { name: /^1 4 email/ }).waitFor();
  await page.reload();
  await one.getByText("Of 3 rows, 2 would be stored", { exact: false }).waitFor();
  await one.getByRole("button", { name: "Import file" }).click();
  const row = page.getByRole("row", { name: /^users\.csv Imported 2 stored, 1 rejected Olga Owner/ });
  await row.waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Rejected rows of users.csv" }).click(),
  ]);
  expect(readFileSync(await download.path(), "utf8")).toContain("c3,nobody,5");

  await choose.setInputFiles(file("events.csv", events));
  const second = page.getByRole("region", { name: "events.csv", exact: true });
  const zone = second.getByLabel("Timezone of times without one");
  await zone.fill("Mars/Base");
  await second.getByRole("button", { name: "Check file" }).click();
  await second.getByText("such as Europe/Paris", { exact: false }).waitFor();
  await zone.fill("Europe/Paris");
  await second.getByRole("button", { name: "Check file" }).click();
  await second.getByRole("button", { name: "Import file" }).click();
  await page.getByRole("row", { name: /^events\.csv Imported 2 stored/ }).waitFor();
  await page.getByRole("button", { name: "Delete users.csv" }).click();
  await answered(page, "Delete file");
  await row.waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
  await page.context().close();
});

test("a file that cannot be read says why, on a phone, and members do not see the page", async () => {
  const { page, complaints } = await world.settingsOf(owner, "import", { viewport: phone });
  await page.getByLabel("Choose a file, or drop it here").setInputFiles(file("twice.csv", "a,a\n1,2\n"));
  await page.getByText("give each a name of its own", { exact: false }).waitFor();
  await settled(page);
  expect(await axe(page)).toEqual([]);
  expect(await sidewaysPixels(page)).toBe(0);
  const member = await joined(world.server, "Importing", "member", "Mia Member");
  const seen = await world.settingsOf(member, "import");
  await seen.page.getByText("This is for owners").waitFor();
  expect(complaints).toEqual([]);
  await Promise.all([page.context().close(), seen.page.context().close()]);
});
