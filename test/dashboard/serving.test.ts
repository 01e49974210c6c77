/** The pages as the server gives them out: headers, caching, compression, what is no page, and the build. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { builtPages } from "../../cli/pages.ts";
import { pageAddresses } from "../../contract/pages.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start({ role: "intake" });
});
afterAll(() => server?.stop());

/** Asks without letting fetch undo the compression. */
const raw = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(server.url + path, {
    method,
    headers: { "Accept-Encoding": "identity", ...headers },
    decompress: false,
  });

async function scriptOfShell(): Promise<string> {
  const html = await (await raw("/")).text();
  return /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? "";
}

const filled = (address: string) => address.replace("$organization", "1").replace(/\$\w+/, "u%2F1");

describe("the addresses of pages", () => {
  test.each([...pageAddresses])(
    "%s is the application, by GET and HEAD, with or without a slash",
    async (address) => {
      const path = filled(address);
      const document = await raw(path);
      expect(document.status).toBe(200);
      expect(await document.text()).toContain('<div id="root">');
      expect((await raw(path, {}, "HEAD")).status).toBe(200);
      expect((await raw(`${path}?sort=email`)).status).toBe(200);
      if (path !== "/") expect((await raw(`${path}/`)).status).toBe(200);
    },
  );

  test.each([
    ["GET", "/overview"],
    ["GET", "/index.html"],
    ["GET", "/assets/gone-12345678.js"],
    ["GET", "/assets/../index.html"],
    ["POST", "/o/1/overview"],
    ["POST", "/"],
  ])("%s %s is not", async (method, path) => {
    await expectError(await raw(path, {}, method), "not_found");
  });

  test.each(["/o/acme/overview", "/o/1/nowhere", "/o/1/users/u1/more"])(
    "%s is answered 404, with the application to say so",
    async (path) => {
      const document = await raw(path);
      expect([path, document.status]).toEqual([path, 404]);
      expect(await document.text()).toContain('<div id="root">');
      const etag = document.headers.get("etag") ?? "";
      expect((await raw(path, { "If-None-Match": etag })).status).toBe(404);
    },
  );

  test("the reference stays where it was", async () => {
    expect(await (await raw("/reference")).text()).toContain("write API");
  });
});

describe("headers", () => {
  test("a page allows nothing from elsewhere, no inline script and no inline style", async () => {
    const { headers } = await raw("/o/1/overview");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self'; ");
    expect(policy).not.toContain("unsafe");
    for (const part of [
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'self'",
    ]) {
      expect(policy).toContain(part);
    }
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
  });

  test("nothing on the page comes from another host, and no script or style is written into it", async () => {
    const html = await (await raw("/")).text();
    expect(
      [...html.matchAll(/(?:src|href)="([^"]+)"/g)]
        .map(([, to = ""]) => to)
        .filter((to) => !/^\/\w/.test(to)),
    ).toEqual([]);
    expect(html).not.toMatch(/<style|style=|<script>|<script (?![^>]*src=)| on\w+=/);
  });

  test("files with a hash in their name are kept for ever, the page itself is asked for again", async () => {
    const script = await raw(await scriptOfShell());
    expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect((await raw("/")).headers.get("cache-control")).toBe("no-cache");
    expect((await raw("/theme.js")).headers.get("cache-control")).toBe("no-cache");
  });

  test("a cached page is answered 304, in whatever encoding it was", async () => {
    for (const encoding of ["identity", "gzip", "br"]) {
      const first = await raw("/", { "Accept-Encoding": encoding });
      const etag = first.headers.get("etag") ?? "";
      const again = await raw("/", { "If-None-Match": `"other", W/${etag}`, "Accept-Encoding": encoding });
      expect([again.status, await again.text()]).toEqual([304, ""]);
    }
    expect((await raw("/", { "If-None-Match": '"other"' })).status).toBe(200);
  });
});

describe("compression", () => {
  test("the smallest form that the client understands is sent, and all say the same", async () => {
    const path = await scriptOfShell();
    const forms = await Promise.all(
      ["gzip, deflate, br, zstd", "gzip", "br;q=0, gzip;q=0", ""].map((encoding) =>
        raw(path, { "Accept-Encoding": encoding }),
      ),
    );
    expect(forms.map(({ headers }) => headers.get("content-encoding"))).toEqual(["br", "gzip", null, null]);
    expect(forms.every(({ headers }) => headers.get("vary") === "Accept-Encoding")).toBe(true);
    const [br, gzip, plain] = await Promise.all(forms.map((form) => form.arrayBuffer()));
    expect(br?.byteLength).toBeLessThan(gzip?.byteLength ?? 0);
    expect(gzip?.byteLength).toBeLessThan((plain?.byteLength ?? 0) / 2);
    const inflated = await (
      await fetch(server.url + path, { headers: { "Accept-Encoding": "br" } })
    ).arrayBuffer();
    expect(Buffer.from(inflated).equals(Buffer.from(plain ?? new ArrayBuffer()))).toBe(true);
  });

  /** Names of the files that a file loads at once, itself included. */
  async function loadedWith(
    path: string,
    seen: Map<string, number> = new Map(),
  ): Promise<Map<string, number>> {
    if (seen.has(path)) return seen;
    const text = await (await raw(path)).text();
    seen.set(path, gzipSync(text).byteLength);
    for (const [, name = ""] of text.matchAll(/(?:\bfrom|\bimport)\s*["`']\.\/([^"`']+\.js)["`']/g)) {
      await loadedWith(`/assets/${name}`, seen);
    }
    return seen;
  }

  test("scripts that are loaded before any page stay under 160 KB, and charts are not among them", async () => {
    const loaded = await loadedWith(await scriptOfShell());
    const bytes = [...loaded.values()].reduce((sum, size) => sum + size, 0);
    expect(loaded.size).toBeGreaterThan(1);
    expect(bytes).toBeLessThan(160 * 1024);
    expect([...loaded.keys()].filter((name) => name.includes("echarts"))).toEqual([]);
  });
});

describe("the build", () => {
  test("is there under the hash of its sources, and is not repeated", async () => {
    const folder = (await builtPages()) ?? "";
    const dist = join(folder, "..");
    expect(existsSync(join(folder, "index.html"))).toBe(true);
    expect(readdirSync(dist)).toEqual([folder.slice(dist.length + 1)]);
    expect(await builtPages()).toBe(folder);
    expect(server.output()).not.toContain("building");
  });
});
