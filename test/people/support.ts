/** The parts that tests of people share: a client with a cookie, and ways to join and sign in. */
import { expect } from "bun:test";
import type { Server } from "../server.ts";

export const password = "correct horse battery";

/** One browser: it keeps the cookie that it is given, and sends what the pages send. */
export class Browser {
  readonly #server: Server;
  cookie: string | undefined;
  cookieName = "rekindle_session";
  /** The cookie, with its name, by which the service knows a browser in which a person has signed in. */
  device: string | undefined;
  /** The whole header that set or took the session's cookie last. */
  lastSetCookie = "";

  constructor(server: Server) {
    this.#server = server;
  }

  /** Sends a request, with the body as JSON. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const session = this.cookie === undefined ? [] : [`${this.cookieName}=${this.cookie}`];
    const cookies = [...session, ...(this.device === undefined ? [] : [this.device])];
    const response = await fetch(this.#server.url + path, {
      method,
      headers: {
        "X-Rekindle": "dashboard",
        ...(this.#server.publicHost !== undefined && { Host: this.#server.publicHost }),
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...(cookies.length > 0 && { Cookie: cookies.join("; ") }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] =
        /^((?:__Host-|__Secure-)?rekindle_(?:session|device))=([^;]*)/.exec(set) ?? [];
      if (name.endsWith("device")) {
        this.device = `${name}=${value}`;
        continue;
      }
      this.lastSetCookie = set;
      this.cookieName = name;
      this.cookie = value || undefined;
    }
    return response;
  }

  /** The JSON of an answer that must have this status. */
  async json<Answer>(method: string, path: string, body?: unknown, status = 200): Promise<Answer> {
    const response = await this.ask(method, path, body);
    const text = await response.text();
    expect([method, path, response.status, text]).toEqual([method, path, status, text]);
    return JSON.parse(text) as Answer;
  }

  /** Does what must be answered 204. */
  async done(method: string, path: string): Promise<void> {
    const response = await this.ask(method, path);
    const text = await response.text();
    expect([method, path, response.status, text]).toEqual([method, path, 204, ""]);
  }
}

export interface SessionBody {
  readonly person: { readonly id: number; readonly name: string; readonly email: string };
  readonly organizations: readonly {
    readonly id: number;
    readonly name: string;
    readonly timezone: string;
    readonly role: string;
  }[];
}

/** The code in a link of this kind. */
export function codeIn(text: string, page: "claim" | "invitation" | "password"): string {
  const code = new RegExp(`/${page}#([A-Za-z0-9_-]{43})`).exec(text)?.[1];
  if (code === undefined) throw new Error(`no link to ${page} in:\n${text}`);
  return code;
}

/** A new person, who joined by an invitation from the command line. */
export async function joined(
  server: Server,
  organization: string,
  role: "owner" | "member" | "viewer",
  name: string,
): Promise<Browser & { readonly id: number; readonly organization: number; readonly email: string }> {
  const email = `${name.toLowerCase().replaceAll(" ", ".").replaceAll(/[<>]/g, "")}@example.com`;
  const link = await server.command(
    "member",
    "invite",
    email,
    "--organization",
    organization,
    "--role",
    role,
  );
  const browser = new Browser(server);
  const code = codeIn(link, "invitation");
  const body = { code, name, password };
  const session = await browser.json<SessionBody>("POST", "/api/invitations/accept", body, 201);
  const place = session.organizations.find((one) => one.name === organization);
  return Object.assign(browser, { id: session.person.id, organization: place?.id ?? 0, email });
}

export interface AuditEntry {
  readonly id: number;
  readonly person: { readonly id: number; readonly name: string } | null;
  readonly action: string;
  readonly summary: string;
  readonly detail: Record<string, unknown>;
}

/** The organization's audit log, the newest first. */
export async function auditLog(
  owner: Browser & { readonly organization: number },
): Promise<readonly AuditEntry[]> {
  const path = `/api/audit-log?limit=200&organization=${owner.organization}`;
  return (await owner.json<{ entries: readonly AuditEntry[] }>("GET", path)).entries;
}

/** An organization of its own, with a member of each role. */
export async function company(server: Server, name: string, ...options: string[]) {
  const token = await server.organization(name, ...options);
  const [owner, member, viewer] = [
    await joined(server, name, "owner", `${name} owner`),
    await joined(server, name, "member", `${name} member`),
    await joined(server, name, "viewer", `${name} viewer`),
  ];
  const { organization } = owner;
  const at = (path: string) => `${path}?organization=${organization}`;
  return { name, token, owner, member, viewer, organization, at };
}
