/** Exclusions: the users that a rule would exclude, the number that each excludes, and a user's own page. */
import { beforeAll, expect, test } from "bun:test";
import { joined } from "../people/support.ts";
import { becomes } from "../until.ts";
import { answered, at, SettingsWorld } from "./settings-support.ts";
import { axe, phone, type Somebody, settled, sidewaysPixels } from "./support.ts";

const world = await SettingsWorld.shared();
let owner: Somebody;

beforeAll(async () => {
  const token = await world.server.organization("Excluding");
  owner = await joined(world.server, "Excluding", "owner", "Olga Owner");
  for (const [userId, name] of [
    ["a", "Ann"],
    ["b", "Ben"],
    ["c", "Cyd"],
    ["d", "Dan"],
  ] as const) {
    const email = `${userId}@${userId === "d" ? "customer" : "staff"}.example`;
    await world.server.post("/identify", token, { userId, email, properties: { name } });
    await world.server.post("/track", token, { userId, event: "opened" });
  }
  await world.server.exported("events", "Excluding");
});

const listed = async () =>
  (
    await owner.json<{ users: { userId: string }[] }>(
      "GET",
      `${at(owner, "/api/users")}&sort=userId&order=ascending`,
    )
  ).users
    .map(({ userId }) => userId)
    .join();

/** Waits until the list has these users: rules reach figures within seconds. */
const untilListed = (users: string) => becomes(listed, users);

test("a rule shows the users it would exclude before it is added, and the number of matches afterwards", async () => {
  const { page, complaints } = await world.settingsOf(owner, "exclusions");
  await page.getByLabel("Domain").fill("staff.example");
  await page.getByText("Would exclude 3 users, e.g. Ann, Ben, Cyd.").waitFor();
  await page.getByLabel("Domain").fill("staf.example");
  await page.getByText("This rule matches no user.", { exact: false }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Add rule" }).click();
  const row = (name: string) => page.getByRole("row", { name: new RegExp(`^${name}`) });
  await row("E-mails at staf.example").getByText("matches no user").waitFor();
  await page.getByLabel("Who", { exact: true }).selectOption("trait");
  await page.getByLabel("Trait").fill("name");
  await page.getByLabel("Value").fill("Ann");
  await page.getByText("Would exclude 1 user, e.g. Ann.").waitFor();
  await page.getByRole("button", { name: "Add rule" }).click();
  await row("Users whose name is Ann").getByRole("cell", { name: "1", exact: true }).waitFor();
  await untilListed("b,c,d");
  await page.getByLabel("Who", { exact: true }).selectOption("email");
  await page.getByLabel("E-mail", { exact: true }).fill("*@staff.example");
  await page
    .getByText("Would exclude 2 users, and matches 1 user already excluded, e.g. Ben, Cyd, Ann.")
    .waitFor();
  expect(await axe(page)).toEqual([]);
  for (const name of ["E-mails at staf.example", "Users whose name is Ann"]) {
    await page.getByRole("button", { name: `Remove the rule: ${name}` }).click();
    await answered(page, "Remove rule");
    await row(name).waitFor({ state: "detached" });
  }
  await untilListed("a,b,c,d");
  expect(complaints).toEqual([]);
});

test("a user is excluded on its own page, which then names the rule; viewers cannot", async () => {
  const path = `${world.server.url}/o/${owner.organization}/users/b`;
  const viewer = await joined(world.server, "Excluding", "viewer", "Vera Viewer");
  const seen = await world.pageOf(viewer);
  await seen.page.goto(path);
  await seen.page.getByRole("heading", { name: "Ben", level: 1 }).waitFor();
  await settled(seen.page);
  expect(await seen.page.getByRole("button", { name: /^Exclude/ }).count()).toBe(0);
  const { page, complaints } = await world.pageOf(owner, { viewport: phone });
  await page.goto(path);
  await page.getByRole("button", { name: /^Exclude/ }).click();
  await answered(page, "Exclude user");
  await page.getByText("This user is excluded:", { exact: false }).waitFor();
  await page.getByRole("link", { name: "The user b" }).waitFor();
  expect(await page.getByRole("button", { name: /^Exclude/ }).count()).toBe(0);
  expect(await listed()).toBe("a,c,d");
  await settled(page);
  expect(await axe(page)).toEqual([]);
  expect(await sidewaysPixels(page)).toBe(0);
  await page.getByRole("link", { name: "The user b" }).click();
  await page
    .getByRole("row", { name: /^The user b/ })
    .getByRole("cell", { name: "1", exact: true })
    .waitFor();
  await seen.page.reload();
  await seen.page.getByRole("link", { name: "The user b" }).waitFor();
  expect(complaints).toEqual([]);
  await Promise.all([page.context().close(), seen.page.context().close()]);
});
