/** The messages that a signed-in user of the live view receives. */
import { expect } from "bun:test";
import type { LiveEnd, LiveItem, LiveSkipped } from "../../contract/live.ts";
import type { Server } from "../server.ts";
import type { Browser } from "./support.ts";

/** The messages of one open stream. */
export class Watching {
  readonly items: LiveItem[] = [];
  readonly skipped: LiveSkipped[] = [];
  end: LiveEnd | undefined;
  readonly #stopping = new AbortController();
  isOver = false;

  /** Opens a stream as a signed-in user. */
  static async open(server: Server, browser: Browser, path: string): Promise<Watching> {
    const watching = new Watching();
    const response = await fetch(server.url + path, {
      headers: { Cookie: `${browser.cookieName}=${browser.cookie}` },
      signal: watching.#stopping.signal,
    });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
    ]);
    watching.#read(response).catch(() => undefined);
    return watching;
  }

  async #read(response: Response): Promise<void> {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const messages = text.split("\n\n");
      text = messages.pop() ?? "";
      for (const message of messages) this.#take(message);
    }
    this.isOver = true;
  }

  #take(message: string): void {
    const [, event, data = ""] = /^event: (\w+)\ndata: (.*)$/s.exec(message) ?? [];
    if (event === "item") this.items.push(JSON.parse(data));
    if (event === "skipped") this.skipped.push(JSON.parse(data));
    if (event === "end") this.end = JSON.parse(data);
  }

  stop(): void {
    this.#stopping.abort();
  }
}
