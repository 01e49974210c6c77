/** Imports as the page does them: over HTTP, with the session of a team member. */
import { expect } from "bun:test";
import type { FileDetail, SentMapping } from "../../contract/api/imports.ts";
import type { Browser } from "../people/support.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";

export type Imported = FileDetail;
type Content = string | Uint8Array<ArrayBuffer>;

/** A team member's imports in their organization. */
export class BrowserImports {
  readonly #server: Server;
  readonly #browser: Browser;
  readonly #organization: number;

  constructor(server: Server, browser: Browser, organization: number) {
    this.#server = server;
    this.#browser = browser;
    this.#organization = organization;
  }

  at(path: string): string {
    return `/api/imports${path}?organization=${this.#organization}`;
  }

  /** Sends a file, and returns the answer whatever it is. */
  send(name: string, content: Content, headers: Record<string, string> = {}): Promise<Response> {
    const cookie = `${this.#browser.cookieName}=${this.#browser.cookie ?? ""}`;
    return fetch(`${this.#server.url}${this.at("")}&name=${encodeURIComponent(name)}`, {
      method: "POST",
      headers: { "X-Rekindle": "dashboard", Cookie: cookie, ...headers },
      body: content,
    });
  }

  /** Uploads a file, and resolves when its first rows are read or cannot be read. */
  async uploaded(name: string, content: Content): Promise<Imported> {
    const response = await this.send(name, content);
    const text = await response.text();
    expect([response.status, text]).toEqual([201, text]);
    return this.settled((JSON.parse(text) as { readonly id: number }).id);
  }

  one(id: number): Promise<Imported> {
    return this.#browser.json<Imported>("GET", this.at(`/${id}`));
  }

  /** Resolves when nothing is done with the file any more. */
  settled(id: number): Promise<Imported> {
    return until(
      `the import ${id} is settled`,
      () => this.one(id),
      ({ state }) => !["reading", "checking", "running"].includes(state),
      // Requests of a session are limited, too.
      { everyMs: 50 },
    );
  }

  async checked(id: number, mapping: SentMapping): Promise<Imported> {
    await this.#browser.json("POST", this.at(`/${id}/check`), mapping);
    return this.settled(id);
  }

  async ran(id: number): Promise<Imported> {
    await this.start(id);
    return this.settled(id);
  }

  start(id: number): Promise<Imported> {
    return this.#browser.json<Imported>("POST", this.at(`/${id}/run`));
  }

  /** Uploads a file, takes the guessed mapping with some changes, and imports it. */
  async imported(name: string, content: Content, changes: Partial<SentMapping> = {}): Promise<Imported> {
    const file = await this.uploaded(name, content);
    const checked = await this.checked(file.id, Object.assign(guessed(file), changes));
    expect([checked.state, checked.failure]).toEqual(["checked", null]);
    return this.ran(file.id);
  }

  delete(id: number): Promise<void> {
    return this.#browser.done("DELETE", this.at(`/${id}`));
  }
}

/** The mapping that the guess of a file makes. */
export function guessed({ preview }: Imported): SentMapping {
  if (preview === null) throw new Error("the file has no preview");
  const { from, kind, columns } = preview;
  if (from !== null) return { from };
  const roles = Object.fromEntries(columns.map(({ name, role }) => [name, role] as const));
  return { from, roles, ...(kind !== null && { kind }) };
}
