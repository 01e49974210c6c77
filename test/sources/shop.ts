/** A page of another origin, in a real browser, with a tool's own client for pages. */
import type { Browser, Page } from "playwright-core";
import { startBrowser } from "../dashboard/chromium.ts";

export class Shop {
  readonly #browser: Browser;
  readonly #server: Bun.Server<undefined>;

  private constructor(browser: Browser, server: Bun.Server<undefined>) {
    this.#browser = browser;
    this.#server = server;
  }

  /** @param clients the files of their modules, by name */
  static async start(clients: Readonly<Record<string, string>>): Promise<Shop> {
    const bundle = async ([client, file]: readonly [string, string]) => {
      const { outputs } = await Bun.build({ entrypoints: [file], target: "browser" });
      return [client, (await outputs[0]?.text()) ?? ""] as const;
    };
    const [browser, ...bundled] = await Promise.all([startBrowser(), ...Object.entries(clients).map(bundle)]);
    const scripts = new Map(bundled);
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => {
        const { pathname, searchParams } = new URL(url);
        return pathname === "/client.js"
          ? answer(scripts.get(searchParams.get("of") ?? "") ?? "", "text/javascript")
          : answer(html(searchParams.get("client") ?? ""), "text/html");
      },
    });
    return new Shop(browser, server);
  }

  /** A new visitor's page with the client as `globalThis.client`, and the errors of its console. */
  async open(client: string): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
    const page = await (await this.#browser.newContext()).newPage();
    page.setDefaultTimeout(150_000);
    const errors: string[] = [];
    page.on("console", (line) => {
      if (line.type() === "error") errors.push(`${line.text()} ${line.location().url}`);
    });
    page.on("pageerror", ({ message }) => errors.push(message));
    await page.goto(`${this.#server.url}products?color=red&client=${encodeURIComponent(client)}`);
    await page.waitForFunction("globalThis.client !== undefined");
    return { page, errors };
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await this.#server.stop(true);
  }
}

/** Without an icon the browser asks for one, and a 404 would be an error of the console. */
const html = (client: string) => `<!doctype html><title>Shop</title><link rel="icon" href="data:,">
<body><h1>Products</h1><button>Buy</button>
<script type="module">
  import * as client from "/client.js?of=${encodeURIComponent(client)}";
  globalThis.client = client.default ?? client;
</script>`;

function answer(text: string, type: string): Response {
  return new Response(text, { headers: { "Content-Type": type } });
}
