/** The settings of access: tokens, read keys, members of each role, exclusions, and the own account. */
import { describe, expect, test } from "bun:test";
import { auditLog, Browser, joined } from "../people/support.ts";
import { user } from "../specification/support.ts";
import { becomes } from "../until.ts";
import { answered, at, SettingsWorld, save } from "./settings-support.ts";
import { axe, notedMessages, settled } from "./support.ts";

const world = await SettingsWorld.shared();

describe("secrets", () => {
  test("a token is created, shown once, and revoked after a question", async () => {
    const owner = await world.founder("Secret keeping");
    const { page, complaints } = await world.settingsOf(owner, "tokens");
    await page.getByLabel("Name", { exact: true }).fill("backend");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Your new project token" });
    await dialog.waitFor();
    expect(await axe(page)).toEqual([]);
    const token = (await dialog.locator("pre").textContent()) ?? "";
    expect((await world.server.post("/identify", token, user("u1"))).status).toBe(201);
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("row", { name: new RegExp(`^backend …${token.slice(-4)}`) }).waitFor();
    expect(await page.content()).not.toContain(token);
    await page.getByRole("button", { name: `Revoke backend …${token.slice(-4)}` }).click();
    await page.getByRole("alertdialog").getByText("rejected with 401").waitFor();
    expect(await axe(page)).toEqual([]);
    await answered(page, "Cancel");
    expect((await world.server.post("/identify", token, user("u1"))).status).toBe(201);
    await page.getByRole("button", { name: `Revoke backend …${token.slice(-4)}` }).click();
    await answered(page, "Revoke token");
    await page.getByRole("row", { name: /^backend.*revoked/ }).waitFor();
    expect((await world.server.post("/identify", token, user("u1"))).status).toBe(401);
    expect(complaints).toEqual([]);
  });

  test("a token has the scope that was chosen, which the list shows", async () => {
    const owner = await world.founder("Scope choosing");
    const { page } = await world.settingsOf(owner, "tokens");
    await page.getByLabel("Name", { exact: true }).fill("shop");
    await page.getByText("For your backend, which keeps it secret").waitFor();
    await page.getByLabel("Scope", { exact: true }).selectOption("browser");
    await page.getByText("For web pages, where anyone can read the token").waitFor();
    await page.getByRole("button", { name: "Create token" }).click();
    const token = (await page.getByRole("dialog").locator("pre").textContent()) ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("row", { name: /^shop …\S{4} Browser/ }).waitFor();
    expect((await world.server.post(`/v1/webhooks/stripe/${token}`, undefined, {})).status).toBe(401);
    await page.getByLabel("Name", { exact: true }).fill("portal");
    await page.getByLabel("Scope", { exact: true }).selectOption("joining");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("row", { name: /^portal …\S{4} Browser, may join accounts/ }).waitFor();
    await page.getByLabel("Name", { exact: true }).fill("offers");
    await page.getByLabel("Scope", { exact: true }).selectOption({ label: "Control groups" });
    await page.getByText("which asks whether to show an offer to a user").waitFor();
    await page.getByRole("button", { name: "Create token" }).click();
    const arms = (await page.getByRole("dialog").locator("pre").textContent()) ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("row", { name: /^offers …\S{4} Control groups/ }).waitFor();
    expect((await world.server.post("/arm", arms, { rule: 1, userId: "u1" })).status).toBe(404);
    expect((await world.server.post("/track", arms, { userId: "u1", event: "seen" })).status).toBe(401);
  });

  test("a read key reads with the rights that were chosen", async () => {
    const owner = await world.founder("Key keeping");
    const { page } = await world.settingsOf(owner, "keys");
    await page.getByLabel("Name", { exact: true }).fill("sync");
    await page.getByLabel("Rights").selectOption("manage");
    await page.getByRole("button", { name: "Create key" }).click();
    const key = (await page.getByRole("dialog").locator("pre").textContent()) ?? "";
    const asked = await fetch(`${world.server.url}/api/users`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(asked.status).toBe(200);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("row", { name: /^sync.*read, manage/ }).waitFor();
  });
});

describe("members", () => {
  test("are invited by a link, get another role, and are removed after a question", async () => {
    const owner = await world.founder("Inviting");
    const { page, complaints } = await world.settingsOf(owner, "members");
    await page.getByText("the only owner").waitFor();
    await page.getByLabel("E-mail").fill("grace@example.com");
    await page.getByLabel("Role", { exact: true }).selectOption("member");
    await page.getByRole("button", { name: "Create invite link" }).click();
    const link = (await page.getByRole("dialog").locator("pre").textContent()) ?? "";
    expect(link).toStartWith(`${world.server.url}/invitation#`);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("row", { name: /^grace@example.com member/ }).waitFor();
    const grace = new Browser(world.server);
    const accepting = { code: link.split("#")[1], name: "Grace", password: "correct horse battery" };
    await grace.json("POST", "/api/invitations/accept", accepting, 201);
    await page.reload();
    await page.getByLabel("Role of Grace").waitFor();
    const told = await notedMessages(page);
    await page.getByLabel("Role of Grace").selectOption("viewer");
    await page.getByRole("button", { name: "Change the role of Grace" }).click();
    await told("Grace is now viewer.");
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Remove Grace" }).click();
    await answered(page, "Remove Grace");
    await page.getByRole("row", { name: /^Grace/ }).waitFor({ state: "detached" });
    expect((await grace.ask("GET", at(owner, "/api/organization"))).status).toBe(404);
    expect((await auditLog(owner)).slice(0, 2).map(({ action }) => action)).toEqual([
      "member.removed",
      "member.role_changed",
    ]);
    await page.getByRole("link", { name: "Audit log" }).click();
    const newest = page
      .getByRole("list", { name: /^Changes/ })
      .getByRole("listitem")
      .first();
    expect(await newest.textContent()).toContain("Ada Lovelace");
    expect(complaints).toEqual([]);
  });

  test("leave read keys behind that are revoked, unless the owner keeps them", async () => {
    const owner = await world.founder("Leaving keys");
    for (const [name, isKept] of [["Hal", true] as const, ["Ivy", false] as const]) {
      const invited = { email: `${name}@example.com`, role: "owner" };
      const made = await owner.json<{ link: string }>("POST", at(owner, "/api/invitations"), invited, 201);
      const maker = new Browser(world.server);
      const accepting = { code: made.link.split("#")[1], name, password: "correct horse battery" };
      await maker.json("POST", "/api/invitations/accept", accepting, 201);
      const key = { name: `key of ${name}`, rights: ["read"] };
      await maker.json("POST", at(owner, "/api/read-keys"), key, 201);
      const { page, complaints } = await world.settingsOf(owner, "members");
      await page.route("**/api/read-keys*", async (route) => {
        // The question waits for the keys, however late they come.
        await Bun.sleep(1_000);
        await route.continue();
      });
      await page.getByRole("button", { name: `Remove ${name}` }).click();
      const box = page.getByRole("checkbox", { name: `Keep the read key that ${name} made as mine` });
      await box.waitFor();
      if (isKept) await box.check();
      expect(await axe(page)).toEqual([]);
      await answered(page, `Remove ${name}`);
      await page.getByRole("row", { name: new RegExp(`^${name}`) }).waitFor({ state: "detached" });
      await page.getByRole("link", { name: "Read keys" }).click();
      // The list of before the removal is shown until the new one is there.
      const row = page.getByRole("row", { name: new RegExp(`^key of ${name}`) });
      await row.filter({ hasText: isKept ? "Ada Lovelace" : name }).waitFor();
      const revoking = row.getByRole("button", { name: /^Revoke/ });
      await revoking.waitFor({ state: isKept ? "visible" : "detached" });
      expect(complaints).toEqual([]);
      await page.context().close();
    }
  });

  test("are not offered what their role may not do, and who leaves the last organization is told so", async () => {
    await world.server.organization("Of roles");
    await joined(world.server, "Of roles", "owner", "Roles owner");
    const viewer = await joined(world.server, "Of roles", "viewer", "Roles viewer");
    const { page, complaints } = await world.settingsOf(viewer, "organization");
    const pages = page.getByRole("navigation", { name: "Settings" }).getByRole("link");
    expect(await pages.allTextContents()).toEqual([
      "Organization",
      "Scores",
      "Currencies",
      "Exclusions",
      "Assistants",
      "Members",
      "Alert rules",
      "Destinations",
      "Your account",
    ]);
    for (const path of ["organization", "scores", "currencies", "exclusions", "members", "destinations"]) {
      await page.goto(page.url().replace(/[a-z]+$/, path));
      await settled(page);
      expect([path, await page.locator("main :is(input, select)").count()]).toEqual([path, 0]);
    }
    for (const path of ["tokens", "keys", "audit"]) {
      await page.goto(page.url().replace(/[a-z]+$/, path));
      await page.getByText(/^This is for /).waitFor();
    }
    await page.goto(page.url().replace(/settings\/[a-z]+$/, "start"));
    await page.getByText("ask a member or an owner for one").waitFor();
    expect(await page.getByRole("button", { name: "Create a token" }).count()).toBe(0);
    await page.goto(page.url().replace(/start$/, "settings/members"));
    await page.getByRole("button", { name: "Leave" }).click();
    await answered(page, "Leave Of roles");
    await page.getByRole("heading", { name: "You are in no organization" }).waitFor();
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

test("an exclusion is added and taken back, and figures follow", async () => {
  const token = await world.server.organization("Excluding and back");
  const owner = await joined(world.server, "Excluding and back", "owner", "Excluding owner");
  for (const id of ["a", "b"]) {
    await world.server.post("/identify", token, { ...user(id), email: `${id}@${id}.example` });
    await world.server.post("/track", token, { userId: id, event: "opened" });
  }
  await world.server.exported("events", "Excluding and back");
  const { page, complaints } = await world.settingsOf(owner, "exclusions");
  await page.getByText("No exclusions yet").waitFor();
  await page.getByLabel("Domain").fill("a.example");
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByRole("row", { name: /^E-mails at a\.example/ }).waitFor();
  const counted = async () => {
    const path = at(owner, "/api/events");
    return (await owner.json<{ events: { users: number }[] }>("GET", path)).events[0]?.users;
  };
  await becomes(counted, 1);
  await page.getByRole("button", { name: /^Remove the rule/ }).click();
  await answered(page, "Remove rule");
  await page.getByText("No exclusions yet").waitFor();
  await becomes(counted, 2);
  expect(complaints).toEqual([]);
});

describe("your account", () => {
  test("changes the password with the current one, and signs out everywhere", async () => {
    await world.server.organization("Accounting");
    const owner = await joined(world.server, "Accounting", "owner", "Accounting owner");
    const { page } = await world.settingsOf(owner, "account");
    await page.getByLabel("New password").fill("another long password");
    await page.getByLabel("Current password").fill("not the password");
    await save(page).click();
    await page.getByText("This is wrong", { exact: false }).waitFor();
    expect(await page.getByLabel("New password").inputValue()).toBe("another long password");
    await page.getByLabel("Current password").fill("correct horse battery");
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    expect((await owner.ask("GET", "/api/session")).status).toBe(401);
    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await answered(page, "Sign out everywhere");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    // The device cookie remains. It signs no user in.
    const left = (await page.context().cookies()).filter(({ value }) => value !== "");
    expect(left.map(({ name }) => name)).toEqual(["rekindle_device"]);
  });

  test("founds another organization, which is shown at once", async () => {
    const owner = await world.founder("Founding one");
    const { page } = await world.settingsOf(owner, "account");
    await page.getByLabel("Organization name").fill("Founded two");
    await page.getByRole("button", { name: "Create organization" }).click();
    await page.getByRole("heading", { name: "Start" }).waitFor();
    await page.getByRole("button", { name: "Organization: Founded two. Switch" }).waitFor();
  });
});
