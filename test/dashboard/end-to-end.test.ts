/**
 * The whole way through real pages: the first start's link, a token, the first events by exactly the command that the page
 * shows, a simulated company on every page, and the token revoked. What the page says is run by `sh`, as people do.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser as Chromium, Page } from "playwright-core";
import { type Language, languages, snippet } from "../../dashboard/pages/start/snippets.ts";
import { password } from "../people/support.ts";
import { run, Server } from "../server.ts";
import { startBrowser } from "./chromium.ts";
import { axe, openPage, phone, settled, sidewaysPixels, signedIn, type WatchedPage } from "./support.ts";

let server: Server;
let browser: Chromium;
let watched: WatchedPage;
/** What the start page showed. */
let command = "";
let token = "";

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), startBrowser()]);
  watched = await openPage(browser);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** The JSON of an endpoint, asked by the page itself with its session. */
async function asked<Answer>(page: Page, path: string): Promise<Answer> {
  const response = await page.request.get(server.url + path);
  expect([path, response.status()]).toEqual([path, 200]);
  return (await response.json()) as Answer;
}

describe("from the first start to the first event", () => {
  test("the printed link makes the owner, and figures come by themselves once analysis is there", async () => {
    const { page } = watched;
    const link = /http:\/\/\S+\/claim#[A-Za-z0-9_-]+/.exec(server.output())?.[0] ?? "";
    await page.goto(link);
    await page.getByLabel("Your name").fill("Ada Lovelace");
    await page.getByLabel("E-mail").fill("ada@example.com");
    await page.getByLabel("Password", { exact: true }).fill("ada@example.com");
    await page.getByRole("button", { name: "Begin" }).click();
    // A password that can be guessed is refused beside its field, and nothing that was typed is lost.
    const field = page.getByLabel("Password", { exact: true });
    await page.locator('input[aria-invalid="true"]').waitFor();
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByLabel("Your name").inputValue()).toBe("Ada Lovelace");
    await field.fill(password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.waitForURL(`${server.url}/o/1/overview`);
    await page.goto(`${server.url}/claim`);
    await page.getByRole("heading", { name: "This installation has an owner" }).waitFor();
  });

  test("an empty organization shows the two calls, with a token that is made here", async () => {
    const { page } = watched;
    await page.goto(`${server.url}/o/1/start`);
    await page.getByText("Waiting for the first user").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Create a token" }).click();
    token = (await page.getByRole("region", { name: "Project token" }).textContent())?.trim() ?? "";
    expect(token).toMatch(/^rk-[A-Za-z0-9]{32}$/);
    command = (await page.getByRole("region", { name: "Two calls in curl" }).textContent()) ?? "";
    expect(command).toContain(`${server.url}/identify`);
    expect(command).toContain(token);
    await page.getByRole("tab", { name: "Python" }).click();
    await page.waitForURL(/language=python/);
    await page.getByRole("region", { name: "Two calls in Python" }).waitFor();
    await page.getByRole("tab", { name: "curl" }).focus();
    await page.keyboard.press("Enter");
  });

  test("the command as it is shown sends the first event, and the page turns to it", async () => {
    const { page } = watched;
    const { exitCode, stdout } = await run(["sh", "-c", command]);
    expect([exitCode, stdout]).toEqual([0, '{"success":true}{"success":true}']);
    await page.getByRole("heading", { name: "Events arrive" }).waitFor();
    await page.getByText("report_created by Ada").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.setViewportSize(phone);
    expect(await sidewaysPixels(page)).toBe(0);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("link", { name: "Ada", exact: true }).click();
    await page.waitForURL(`${server.url}/o/1/users/u1`);
    // The filter above the timeline names the event too, in an option that is not seen.
    await page.getByText("report_created").filter({ visible: true }).first().waitFor();
    expect(watched.complaints).toEqual([]);
  });

  test("when only excluded users have arrived, the page says so and does not wait for them for ever", async () => {
    const { page } = await openPage(browser);
    const newToken = await server.organization("Colleagues");
    await server.command("exclude", "add", "--organization", "Colleagues", "--user", "colleague");
    const sent = { userId: "colleague", email: "colleague@example.com" };
    expect((await server.post("/identify", newToken, sent)).status).toBe(201);
    expect((await server.post("/track", newToken, { userId: "colleague", event: "seen" })).status).toBe(201);
    const { id } = await signedIn(page, server, "Colleagues");
    await page.goto(`${server.url}/o/${id}/start`);
    await page.getByText("Whoever has arrived is excluded").waitFor();
    expect(await axe(page)).toEqual([]);
    expect((await server.post("/identify", newToken, { ...sent, userId: "customer" })).status).toBe(201);
    await page.getByText("A user is identified. Waiting for the first event").waitFor();
  });

  // The command is run above, and the package's program, which needs the package, in set-ups.test.ts.
  test.each(languages.filter((language) => !["curl", "client"].includes(language)))(
    "what is shown in %s runs as it stands",
    async (language) => {
      const folder = mkdtempSync(join(tmpdir(), "rekindle-snippet-"));
      try {
        const interpreter = interpreterOf(language);
        if (interpreter === null) return expect(snippet(language, "a", "b")).toContain("urllib");
        const file = join(folder, language === "python" ? "snippet.py" : "snippet.ts");
        writeFileSync(file, snippet(language, server.url, token));
        const { exitCode, stderr } = await run([interpreter, file]);
        expect([exitCode, stderr]).toEqual([0, ""]);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});

/** Null where the machine has none: Python is not among what tests need. */
function interpreterOf(language: Language): string | null {
  return language === "python" ? Bun.which("python3") : process.execPath;
}

describe("a simulated company", () => {
  test("is seen on every page, each figure as its endpoint gives it", async () => {
    const { page } = watched;
    await server.demo("--users", "60", "--weeks", "10");
    await page.request.get(`${server.url}/api/session`);
    const said = await server.command("member", "invite", "ada@example.com", "--organization", "Demo");
    await page.goto(server.url + (/\/invitation#[A-Za-z0-9_-]+/.exec(said)?.[0] ?? ""));
    await page.getByRole("button", { name: "I have an account already" }).click();
    await page.getByLabel("Your password").fill(password);
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    type Session = { organizations: { id: number; name: string }[] };
    const { organizations } = await asked<Session>(page, "/api/session");
    const demo = organizations.find(({ name }) => name === "Demo")?.id ?? 0;
    const users = await asked<{ total: number; users: { userId: string; email: string }[] }>(
      ...([page, `/api/users?organization=${demo}&limit=1`] as const),
    );
    const { accounts } = await asked<{ accounts: { accountId: string; name: string }[] }>(
      ...([page, `/api/accounts?organization=${demo}&limit=1`] as const),
    );
    const [user] = users.users;
    const [account] = accounts;
    const visits: readonly (readonly [path: string, heading: string | RegExp])[] = [
      ["overview", "Overview"],
      ["users", "Users"],
      [`users/${encodeURIComponent(user?.userId ?? "")}`, /\S/],
      ["accounts", "Accounts"],
      [`accounts/${encodeURIComponent(account?.accountId ?? "")}`, account?.name ?? ""],
      ["retention?trait=plan", "Retention"],
      ["events", "Events"],
      ["model", "Model"],
      ["start", "Start"],
    ];
    for (const [path, name] of visits) {
      await page.goto(`${server.url}/o/${demo}/${path}`);
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await settled(page);
      expect([path, await page.getByRole("alert").allTextContents()]).toEqual([path, []]);
    }
    const total = new Intl.NumberFormat("en-GB").format(users.total);
    const identified = page.locator("dl", { hasText: "Users identified" }).locator("dd").first();
    expect(await identified.textContent()).toBe(total);
    expect(watched.complaints).toEqual([]);
  });
});

test("the token is revoked on its page, and refused from then on", async () => {
  const { page } = watched;
  await page.goto(`${server.url}/o/1/settings/tokens`);
  await page.getByRole("button", { name: `Revoke getting started …${token.slice(-4)}` }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke the token" }).click();
  await page.getByRole("row", { name: /^getting started.*revoked/ }).waitFor();
  const { stdout } = await run(["sh", "-c", command]);
  expect(stdout).toContain('"statusCode":401');
  expect(stdout).not.toContain("success");
  expect(watched.complaints).toEqual([]);
});
