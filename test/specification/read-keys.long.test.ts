/** Read keys and the JSON API: authorization, refusals, and the form of an answer. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { Compile } from "typebox/compile";
import { Server } from "../server.ts";
import { readRoutes, withSegment } from "./read-routes.ts";
import { expectError, expectSuccess, send, user } from "./support.ts";

let server: Server;
let token: string;
let key: string;
let addressOf = (address: string) => address;

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization("Reading");
  key = await newKey("Reading");
  await server.ready();
  await send(server, "/identify", token, user("u/1", { account: { id: "a1", name: "Söhne" } }));
  for (const [event, day] of [
    ["opened", "2026-05-14"],
    ["said", "2026-05-15"],
  ]) {
    await send(server, "/track", token, {
      userId: "u/1",
      event,
      timestamp: `${day}T10:00:00Z`,
      properties: { text: 'a "quoted", word' },
    });
  }
  await server.exported("events", "Reading");
  addressOf = await withSegment(server, "Reading");
});
afterAll(() => server.stop());

async function newKey(organization: string, ...options: string[]): Promise<string> {
  return (await server.command("key", "create", "--organization", organization, ...options)).trim();
}

function get(path: string, authorization: string | undefined = `Bearer ${key}`): Promise<Response> {
  return fetch(server.url + addressOf(path), {
    headers: { ...(authorization !== undefined && { Authorization: authorization }) },
  });
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("who may read", () => {
  test.each<readonly [string, (secret: string) => string]>([
    ["Bearer rr-…", (secret) => `Bearer ${secret}`],
    ["Basic rr-…", (secret) => `Basic ${secret}`],
    ['Basic base64("rr-…:")', (secret) => `Basic ${base64(`${secret}:`)}`],
  ])("a key is taken as %s", async (_title, header) => {
    expect(key).toMatch(/^rr-[A-Za-z0-9]{32}$/);
    expect((await get("/api/retention", header(key))).status).toBe(200);
  });

  test("a project token cannot read, and a read key cannot write", async () => {
    const unread = await get("/api/retention", `Bearer ${token}`);
    await expectError(unread, "invalid_write_key", "Missing or invalid read key.");
    await expectError(await get("/api/retention", ""), "invalid_write_key", "Missing or invalid read key.");
    const swapped = `rr-${token.slice(3)}`;
    await expectError(await get("/api/retention", `Bearer ${swapped}`), "invalid_write_key");
    for (const path of ["/identify", "/track"]) {
      await expectError(await server.post(path, key, user("u2")), "invalid_write_key", "Project Token");
      await expectError(
        await server.post(path, `rk-${key.slice(3)}`, user("u2")),
        "invalid_write_key",
        "Project Token",
      );
    }
  });

  test("a key reads its own organization and no other, whatever the request says", async () => {
    const otherToken = await server.organization("Reading elsewhere");
    const other = await newKey("Reading elsewhere");
    await send(server, "/identify", otherToken, user("u/1", { properties: { whose: "other" } }));
    const seen = async (secret: string) => {
      const response = await fetch(`${server.url}/api/users/u%2F1`, {
        headers: {
          Authorization: `Bearer ${secret}`,
          "rekindle-organization": "1",
          "rekindle-rights": "erase",
        },
      });
      return ((await response.json()) as { traits: object }).traits;
    };
    expect(await seen(other)).toEqual({ whose: "other" });
    expect(await seen(key)).toEqual({});
  });

  test("a revoked key is refused at once, and the list shows everything but the key", async () => {
    const doomed = await newKey("Reading", "--name", "doomed", "--right", "manage", "--right", "erase");
    expect((await get("/api/retention", `Bearer ${doomed}`)).status).toBe(200);
    const list = await server.command("key", "list", "--organization", "Reading");
    const row = list.split("\n").find((line) => line.includes("doomed")) ?? "";
    expect(row).toMatch(new RegExp(`rr-…${doomed.slice(-4)} .*Z .*Z +- +read,erase,manage +-$`));
    expect(list).not.toContain(doomed);
    await server.command("key", "revoke", row.split(" ")[0] ?? "");
    await expectError(await get("/api/retention", `Bearer ${doomed}`), "invalid_write_key");
    expect((await get("/api/retention")).status).toBe(200);
  });

  test("more than 100 requests at once are too many for one key, and none for another", async () => {
    const busy = await newKey("Reading");
    const statuses: number[] = [];
    // On a slow machine as many may flow in as are asked for at first.
    while (!statuses.includes(429)) {
      const asked = Array.from({ length: 130 }, () => get("/api/nothing", `Bearer ${busy}`));
      statuses.push(...(await Promise.all(asked)).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 404).length).toBeGreaterThanOrEqual(100);
    expect((await get("/api/retention")).status).toBe(200);
  });
});

describe("what is asked for", () => {
  test("a user with traits, account, first and last day", async () => {
    expect(await (await get("/api/users/u%2F1")).json()).toEqual({
      userId: "u/1",
      email: "ada@example.com",
      traits: {},
      isAccountOwner: null,
      isExcluded: false,
      excludedBy: [],
      account: { id: "a1", name: "Söhne", avatar: null },
      owner: null,
      ownerId: null,
      isOwnerOfAccount: false,
      unknownOwner: null,
      controlUntil: null,
      saidByPages: [],
      firstIdentifiedAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      firstSeenDay: "2026-05-14",
      lastSeenDay: "2026-05-15",
    });
    await expectError(await get("/api/users/nobody"), "not_found");
    await expectError(await get("/api/users/%ff"), "not_found");
  });

  test("a timeline, as JSON and as CSV", async () => {
    const { events } = (await (await get("/api/users/u%2F1/timeline?limit=1")).json()) as {
      events: object[];
    };
    expect(events).toEqual([
      expect.objectContaining({ event: "said", timestamp: "2026-05-15T10:00:00.000Z" }),
    ]);
    const response = await get("/api/users/u%2F1/timeline?format=csv");
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const [header, first, second] = (await response.text()).split("\r\n");
    expect(header).toBe("id,event,label,isActivity,timestamp,receivedAt,properties,kind");
    expect(first).toContain(",said,,true,2026-05-15T10:00:00.000Z,");
    expect(first).toEndWith('"{""text"":""a \\""quoted\\"", word""}",event');
    expect(second).toContain(",opened,");
  });

  test("active users and retention", async () => {
    const { days } = (await (await get("/api/active-users?days=31&to=2026-05-31")).json()) as {
      days: { day: string; daily: number }[];
    };
    expect(days).toHaveLength(31);
    expect(days.filter(({ daily }) => daily > 0).map(({ day }) => day)).toEqual(["2026-05-14", "2026-05-15"]);
    const { cells } = (await (
      await get("/api/retention?from=2026-05-11&to=2026-05-11&periods=1")
    ).json()) as {
      cells: object[];
    };
    expect(cells).toEqual([
      expect.objectContaining({ cohortDay: "2026-05-11", cohortUsers: 1, period: 0, users: 1 }),
    ]);
  });

  test.each([
    ["/api/active-users?days=0", "days"],
    ["/api/active-users?days=801", "days"],
    ["/api/active-users?days=1.5", "days"],
    ["/api/active-users?days=abc", "days"],
    ["/api/active-users?daze=3", "daze"],
    ["/api/active-users?format=xml", "format"],
    ["/api/users/u%2F1?format=csv", "format"],
  ])("%s is refused, and %s is named", async (path, name) => {
    await expectError(await get(path), "validation_error", `${name} is`);
  });

  test("a path and method that nothing answers is not found, and neither is the other process", async () => {
    await expectError(await get("/api/"), "not_found");
    await expectError(await get("/api/persons"), "not_found");
    const posted = await server.post("/api/retention", undefined, {}, { Authorization: `Bearer ${key}` });
    await expectError(posted, "not_found");
    for (const path of ["/api/../status", "/api/%2e%2e/status"]) {
      expect(await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`)).toContain(
        "HTTP/1.1 404",
      );
    }
  });

  test.each(readRoutes({ userId: "u%2F1", accountId: "a1" }))(
    "the answer of $template is of the schema that the document has for it",
    async ({ template, address }) => {
      const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
        paths: Record<string, { get?: { security: object[]; responses: { 200: { content: Content } } } }>;
      };
      const { security, responses } = document.paths[template]?.get ?? {};
      expect(security).toEqual([{ readKey: [] }, { session: [] }]);
      const schema = responses?.[200].content["application/json"].schema ?? {};
      const answer = await get(address);
      const text = await answer.text();
      expect([address, answer.status, text]).toEqual([address, 200, text]);
      expect([text, Compile(schema).Check(JSON.parse(text))]).toEqual([text, true]);
    },
  );
});

interface Content {
  readonly "application/json": { readonly schema: object };
}

test("while analysis is away a read is answered in the format of errors, and a write is taken", async () => {
  const alone = await Server.start({ role: "intake" });
  try {
    const writing = await alone.organization("Alone");
    const reading = (await alone.command("key", "create", "--organization", "Alone")).trim();
    const response = await fetch(`${alone.url}/api/retention`, {
      headers: { Authorization: `Bearer ${reading}` },
    });
    expect(response.headers.get("retry-after")).toMatch(/^[1-9]/);
    await expectError(response, "application_error", "analysis is starting; try again in a few seconds");
    await expectSuccess(await alone.post("/identify", writing, user("u")));
  } finally {
    await alone.stop();
  }
});

/** Sends bytes as they are: fetch would tidy a path with dots before it is sent. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1", () => socket.write(text));
    socket.once("data", (data) => {
      resolve(data.toString());
      socket.destroy();
    });
    socket.once("error", reject);
  });
}
