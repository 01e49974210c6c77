/**
 * The whole way through real pages. It takes the first start's link, a token, and the first events by exactly
 * the command that the page shows. A simulated company fills every page, and the token is revoked. The shown
 * command is run by `sh`, as users do. `npm test` runs this file for all pages. The files beside it prove the
 * rest of each page in `npm run test:long`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser as Chromium, Page } from "playwright-core";
import type { PageAddress } from "../../contract/pages.ts";
import { type Language, languages, snippet } from "../../dashboard/pages/overview/snippets.ts";
import { password } from "../people/support.ts";
import { run, Server } from "../server.ts";
import { becomes } from "../until.ts";
import { startBrowser } from "./chromium.ts";
import {
  axe,
  openPage,
  phone,
  settled,
  sidewaysPixels,
  signedIn,
  type WatchedPage,
  wide,
} from "./support.ts";
import { rowNames } from "./tables.ts";

let server: Server;
let browser: Chromium;
let watched: WatchedPage;
/** The command that the start page shows. */
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
    await page.getByRole("button", { name: "Create account" }).click();
    // A password that can be guessed is refused beside its field, and nothing that was typed is lost.
    const field = page.getByLabel("Password", { exact: true });
    await page.locator('input[aria-invalid="true"]').waitFor();
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByLabel("Your name").inputValue()).toBe("Ada Lovelace");
    await field.fill(password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Start" }).waitFor();
    await page.waitForURL(`${server.url}/o/1/start`);
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
    await page.getByRole("tab", { name: "Coding assistant" }).click();
    const prompt = await page.getByRole("region", { name: "Prompt for a coding assistant" }).textContent();
    expect(prompt).toContain(`${server.url}/llms.txt`);
    expect(prompt).not.toContain(token);
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
    const { accounts } = await asked<{ accounts: { name: string }[] }>(page, "/api/accounts?organization=1");
    expect(accounts.map(({ name }) => name)).toEqual(["Acme"]);
    await page.setViewportSize(phone);
    expect(await sidewaysPixels(page)).toBe(0);
    await page.setViewportSize(wide);
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
    await page.getByText("All users so far are excluded").waitFor();
    expect(await axe(page)).toEqual([]);
    expect((await server.post("/identify", newToken, { ...sent, userId: "customer" })).status).toBe(201);
    await page.getByText("A user is identified. Waiting for the first event").waitFor();
  });

  // The command is run above, and the package's program, which needs the package, in set-ups.test.ts.
  test.each(languages.filter((language) => language !== "curl" && language !== "client"))(
    "what is shown in %s runs as it stands",
    async (language) => {
      const folder = mkdtempSync(join(tmpdir(), "rekindle-snippet-"));
      try {
        const { command, ending } = interpreters[language];
        const [program = ""] = command;
        // Tests need none of these languages.
        if (Bun.which(program) === null)
          return expect(snippet(language, "https://a.example", "rk-b")).toMatch(
            /https:\/\/a\.example[\s\S]*rk-b/,
          );
        const file = join(folder, `snippet.${ending}`);
        writeFileSync(file, snippet(language, server.url, token));
        const { exitCode, stdout, stderr } = await run([...command, file]);
        expect([exitCode, stdout, stderr]).toEqual([0, "", ""]);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});

type Run = Exclude<Language, "curl" | "client">;
const interpreters: Readonly<Record<Run, { readonly command: readonly string[]; readonly ending: string }>> =
  {
    typescript: { command: ["node"], ending: "mjs" },
    python: { command: ["python3"], ending: "py" },
    ruby: { command: ["ruby"], ending: "rb" },
    php: { command: ["php"], ending: "php" },
    go: { command: ["go", "run"], ending: "go" },
  };

/** The pages of an organization, by their addresses. None can be left out. */
type OrganizationAddress = Extract<PageAddress, `/o/${string}`>;

const headings: Readonly<Record<OrganizationAddress, string | RegExp>> = {
  "/o/$organization": "Overview",
  "/o/$organization/overview": "Overview",
  "/o/$organization/start": "Start",
  "/o/$organization/users": "Users",
  "/o/$organization/users/$userId": /\S/,
  "/o/$organization/accounts": "Accounts",
  "/o/$organization/accounts/$accountId": /\S/,
  "/o/$organization/segments": "Segments",
  "/o/$organization/alerts": "Alerts",
  "/o/$organization/tasks": "Tasks",
  "/o/$organization/results": "Results",
  "/o/$organization/win-back": "Win-back",
  "/o/$organization/retention": "Retention",
  "/o/$organization/revenue": "Revenue",
  "/o/$organization/renewals": "Renewals",
  "/o/$organization/events": "Events",
  "/o/$organization/sources": "Sources",
  "/o/$organization/model": "Model",
  "/o/$organization/settings": "Organization",
  "/o/$organization/settings/organization": "Organization",
  "/o/$organization/settings/scores": "Scores",
  "/o/$organization/settings/currencies": "Currencies",
  "/o/$organization/settings/exclusions": "Exclusions",
  "/o/$organization/settings/tokens": "Project tokens",
  "/o/$organization/settings/keys": "Read keys",
  "/o/$organization/settings/assistants": "Assistants",
  "/o/$organization/settings/members": "Members",
  "/o/$organization/settings/alert-rules": "Alert rules",
  "/o/$organization/settings/destinations": "Destinations",
  "/o/$organization/settings/import": "Import",
  "/o/$organization/settings/audit": "Audit log",
  "/o/$organization/settings/account": "Your account",
};

/** Parameters of a page's address with which it has more to show. */
const choices: Partial<Readonly<Record<string, string>>> = { "/o/$organization/retention": "?trait=plan" };

describe("a simulated company", () => {
  /** Parts of addresses, by their names. */
  const parts: Record<string, string> = {};
  const filled = (address: string) =>
    address.replace(/\$(\w+)/g, (_, name: string) => encodeURIComponent(parts[name] ?? ""));

  const list = (kind: string) => `/api/${kind}?organization=$organization&limit=1`;

  test("is joined by a link, with the account that there is", async () => {
    const { page } = watched;
    await server.demo("--users", "60", "--weeks", "10");
    await server.command("score", "--organization", "Demo");
    const said = await server.command("member", "invite", "ada@example.com", "--organization", "Demo");
    await page.goto(server.url + (/\/invitation#[A-Za-z0-9_-]+/.exec(said)?.[0] ?? ""));
    await page.getByRole("button", { name: "I have an account already" }).click();
    await page.getByLabel("Your password").fill(password);
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    type Session = { organizations: { id: number; name: string }[] };
    const { organizations } = await asked<Session>(page, "/api/session");
    parts.organization = String(organizations.find(({ name }) => name === "Demo")?.id);
    const { users } = await asked<{ users: { userId: string }[] }>(page, filled(list("users")));
    const { accounts } = await asked<{ accounts: { accountId: string }[] }>(page, filled(list("accounts")));
    parts.userId = users[0]?.userId ?? "";
    parts.accountId = accounts[0]?.accountId ?? "";
  });

  test.each(Object.entries(headings))(
    "is seen at %s without an error, axe finds nothing, and it is not wider than a phone",
    async (address, name) => {
      const { page } = watched;
      await page.goto(server.url + filled(address) + (choices[address] ?? ""));
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await settled(page);
      expect(await page.getByRole("alert").allTextContents()).toEqual([]);
      expect(await axe(page)).toEqual([]);
      await page.setViewportSize(phone);
      expect(await sidewaysPixels(page)).toBe(0);
      await page.setViewportSize(wide);
      expect(watched.complaints).toEqual([]);
    },
  );

  test("has as many users on the start page as its endpoint gives", async () => {
    const { page } = watched;
    const { total } = await asked<{ total: number }>(page, filled(list("users")));
    await page.goto(server.url + filled("/o/$organization/start"));
    const identified = page.locator("dl", { hasText: "Users identified" }).locator("dd").first();
    await becomes(() => identified.textContent(), new Intl.NumberFormat("en-GB").format(total));
  });

  test("leads from a figure to its users, to one of them, to the account and to its members", async () => {
    const { page } = watched;
    await page.goto(`${server.url}${filled("/o/$organization/overview")}?kind=user&more=true`);
    const health = page.getByRole("region", { name: "Health of users", exact: true });
    const figure = health
      .getByRole("row", { name: /^Healthy/ })
      .getByRole("link")
      .first();
    const users = Number(await figure.textContent());
    expect(users).toBeGreaterThan(1);
    await figure.click();
    await page.getByText(`${users} users`, { exact: true }).waitFor();
    const [name = ""] = await rowNames(page);
    await page.getByRole("link", { name, exact: true }).first().click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.locator('header a[href*="/accounts/"]').click();
    const members = page.getByRole("table", { name: "Members of this account" });
    await members.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    expect(watched.complaints).toEqual([]);
  });
});

test("the token is revoked on its page, and refused from then on", async () => {
  const { page } = watched;
  await page.goto(`${server.url}/o/1/settings/tokens`);
  await page.getByRole("button", { name: `Revoke getting started …${token.slice(-4)}` }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke token" }).click();
  await page.getByRole("row", { name: /^getting started.*revoked/ }).waitFor();
  const { stdout } = await run(["sh", "-c", command]);
  expect(stdout).toContain('"statusCode":401');
  expect(stdout).not.toContain("success");
  expect(watched.complaints).toEqual([]);
});
