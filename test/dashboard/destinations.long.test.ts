/** Destinations in the settings: added, tested, paused, resumed, deleted; the own digest; and the pages of
 * recipients of e-mail. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { Webhook } from "standardwebhooks";
import { type MailServer, startMailServer } from "../actions/mail-server.ts";
import { type Receiver, startReceiver } from "../actions/receiver.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { startBrowser } from "./chromium.ts";
import { answered } from "./settings-support.ts";
import {
  axe,
  notedMessages,
  openPage,
  phone,
  settled,
  sidewaysPixels,
  signInAs,
  type WatchedPage,
} from "./support.ts";

let [server, browser, receiver, mails]: [Server, Browser, Receiver, MailServer] = [] as never;
beforeAll(async () => {
  [receiver, mails, browser] = await Promise.all([startReceiver(), startMailServer(), startBrowser()]);
  server = await Server.start({
    role: "intake",
    env: {
      ALLOW_PRIVATE_DESTINATIONS: receiver.allowed,
      SMTP_URL: mails.url(),
      MAIL_FROM: "rekindle@example.com",
      PUBLIC_URL: "http://127.0.0.1",
    },
  });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  receiver?.stop();
  await mails?.stop();
});

type People = Awaited<ReturnType<typeof company>>;

async function openSettings(somebody: People["owner"]): Promise<WatchedPage> {
  const watched = await openPage(browser);
  await signInAs(watched.page, server, somebody);
  await watched.page.goto(`${server.url}/o/${somebody.organization}/settings/destinations`);
  await watched.page.getByRole("heading", { name: "Destinations", exact: true }).waitFor();
  return watched;
}

async function add(page: Page, kind: string, name: string, field: string, address: string): Promise<void> {
  await page.getByRole("button", { name: "Add destination" }).click();
  await page.getByLabel("Kind").selectOption({ label: kind });
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel(field, { exact: true }).fill(address);
  await page.getByRole("button", { name: "Save", exact: true }).click();
}

const row = (page: Page, name: string) =>
  page.getByRole("list", { name: "Destinations" }).getByRole("listitem").filter({ hasText: name }).first();
const log = (page: Page) => page.getByRole("list", { name: "Messages, the newest first" });

test("a webhook is added, shows its secret once, is tested, and its messages verify", async () => {
  const { page, complaints } = await openSettings((await company(server, "Hooks")).owner);
  await page.getByText("No destination yet").waitFor();
  await add(page, "Webhook", "Pager", "URL", "http://example.com/");
  await page.getByText("This is").or(page.getByRole("alert")).first().waitFor();
  await page.getByLabel("URL").fill("https://10.0.0.5/hook");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("This is not valid: 10.0.0.5 is no public address.").waitFor();
  await page.getByLabel("URL").fill(receiver.address("/200"));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const secret = (await page.getByRole("dialog").locator("pre").textContent()) ?? "";
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Done" }).click();
  expect(await page.content()).not.toContain(secret);

  await page.getByRole("button", { name: "Send a test to Pager" }).click();
  await page.getByText("The test was delivered").waitFor();
  const message = receiver.got.findLast(({ path }) => path === "/200");
  expect(new Webhook(secret).verify(message?.body ?? "", message?.headers ?? {})).toMatchObject({
    type: "test",
  });
  await log(page).getByText("delivered").waitFor();
  await log(page).getByText("Answer to msg_").click();
  await log(page).getByText("status 200").waitFor();
  await page.getByRole("button", { name: "New secret for Pager" }).click();
  await answered(page, "Make a new secret");
  expect(await page.getByRole("dialog").locator("pre").textContent()).not.toBe(secret);
  await page.getByRole("button", { name: "Done" }).click();
  await settled(page);
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("the log says when a message is due that nobody tried to send yet", async () => {
  const { owner, at } = await company(server, "Due");
  const hook = { kind: "webhook", name: "Morning", address: receiver.address("/200") };
  const { destination } = await owner.json<{ destination: { id: number } }>(
    "POST",
    at("/api/destinations"),
    hook,
    201,
  );
  await owner.json("POST", at(`/api/destinations/${destination.id}/test`), undefined, 201);
  const { page } = await openPage(browser);
  await signInAs(page, server, owner);
  await page.route("**/api/deliveries*", async (route) => {
    const { deliveries } = (await (await route.fetch()).json()) as { deliveries: object[] };
    const waiting = {
      state: "pending",
      attempts: 0,
      dueAt: "2027-03-31T08:00:00.000Z",
      status: null,
      said: null,
    };
    await route.fulfill({ json: { deliveries: deliveries.map((one) => ({ ...one, ...waiting })) } });
  });
  await page.goto(`${server.url}/o/${owner.organization}/settings/destinations`);
  await log(page).getByText("not sent yet, due 31 Mar 2027, 08:00").waitFor();
});

test("a failed test says why; messages are held while a destination is paused, then sent or dropped", async () => {
  const people = await company(server, "Held");
  const { page, complaints } = await openSettings(people.owner);
  const told = await notedMessages(page);
  await add(page, "Slack", "Channel", "Incoming webhook's URL", receiver.address("/404"));
  await page.getByRole("button", { name: "Send a test to Channel" }).click();
  await page.getByText("with the answer 404: status 404").waitFor();
  await row(page, "Channel").getByText("failing since").waitFor();
  expect(await page.content()).not.toContain(receiver.address("/404"));

  await page.getByRole("button", { name: "Pause Channel" }).click();
  await told("Channel is paused. Its messages are held.");
  await row(page, "Channel")
    .getByText("1 message held. Drop it, or resume the destination to send it.")
    .waitFor();
  await page.getByRole("button", { name: "Change Channel" }).click();
  await page.getByLabel("Incoming webhook's URL").fill(receiver.address("/200"));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Resume Channel" }).click();
  await page.getByRole("button", { name: "Send what is held for Channel" }).click();
  await told("1 message on the way.");
  await row(page, "Channel").getByText("last delivered").waitFor();

  await page.getByLabel("State").selectOption("failed");
  await page.getByText("No failed message").waitFor();
  await page.getByLabel("State").selectOption("all");
  const sent = receiver.got.length;
  await log(page)
    .getByRole("button", { name: /^Send again: msg_/ })
    .click();
  await told("The message is sent again.");
  await until(
    "the message has arrived again",
    () => receiver.got,
    ({ length }) => length === sent + 1,
  );

  const viewer = await openSettings(people.viewer);
  await viewer.page.getByText("Only owners can change them.").waitFor();
  await row(viewer.page, "Channel").waitFor();
  expect(await viewer.page.getByRole("button", { name: /Pause|Delete|Add destination|again/ }).count()).toBe(
    0,
  );
  expect(await viewer.page.content()).not.toContain("Answer to msg_");

  await page.getByRole("button", { name: "Delete Channel" }).click();
  await answered(page, "Delete");
  await page.getByText("No destination yet").waitFor();
  expect([...complaints, ...viewer.complaints]).toEqual([]);
});

test("long names fit on a phone", async () => {
  const { owner, at } = await company(server, "Narrow");
  const name = "n".repeat(80);
  const address = `${receiver.address("/200")}?${"long".repeat(50)}`;
  await owner.json("POST", at("/api/destinations"), { kind: "webhook", name, address }, 201);
  const { page } = await openSettings(owner);
  await page.getByRole("button", { name: `Send a test to ${name}` }).click();
  await page.getByText("The test was delivered").waitFor();
  await page.setViewportSize(phone);
  await settled(page);
  expect(await sidewaysPixels(page)).toBe(0);
  expect(await axe(page)).toEqual([]);
});

/** The last link to one of these pages that was sent to an address. */
async function linkTo(page: "agree" | "unsubscribe", address: string): Promise<string> {
  const links = () =>
    mails.received
      .filter(({ to }) => to.includes(address))
      .flatMap(
        ({ text }) =>
          text.replaceAll("=\r\n", "").match(new RegExp(`/${page}#\\d+/[A-Za-z0-9_-]{43}`, "g")) ?? [],
      );
  await until(
    "the link has arrived",
    () => links(),
    ({ length }) => length > 0,
  );
  return links().at(-1) ?? "";
}

test("the recipient of e-mail agrees and unsubscribes by buttons, without a session", async () => {
  const { page } = await openSettings((await company(server, "Mailed")).owner);
  const told = await notedMessages(page);
  await add(page, "E-mail", "Ada", "E-mail address", "ada@pages.example");
  await told("The recipient gets a link.");
  await row(page, "Ada").getByText("waits for the recipient to agree").waitFor();
  await page.getByRole("button", { name: "Send the e-mail again to Ada" }).click();
  await until(
    "both mails have arrived",
    () => mails.received.filter(({ to }) => to.includes("ada@pages.example")),
    ({ length }) => length === 2,
  );

  const stranger = await openPage(browser);
  const agree = await linkTo("agree", "ada@pages.example");
  await stranger.page.goto(server.url + agree);
  await stranger.page.getByRole("button", { name: "I agree" }).click();
  await stranger.page.getByText("ada@pages.example gets messages from now on.").waitFor();
  await page.getByRole("button", { name: "Send a test to Ada" }).click();
  await page.getByText("The test was delivered").waitFor();

  const unsubscribe = await linkTo("unsubscribe", "ada@pages.example");
  await stranger.page.goto(server.url + unsubscribe);
  await stranger.page.getByRole("button", { name: "Stop the messages" }).waitFor();
  await page.reload();
  await row(page, "Ada").getByText("active").waitFor();
  expect(await axe(stranger.page)).toEqual([]);
  await stranger.page.getByRole("button", { name: "Stop the messages" }).click();
  await stranger.page.getByText("ada@pages.example gets no more messages.").waitFor();
  await page.reload();
  await row(page, "Ada").getByText("The recipient unsubscribed.").waitFor();

  await stranger.page.goto(`${server.url}/agree`);
  await stranger.page.getByText("Open the whole link").waitFor();
  expect(stranger.complaints).toEqual([]);
});

test("a member of any role switches the own digest on and off, and agrees by the link", async () => {
  const { viewer } = await company(server, "Digesting");
  const { page, complaints } = await openPage(browser);
  await signInAs(page, server, viewer);
  await page.goto(`${server.url}/o/${viewer.organization}/settings/account`);
  const panel = page.getByRole("region", { name: "Your digest" });
  const digest = panel.getByLabel("Digest", { exact: true });
  await panel.getByText("No digest is sent when there is no news.").waitFor();
  expect(await digest.inputValue()).toBe("off");
  await digest.selectOption({ label: "Every day at 07:00" });
  await panel.getByText(`A link is on its way to ${viewer.email}.`).waitFor();
  await settled(page);
  expect(await axe(page)).toEqual([]);

  const first = await linkTo("agree", viewer.email);
  await panel.getByRole("button", { name: "Send the link again" }).click();
  await until(
    "another link has arrived",
    () => linkTo("agree", viewer.email),
    (seen) => seen !== first,
  );
  const stranger = await openPage(browser);
  await stranger.page.goto(server.url + (await linkTo("agree", viewer.email)));
  await stranger.page.getByRole("button", { name: "I agree" }).click();
  await stranger.page.getByText(`${viewer.email} gets messages from now on.`).waitFor();
  await page.reload();
  await panel.getByText(`It goes to ${viewer.email}.`).waitFor();
  expect(await digest.inputValue()).toBe("daily");
  await page.setViewportSize(phone);
  await settled(page);
  expect(await sidewaysPixels(page)).toBe(0);

  await digest.selectOption({ label: "Off" });
  await panel.getByText("No digest is sent when there is no news.").waitFor();
  await page.reload();
  await panel.getByText("No digest is sent when there is no news.").waitFor();
  expect(await digest.inputValue()).toBe("off");
  expect(complaints).toEqual([]);
});
