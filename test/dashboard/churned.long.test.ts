/** Users and accounts that have churned, or are hardly used: what lists and pages say of them is true. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { AccountListAnswer, UserListAnswer } from "../../contract/api/lists.ts";
import type { ScoreAnswer } from "../../contract/api/scores.ts";
import { becomes } from "../until.ts";
import { ago, fillGone, gone, shown, span } from "./churned-support.ts";
import { axe, openInOrganization, phone, settled, sidewaysPixels } from "./support.ts";
import { columnTexts } from "./tables.ts";
import { world } from "./world.ts";

type Score = Static<typeof ScoreAnswer>;
type Users = Static<typeof UserListAnswer>;
type Accounts = Static<typeof AccountListAnswer>;

const { server, browser } = await world();
let key = "";

beforeAll(async () => {
  await fillGone(server);
  key = (await server.command("key", "create", "--organization", gone)).trim();
});

async function get(path: string): Promise<Response> {
  const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
  expect([path, response.status]).toEqual([path, 200]);
  return response;
}

async function ask<Answer>(path: string): Promise<Answer> {
  return (await (await get(path)).json()) as Answer;
}

const open = (path: string, options = {}) => openInOrganization(browser, server, path, gone, options);

describe("the API", () => {
  test("has day and cause of a churn by the event, of users and of accounts", async () => {
    const user = await ask<Score>("/api/users/farah/score");
    expect(user).toMatchObject({
      state: "churned",
      verdict: "churned",
      churnedDay: ago(12),
      returnProbability: null,
      churnCause: { by: "event", event: "subscription_canceled", member: null },
    });
    const account = await ask<Score>("/api/accounts/a-canceled/score");
    expect(account).toMatchObject({
      state: "churned",
      verdict: "churned",
      churnedDay: ago(12),
      returnProbability: null,
      churnCause: {
        by: "event",
        event: "subscription_canceled",
        member: { userId: "farah", label: "Farah Okafor" },
      },
    });
  });

  test("has no day and no cause of others, however long they are silent", async () => {
    for (const [path, state] of [
      ["users/silent", "inactive"],
      ["accounts/a-silent", "inactive"],
      ["users/busy1", "active"],
    ]) {
      const score = await ask<Score>(`/api/${path}/score`);
      expect(score).toMatchObject({ state, churnedDay: null, churnCause: null, returnProbability: null });
    }
  });

  test("gives members of a churned account its churn, in lists, in their filter, among members and in the CSV", async () => {
    expect(await ask<Score>("/api/users/c1/score")).toMatchObject({
      state: "active",
      verdict: "account_churned",
      churnCause: null,
    });
    const { users } = await ask<Users>("/api/users?limit=1000");
    const inherited = span(1, 11)
      .map((index) => `c${index}`)
      .sort();
    const ids = (rows: Users["users"]) => rows.map(({ userId }) => userId).sort();
    expect(ids(users.filter(({ verdict }) => verdict === "account_churned"))).toEqual(inherited);
    const filtered = await ask<Users>("/api/users?verdict=account_churned&limit=1000");
    expect([filtered.total, ids(filtered.users)]).toEqual([11, inherited]);
    const left = await ask<Users>("/api/users?verdict=not_churned");
    const busy = span(1, 16).map((index) => `busy${index}`);
    expect(ids(left.users)).toEqual([...busy, "fading", "silent"].sort());
    const { members } = await ask<{ members: { userId: string; verdict: string }[] }>(
      "/api/accounts/a-canceled/members",
    );
    const verdicts = members.map(({ userId, verdict }) => [userId, verdict]);
    expect(verdicts).toContainEqual(["c1", "account_churned"]);
    expect(verdicts).toContainEqual(["farah", "churned"]);
    const csv = await (
      await get("/api/users?format=csv&verdict=account_churned&columns=userId,verdict")
    ).text();
    expect(csv.trimEnd().split("\r\n").sort()).toEqual(
      ["userId,verdict", ...inherited.map((id) => `${id},account_churned`)].sort(),
    );
    const accounts = await ask<Accounts>("/api/accounts?verdict=churned");
    expect(accounts.accounts.map(({ accountId }) => accountId)).toEqual(["a-canceled"]);
  });

  test("says of an account whether it is in use", async () => {
    const used = async (id: string) => {
      const path = `/api/accounts/${id}/members`;
      const { isInUse, activeDays28 } = await ask<{ isInUse: boolean; activeDays28: number }>(path);
      return [isInUse, activeDays28];
    };
    expect(await used("a-busy")).toEqual([true, 28]);
    expect(await used("a-fading")).toEqual([false, 5]);
    expect(await used("a-canceled")).toEqual([false, 17]);
  });
});

describe("the page of an account that canceled", () => {
  test("says when, by which event of which member, and nothing that is false of it", async () => {
    const { page, complaints } = await open("/accounts/a-canceled");
    const cause = `Canceled on ${shown(12)} (subscription_canceled, Farah Okafor)`;
    await page.locator("header").getByText(cause).waitFor();
    await page.locator("header").getByText("Churned", { exact: true }).waitFor();
    await page.getByText("Already churned").waitFor();
    await page.getByRole("table", { name: "Members of this account" }).waitFor();
    await settled(page);
    const text = (await page.locator("main").textContent()) ?? "";
    for (const wrong of [
      "No churn risk",
      "No activity",
      "likely to come back",
      "One person",
      "Share of activity",
    ])
      expect([wrong, text.includes(wrong)]).toEqual([wrong, false]);
    await page
      .locator("header")
      .getByText(`there since ${shown(90)}`)
      .waitFor();
    expect(complaints).toEqual([]);
  });

  test("shows ten members, and all when they are asked for, in the address", async () => {
    const { page } = await open("/accounts/a-canceled");
    const rows = page.getByRole("table", { name: "Members of this account" }).locator("tbody tr");
    await becomes(() => rows.count(), 10);
    await page.getByRole("button", { name: "Show all 12" }).click();
    await page.waitForURL(/members=all/);
    await becomes(() => rows.count(), 12);
    expect(await page.getByRole("button", { name: /^Show all/ }).count()).toBe(0);
  });
});

test("the page of a user who canceled says when, and that of a colleague what became of the account", async () => {
  const { page, id } = await open("/users/farah");
  await page
    .locator("header")
    .getByText(`Canceled on ${shown(12)} (subscription_canceled)`)
    .waitFor();
  await page.getByText("Already churned").waitFor();
  await page.goto(`${server.url}/o/${id}/users/c1`);
  await page.locator("header").getByText("Account churned").waitFor();
});

test("the page of a user who is only silent does not say that the user has churned", async () => {
  const { page } = await open("/users/silent");
  const header = page.locator("header").filter({ hasText: "Sil Ent" });
  await header.getByText("At risk", { exact: true }).waitFor();
  await settled(page);
  expect(await header.textContent()).not.toMatch(/churned/i);
});

test("a change is divided in one way, and said in words", async () => {
  const { page } = await open("/users/fading");
  const table = page.getByRole("table", { name: /^Changes of/ });
  await table.waitFor();
  await page.getByText(/^Down \d+: active on 5 days of 28, was 28; silent for 24 days/).waitFor();
  const rows = await table
    .locator("tbody tr")
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));
  for (const [label = "", , behaviour = "", time = ""] of rows.filter(([, total]) => total !== "–")) {
    expect([label, Math.sign(Number(behaviour))]).toEqual([label, label.startsWith("Churn") ? 1 : -1]);
    expect([label, Number(time)]).toEqual([label, 0]);
  }
});

test("an account that is hardly used shows no shares of activity", async () => {
  const { page, id } = await open("/accounts/a-fading");
  await page.getByText("It was active on 5 of the last 28 days.").waitFor();
  const headers = page.getByRole("table", { name: "Members of this account" }).locator("thead th");
  await headers.first().waitFor();
  expect((await headers.allTextContents()).join()).not.toContain("Share of activity");
  await page.goto(`${server.url}/o/${id}/accounts/a-busy`);
  await headers.filter({ hasText: "Share of activity" }).waitFor();
});

test("the model's page shows what churn means", async () => {
  const { page } = await open("/model");
  await page.getByText("Churn means: subscription_canceled.").waitFor();
});

describe("lists", () => {
  test("have one verdict a row, and are filtered by it; the state of old addresses can be taken away", async () => {
    const { page, id } = await open("/users?state=churned");
    await page.getByText(/^1 user$/).waitFor();
    expect(await page.getByRole("combobox", { name: "State" }).count()).toBe(0);
    await page.getByRole("button", { name: "Remove the filter State Churned" }).click();
    await page.getByText(/^30 users$/).waitFor();
    await page.getByLabel("Verdict").selectOption({ label: "Not churned" });
    await page.getByText(/^18 users$/).waitFor();
    await page.getByLabel("Verdict").selectOption({ label: "Account churned" });
    await page.getByText(/^11 users$/).waitFor();
    const verdicts = () => columnTexts(page, "Verdict");
    await becomes(async () => [...new Set(await verdicts())], ["Account churned"]);
    // The columns of a view from before verdicts.
    await page.goto(`${server.url}/o/${id}/accounts?verdict=churned&columns=health,state`);
    await page.getByText(/^1 account$/).waitFor();
    await becomes(verdicts, ["Churned"]);
    expect(await page.getByLabel("Verdict").locator("option").allTextContents()).not.toContain(
      "Account churned",
    );
  });

  test("open a page by its name, before its answer is there", async () => {
    const { page } = await open("/accounts");
    const held = Promise.withResolvers<void>();
    await page.route(/\/api\/accounts\/a-canceled\?/, async (route) => {
      await held.promise;
      await route.fallback();
    });
    await page.getByRole("link", { name: "Acme Works" }).click();
    await becomes(() => page.locator("h1").textContent(), "Acme Works");
    const reloaded = page.waitForRequest(/\/api\/accounts\/a-canceled\?/);
    await page.reload();
    await reloaded;
    await becomes(() => page.locator("h1").textContent(), "Loading …");
    held.resolve();
    await becomes(() => page.locator("h1").textContent(), "Acme Works");
  });
});

test.each([
  ["/accounts/a-canceled", "light"],
  ["/accounts/a-busy", "dark"],
  ["/users/c1", "dark"],
] as const)("%s is right for axe in %s, and no wider than a phone", async (path, colorScheme) => {
  const { page, complaints } = await open(path, { colorScheme, viewport: phone });
  await page.getByRole("table", { name: /^Changes of/ }).waitFor();
  await settled(page);
  expect(await axe(page)).toEqual([]);
  expect(await sidewaysPixels(page)).toBe(0);
  expect(complaints).toEqual([]);
});
