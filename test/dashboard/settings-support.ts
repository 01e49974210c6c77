/** The parts that tests of the settings share: the server, the browser, and owners of new organizations. */
import type { Browser as Chromium, Page } from "playwright-core";
import { Browser } from "../people/support.ts";
import type { Server } from "../server.ts";
import { openPage, ownerOf, type Somebody, signInAs, type WatchedPage } from "./support.ts";
import { world } from "./world.ts";

/** The shared server, on which Ada Lovelace owns the demonstration's organization and those that tests
 * create. */
export class SettingsWorld {
  readonly server: Server;
  readonly browser: Chromium;
  /** The owner of the demonstration's organization. Tests read it, and change organizations of their own. */
  readonly first: Somebody;

  private constructor(server: Server, browser: Chromium, first: Somebody) {
    this.server = server;
    this.browser = browser;
    this.first = first;
  }

  static async shared(): Promise<SettingsWorld> {
    const { server, browser } = await world();
    return new SettingsWorld(server, browser, await ownerOf(server, "Demo"));
  }

  /** A page with a signed-in member. */
  async pageOf(somebody: Somebody, options: Parameters<typeof openPage>[1] = {}): Promise<WatchedPage> {
    const watched = await openPage(this.browser, options);
    await signInAs(watched.page, this.server, somebody);
    return watched;
  }

  /** A page of a member's settings. */
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

  /** The owner of a new organization. Ada Lovelace creates them all. */
  async founder(name: string, timezone = "UTC"): Promise<Somebody> {
    const { first, server } = this;
    const wanted = { name, timezone };
    const { id } = await first.json<{ id: number }>("POST", "/api/organizations", wanted, 201);
    const { id: person, email, cookie } = first;
    return Object.assign(new Browser(server), { id: person, email, cookie, organization: id });
  }
}

/** A path of the API, for the organization of a member. */
export const at = ({ organization }: Somebody, path: string) => `${path}?organization=${organization}`;

/** The button that appears with the first change. */
export const save = (page: Page) => page.getByRole("button", { name: "Save changes" });

/** Answers the question that is open. */
export const answered = (page: Page, name: string) =>
  page.getByRole("alertdialog").getByRole("button", { name, exact: true }).click();
