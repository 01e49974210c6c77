/** What tests of the settings share: a server with a demonstration, a browser, and owners of new organizations. */
import type { Browser as Chromium, Page } from "playwright-core";
import { Browser, joined } from "../people/support.ts";
import { Server } from "../server.ts";
import { startBrowser } from "./chromium.ts";
import { openPage, type WatchedPage } from "./support.ts";

export type Somebody = Awaited<ReturnType<typeof joined>>;

/** A server on which somebody owns the demonstration's organization. */
export class SettingsWorld {
  readonly server: Server;
  readonly browser: Chromium;
  /** The owner of the demonstration's organization, called Ada Lovelace. */
  readonly first: Somebody;

  private constructor(server: Server, browser: Chromium, first: Somebody) {
    this.server = server;
    this.browser = browser;
    this.first = first;
  }

  static async start(): Promise<SettingsWorld> {
    const [server, browser] = await Promise.all([Server.start(), startBrowser()]);
    await server.ready();
    await server.demo("--users", "40", "--weeks", "6");
    return new SettingsWorld(server, browser, await joined(server, "Demo", "owner", "Ada Lovelace"));
  }

  /** The same without a demonstration: the first organization is called First and has no users. */
  static async startEmpty(): Promise<SettingsWorld> {
    const [server, browser] = await Promise.all([Server.start(), startBrowser()]);
    await server.ready();
    await server.organization("First");
    return new SettingsWorld(server, browser, await joined(server, "First", "owner", "Ada Lovelace"));
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
  }

  /** A page for somebody, who is signed in on it. */
  async pageOf(
    { cookie = "" }: Somebody,
    options: Parameters<typeof openPage>[1] = {},
  ): Promise<WatchedPage> {
    const watched = await openPage(this.browser, options);
    await watched.page
      .context()
      .addCookies([{ name: "rekindle_session", value: cookie, url: this.server.url }]);
    return watched;
  }

  /** A page of somebody's settings. */
  async settingsOf(
    somebody: Somebody,
    path: string,
    options: Parameters<typeof openPage>[1] = {},
  ): Promise<WatchedPage> {
    const watched = await this.pageOf(somebody, options);
    await watched.page.goto(`${this.server.url}/o/${somebody.organization}/settings/${path}`);
    await watched.page.locator("h1").waitFor();
    return watched;
  }

  /** The owner of a new organization: one person founds them all, which is quicker than the command line. */
  async founder(name: string, timezone = "UTC"): Promise<Somebody> {
    const { first, server } = this;
    const wanted = { name, timezone };
    const { id } = await first.json<{ id: number }>("POST", "/api/organizations", wanted, 201);
    const { id: person, email, cookie } = first;
    return Object.assign(new Browser(server), { id: person, email, cookie, organization: id });
  }
}

/** A path of the API, for the organization of somebody. */
export const at = ({ organization }: Somebody, path: string) => `${path}?organization=${organization}`;

/** The button that appears with the first change. */
export const save = (page: Page) => page.getByRole("button", { name: "Save changes" });

/** Answers the question that is open. */
export const answered = (page: Page, name: string) =>
  page.getByRole("alertdialog").getByRole("button", { name, exact: true }).click();
