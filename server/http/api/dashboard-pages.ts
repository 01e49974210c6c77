/**
 * The dashboard's pages on the public port: files that were built and compressed beforehand, read once,
 * answered from memory. Every file but index.html has the hash of its content in its name or an ETag.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { PageHost } from "../port/page-host.ts";

type Handler = (request: Request) => Response;

/** The pages as routes, and the document that stands at the address of every page. */
export interface DashboardPages {
  /** By method and path. */
  readonly files: Readonly<Record<string, Handler>>;
  readonly document: Handler;
  /** The document with the status 404: its router says that there is no such page. */
  readonly missing: Handler;
}

/** Nothing comes from elsewhere; nothing runs that is not a file of ours, and no style is written into the
 * markup.
 * @param remoteImages pictures of users and accounts may come from the hosts that their senders name */
const securityPolicy = (remoteImages: boolean) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${remoteImages ? " https:" : ""}`,
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/** The compressed forms that a build leaves, the smallest first. */
const encodings = [
  { name: "br", extension: ".br" },
  { name: "gzip", extension: ".gz" },
] as const;

/** How the pages are served. */
interface Serving {
  readonly host: PageHost;
  /** The path of PUBLIC_URL: empty or `/rekindle`. */
  readonly basePath: string;
  readonly remoteImages: boolean;
}

/** Reads the pages from the folder into which they were built. */
export function readDashboard(folder: string, { host, basePath, remoteImages }: Serving): DashboardPages {
  const policy = securityPolicy(remoteImages);
  const files: Record<string, Handler> = {};
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = join(folder, path);
    const type = types[path.split(".").at(-1) ?? ""];
    if (type === undefined || path === "index.html" || !statSync(file).isFile()) continue;
    files[`GET /${path.replaceAll("\\", "/")}`] = fileHandler(file, {
      type,
      policy,
      isForEver: path.startsWith("assets"),
    });
  }
  const document = fileHandler(join(folder, "index.html"), {
    type: types.html ?? "",
    policy,
    isForEver: false,
    change: basePath === "" ? undefined : (html) => below(basePath, html),
  });
  const missing = (request: Request) => asMissing(document, request);
  return { files, document: host.page(document), missing: host.page(missing) };
}

/** The document below a path: only there addresses begin at the root. The scripts find each other by relative
 * ones. */
function below(basePath: string, html: string): string {
  return html.replaceAll('="/', `="${basePath}/`).replace('data-base=""', `data-base="${basePath}"`);
}

function asMissing(document: Handler, request: Request): Response {
  const headers = { "Accept-Encoding": request.headers.get("accept-encoding") ?? "" };
  const whole = document(new Request(request.url, { headers }));
  return new Response(whole.body, { status: 404, headers: whole.headers });
}

interface Form {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly encoding?: string;
  readonly headers: Headers;
}

interface FileOptions {
  readonly type: string;
  readonly policy: string;
  readonly isForEver: boolean;
  /** What is answered in place of the file's text, which then is not compressed. */
  readonly change?: ((text: string) => string) | undefined;
}

function fileHandler(file: string, { type, policy, isForEver, change }: FileOptions): Handler {
  const read = readFileSync(file);
  const plain = new Uint8Array(change === undefined ? read : Buffer.from(change(read.toString())));
  const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  const headers = (encoding?: string) =>
    new Headers({
      "Content-Type": type,
      // A name with a hash never means anything else; anything else is asked for again, by its ETag.
      "Cache-Control": isForEver ? "public, max-age=31536000, immutable" : "no-cache",
      ETag: encoding === undefined ? etag : etag.replace(/"$/, `-${encoding}"`),
      Vary: "Accept-Encoding",
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Content-Security-Policy": policy,
      ...(encoding !== undefined && { "Content-Encoding": encoding }),
    });
  const forms: Form[] = encodings
    .filter(({ extension }) => change === undefined && existsSync(file + extension))
    .map(({ name, extension }) => ({
      body: new Uint8Array(readFileSync(file + extension)),
      encoding: name,
      headers: headers(name),
    }));
  const whole: Form = { body: plain, headers: headers() };
  return (request) => {
    const accepted = acceptedEncodings(request.headers.get("accept-encoding"));
    const form = forms.find(({ encoding }) => encoding !== undefined && accepted.has(encoding)) ?? whole;
    if (isKnown(request.headers.get("if-none-match"), etag)) {
      return new Response(null, { status: 304, headers: form.headers });
    }
    return new Response(form.body, { headers: form.headers });
  };
}

function acceptedEncodings(header: string | null): Set<string> {
  const parts = (header ?? "").toLowerCase().split(",");
  return new Set(
    parts.filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part)).map((part) => (part.split(";")[0] ?? "").trim()),
  );
}

/** Whether the client has this content already, in any encoding. */
function isKnown(header: string | null, etag: string): boolean {
  if (header === null) return false;
  const bare = etag.slice(1, -1);
  return header.split(",").some((one) => {
    const said = one.trim().replace(/^W\//, "").slice(1, -1);
    return said === bare || said === `${bare}-br` || said === `${bare}-gzip`;
  });
}
