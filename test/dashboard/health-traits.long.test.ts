/** Parts of health of the organization's own, from identify to the page of a user. */
import { expect, test } from "bun:test";
import type { Static } from "typebox";
import type { ScoreAnswer } from "../../contract/api/scores.ts";
import { at, SettingsWorld, save } from "./settings-support.ts";
import { axe, notedMessages } from "./support.ts";

const world = await SettingsWorld.shared();
const noon = (daysAgo: number) => new Date(world.server.nowMs() - daysAgo * 86_400_000).toISOString();

/** Two users of one account, active every other day. Each said an NPS two days ago: Segment sends that time,
 * too. */
async function sendUsers(organization: string): Promise<void> {
  const { server } = world;
  const token = (await server.command("token", "create", "--organization", organization)).trim();
  const users = [
    { userId: "ada", nps: 8, isAccountOwner: true },
    { userId: "bob", nps: "2", isAccountOwner: false },
  ];
  const said = users.map(({ userId, nps }) => ({
    type: "identify",
    messageId: `${userId} said`,
    userId,
    timestamp: noon(2),
    traits: { email: `${userId}@example.com`, nps },
  }));
  expect((await server.post("/v1/batch", token, { batch: said })).status).toBe(200);
  const batch = users.flatMap(({ userId, isAccountOwner }) => [
    {
      type: "identify",
      userId,
      email: `${userId}@example.com`,
      isAccountOwner,
      account: { id: "acme", name: "Acme" },
    },
    ...Array.from({ length: 15 }, (_, index) => ({
      type: "track",
      userId,
      event: "opened",
      timestamp: noon(2 * index + 1),
    })),
  ]);
  const response = await server.post("/batch", token, { batch });
  expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  await server.exported("events", organization);
}

test("a trait becomes a part of health, with its points on the page and in the API", async () => {
  const owner = await world.founder("Own parts");
  const { page, complaints } = await world.settingsOf(owner, "scores");
  await page.getByRole("button", { name: "Add a trait" }).click();
  await page.getByLabel("Trait", { exact: true }).fill("nps");
  await page.getByLabel("Weight, %").fill("25");
  await page.getByText("The weights add up to 125%, not 100%.").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Scale to 100%" }).click();
  await page.getByText("The weights add up to 100%.").waitFor();
  expect(await page.getByLabel("Weight, %").inputValue()).toBe("20");
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page.getByText("There are no scores yet to compare with.").waitFor();
  expect(await axe(page)).toEqual([]);
  await save(page).click();
  await save(page).waitFor({ state: "detached" });
  // The schedule scores an organization within seconds of its first events, and there would be scores to
  // compare with.
  await sendUsers("Own parts");
  await world.server.command("score", "--organization", "Own parts");

  const scoreOf = (path: string) =>
    owner.json<Static<typeof ScoreAnswer>>("GET", at(owner, `/api/${path}/score`));
  for (const [path, value, score] of [
    ["users/ada", 8, 80],
    ["users/bob", 2, 20],
    ["accounts/acme", 8, 80],
  ] as const) {
    const { health } = await scoreOf(path);
    const scale = { trait: "nps", part: "trait.nps", zeroAt: 0, hundredAt: 10 };
    expect(health.traits).toEqual([{ ...scale, value }]);
    const sum = Object.values(health.contributions).reduce((all, part) => all + part, 0);
    expect(sum + health.cap).toBeCloseTo(health.score ?? Number.NaN, 9);
    // Engagement and momentum, or engagement and outlook: what exists beside nps has its own weight.
    const { engagement = 0 } = health.contributions;
    expect(health.contributions["trait.nps"]).toBeGreaterThan(score / 5);
    expect(engagement).toBeGreaterThan(0);
  }
  await page.goto(`${world.server.url}/o/${owner.organization}/users/ada`);
  const row = page.getByRole("table", { name: "Health of this user, part by part" }).getByText("nps");
  await row.waitFor();
  const told = await notedMessages(page);
  await page.getByRole("tab", { name: "Contacts" }).click();
  await page.getByLabel("What was said").fill("Hello");
  await page.getByRole("button", { name: "Add contact" }).click();
  await told("The contact is added. The timeline shows it within seconds.");
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});
