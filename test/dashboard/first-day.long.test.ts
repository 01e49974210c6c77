/** The first days of an organization: what the overview and the Start page say before there is a week, or a
 * score. */
import { describe, expect, test } from "bun:test";
import { formatDay } from "../../server/calendar/days.ts";
import { joined } from "../people/support.ts";
import { demonstrationDay } from "../scored-demonstration.ts";
import { Server } from "../server.ts";
import { axe, openInOrganization, settled } from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();

interface Done {
  readonly user: string;
  readonly daysAgo: number;
  readonly event?: string;
}

/** An organization whose users sent these events, the first of them identified last. */
async function organization(name: string, done: readonly Done[], of = server): Promise<void> {
  const token = await of.organization(name);
  const users = [...new Set(done.map(({ user }) => user))].toReversed();
  const batch = [
    ...users.map((userId) => ({
      type: "identify",
      userId,
      email: `${userId}@example.com`,
      properties: { name: `The ${userId}` },
    })),
    ...done.map(({ user, daysAgo, event = "opened" }) => ({
      type: "track",
      userId: user,
      event,
      timestamp: new Date(of.nowMs() - daysAgo * 86_400_000).toISOString(),
    })),
  ];
  const response = await of.post("/batch", token, { batch });
  expect(await response.json()).toMatchObject({ rejected: [] });
  await of.exported("events", name);
}

const history = (user: string, from: number, to: number): Done[] =>
  Array.from({ length: from - to + 1 }, (_, index) => ({ user, daysAgo: from - index }));

describe("on the first day", () => {
  test("the overview says what is there and what comes, and no card is empty", async () => {
    await organization(
      "First",
      ["ada", "bob", "cleo"].map((user) => ({ user, daysAgo: 0 })),
    );
    const { page, complaints } = await openInOrganization(browser, server, "/overview", "First");
    await settled(page);
    const main = (await page.getByRole("main").textContent()) ?? "";
    // A test that runs at midnight has its events yesterday.
    const isStillToday = main.includes("3 today so far");
    if (isStillToday) {
      expect(main).toMatch(
        /Your first events came today\. The first week's summary is here (on|next) Monday\./,
      );
      expect(main).toContain("The first scores appear tomorrow");
    }
    for (const wrong of ["No user did anything", "rekindle score", "No scores of", "half year"]) {
      expect(main).not.toContain(wrong);
    }
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("with days before, a member scores at once, by a button that is no command", async () => {
    await organization("History", [...history("ada", 40, 1), ...history("bob", 40, 1)]);
    const { page, id } = await openInOrganization(browser, server, "/start", "History");
    const scored = page.waitForResponse("**/api/scores?*");
    await page.goto(`${server.url}/o/${id}/overview`);
    await page.getByText("No scores yet", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Score now" }).click();
    await page.getByRole("region", { name: "Health of users" }).getByRole("img").first().waitFor();
    const response = await scored;
    expect([response.status(), await response.json()]).toEqual([
      200,
      {
        day: formatDay(demonstrationDay),
        users: 2,
        accounts: 0,
        stoppedSince: null,
        silentSource: null,
      },
    ]);
  });
});

describe("scoring at once", () => {
  const score = async (cookie: string | undefined, id: number) =>
    fetch(`${server.url}/api/scores?organization=${id}`, {
      method: "POST",
      headers: { Cookie: `rekindle_session=${cookie}`, "X-Rekindle": "dashboard" },
    });

  test("is for members, at most once a minute, and a viewer cannot", async () => {
    await organization("Scored", [...history("ada", 40, 1), ...history("bob", 40, 1)]);
    const owner = await joined(server, "Scored", "owner", "Ada Lovelace");
    const member = await joined(server, "Scored", "member", "Mary Somerville");
    const viewer = await joined(server, "Scored", "viewer", "Charles Babbage");
    expect((await score(viewer.cookie, viewer.organization)).status).toBe(403);
    expect((await score(owner.cookie, owner.organization)).status).toBe(200);
    const again = await score(member.cookie, member.organization);
    expect(again.status).toBe(429);
    const waitSeconds = Number(again.headers.get("Retry-After"));
    expect(waitSeconds).toBeGreaterThan(0);
    expect(waitSeconds).toBeLessThanOrEqual(60);
    const key = await server.command("key", "create", "--organization", "Scored");
    const summary = await fetch(`${server.url}/api/score-summary`, {
      headers: { Authorization: `Bearer ${key.trim()}` },
    });
    const { counts } = (await summary.json()) as { counts: { count: number }[] };
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(2);
  });
});

test("while the past arrives, pages say so in place of figures, which come by themselves", async () => {
  // Its schedule looks for the first time after the test.
  const loading = await Server.start({ time: { scheduleMs: 3_600_000 } });
  try {
    await loading.ready();
    await organization("Loading", [...history("ada", 40, 1), ...history("bob", 40, 1)], loading);
    const { page, id, complaints } = await openInOrganization(browser, loading, "/overview", "Loading");
    const said = page.getByText("Your data is still loading: 80 events so far");
    for (const path of ["overview", "accounts", "retention", "users/ada"]) {
      await page.goto(`${loading.url}/o/${id}/${path}`);
      await said.waitFor();
      expect(await page.getByRole("table").count()).toBe(0);
    }
    expect(await axe(page)).toEqual([]);
    await page.goto(`${loading.url}/o/${id}/sources`);
    await page.getByRole("heading", { name: "Sources", level: 1 }).waitFor();
    await page.goto(`${loading.url}/o/${id}/overview`);
    await said.waitFor();
    await loading.command("score", "--organization", "Loading");
    await page.getByRole("region", { name: "Health of users" }).getByRole("img").first().waitFor();
    expect(await said.count()).toBe(0);
    expect(complaints).toEqual([]);
  } finally {
    await loading.stop();
  }
});

test("the Start page shows the last event of all users, with its user, and not that of the newest user", async () => {
  await organization("Latest", [
    { user: "ada", daysAgo: 0.0001, event: "report_shared" },
    { user: "bob", daysAgo: 2, event: "task_completed" },
    { user: "cleo", daysAgo: 1, event: "task_started" },
  ]);
  const { page, id } = await openInOrganization(browser, server, "/start", "Latest");
  await page.getByText("report_shared by The ada").waitFor();
  await page.getByRole("main").getByRole("link", { name: "The ada" }).click();
  await page.waitForURL(`**/o/${id}/users/ada`);
});
