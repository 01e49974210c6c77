/** The order in which the page of an account names its members. */
import { beforeAll, expect, test } from "bun:test";
import { joined } from "../people/support.ts";
import { at, SettingsWorld } from "./settings-support.ts";
import { type Somebody, settled } from "./support.ts";

const world = await SettingsWorld.shared();
let owner: Somebody;

/** In an order that is neither that of what they do nor that of their names. */
const members = { cleo: 4, ada: 32, fay: 1, bea: 16, eve: 2, dan: 8 } as const;
const byShare = ["ada", "bea", "dan", "cleo", "eve", "fay"];

beforeAll(async () => {
  const token = await world.server.organization("Carried");
  owner = await joined(world.server, "Carried", "owner", "Oda Owner");
  const dayMs = 86_400_000;
  const yesterdayMs = world.server.nowMs() - dayMs;
  const batch = Object.entries(members).flatMap(([userId, events]) => [
    {
      type: "identify",
      userId,
      email: `${userId}@example.com`,
      properties: { name: userId },
      account: { id: "acme", name: "Acme" },
    },
    ...Array.from({ length: events }, (_, n) => ({
      type: "track",
      userId,
      event: "opened",
      // On 8 days: the account is in use.
      timestamp: new Date(yesterdayMs - (n % 8) * dayMs - n * 1_000).toISOString(),
    })),
  ]);
  expect((await world.server.post("/batch", token, { batch })).status).toBe(201);
  await world.server.exported("events", "Carried");
});

test("the members of an account stand by what they carry, the largest share first", async () => {
  const { page } = await world.pageOf(owner);
  type Answer = { members: { userId: string; share: number }[] };
  const path = at(owner, "/api/accounts/acme/members");
  const shares = await owner.json<Answer>("GET", `${path}&sort=share&order=descending`);
  expect(shares.members.map(({ userId }) => userId)).toEqual(byShare);
  expect(new Set(shares.members.map(({ share }) => share)).size).toBe(6);
  await page.goto(`${world.server.url}/o/${owner.organization}/accounts/acme`);
  const carriers = page.getByRole("region", { name: "Activity by member" });
  const rows = page.getByRole("table", { name: "Members of this account" }).locator("tbody tr");
  await rows.first().waitFor();
  await settled(page);
  const strip = await carriers.getByRole("listitem").locator("span.truncate").allTextContents();
  expect(strip).toEqual(["ada", "bea", "dan", "cleo", "2 others"]);
  expect(await rows.getByRole("link").allTextContents()).toEqual(byShare);
  // The panel of carriers keeps its order when the table has another.
  await page.getByRole("columnheader", { name: "Share of activity" }).getByRole("button").click();
  await page.waitForURL(/order=ascending/);
  await settled(page);
  expect(await rows.getByRole("link").allTextContents()).toEqual(byShare.toReversed());
  expect(await carriers.getByRole("listitem").locator("span.truncate").allTextContents()).toEqual(strip);
});
