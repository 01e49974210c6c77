/** How requests follow each other on a connection, and the methods that HTTP brings with it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { head, RawConnection } from "./raw.ts";
import { expectError, expectSuccess, send, user } from "./support.ts";

let server: Server;
let token: string;
const organization = "Connections";

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization(organization);
  await send(server, "/identify", token, user("u"));
});
afterAll(() => server.stop());

function track(event: string, ...lines: readonly string[]): string {
  const body = JSON.stringify({ userId: "u", event, messageId: event });
  const length = `Content-Length: ${body.length}`;
  return head("POST /track HTTP/1.1", "Host: a", `Authorization: Basic ${token}`, length, ...lines) + body;
}

function request(method: string, path: string, ...lines: readonly string[]): string {
  return head(`${method} ${path} HTTP/1.1`, "Host: a", ...lines);
}

/** Everything that comes back for these bytes until the server closes the connection. */
async function everything(bytes: string): Promise<RawConnection> {
  const connection = await RawConnection.open(server);
  connection.write(bytes);
  await connection.closed;
  return connection;
}

async function stored(): Promise<string[]> {
  return (await server.exported("events", organization)).map((row) => String(row.event));
}

test("a hundred writes in turn on one connection are answered in turn", async () => {
  const connection = await RawConnection.open(server);
  for (let sent = 1; sent <= 100; sent += 1) {
    connection.write(track(`in_turn_${sent}`));
    await connection.answered(sent);
  }
  connection.leave();
  expect(connection.statuses).toEqual(Array.from({ length: 100 }, () => 201));
  expect((await stored()).filter((name) => name.startsWith("in_turn_"))).toHaveLength(100);
});

test("a refused write does not end the connection", async () => {
  const connection = await RawConnection.open(server);
  const bytes = [
    track("no event", "X: y"),
    `${request("POST", "/nowhere", "Content-Length: 3")}abc`,
    `${request("POST", "/identify", "Content-Length: 3")}abc`,
    track("after_refusals"),
  ];
  for (const [index, text] of bytes.entries()) {
    connection.write(text);
    await connection.answered(index + 1);
  }
  connection.leave();
  expect(connection.statuses).toEqual([400, 404, 401, 201]);
});

test("Connection: close and HTTP/1.0 are answered, then closed, and what follows is not done", async () => {
  const after = track("after_the_close");
  const closing = await everything(track("with_close", "Connection: close") + after);
  const old = await everything(track("of_1.0").replace("HTTP/1.1", "HTTP/1.0") + after);
  expect([closing.statuses, old.statuses]).toEqual([[201], [201]]);
  expect(await stored()).not.toContain("after_the_close");
});

describe("pipelined requests", () => {
  test("that are answered at once get their answers in order", async () => {
    const requests = [
      request("GET", "/healthz"),
      request("GET", "/nowhere"),
      `${request("POST", "/track", "Content-Length: 3")}abc`,
      request("GET", "/openapi.json"),
      request("OPTIONS", "/track"),
      request("GET", "/healthz", "Connection: close"),
    ];
    const connection = await everything(requests.join(""));
    expect(connection.statuses).toEqual([200, 404, 401, 200, 204, 200]);
    expect(connection.answers[3]?.body).toContain('"openapi"');
  });

  // Bun.serve knows one request per connection: a second one before the first is answered ends both.
  test.each<readonly [string, () => string[]]>([
    ["in one piece", () => [track("piped_1a") + track("piped_1b")]],
    ["one after the other", () => [track("piped_2a"), track("piped_2b")]],
    ["with half of the second", () => [track("piped_3a") + track("piped_3b").slice(0, -5)]],
  ])(
    "behind a write that is not on disk yet close the connection without an answer, %s",
    async (_name, pieces) => {
      const connection = await RawConnection.open(server);
      for (const piece of pieces()) connection.write(piece);
      await connection.answered(2);
      for (const status of connection.statuses) expect(status).toBe(201);
      // A second piece that comes late is behind a write that is on the disk: it is answered, and nothing is
      // closed.
      if (pieces().length === 1) expect(connection.statuses.length).toBeLessThan(2);
      if (connection.statuses.length < 2) await connection.closed;
      connection.leave();
    },
  );

  test("that are sent again with their messageId are stored once", async () => {
    const names = ["1a", "1b", "2a", "2b", "3a", "3b"].map((name) => `piped_${name}`);
    for (const event of names) {
      await expectSuccess(await server.post("/track", token, { userId: "u", event, messageId: event }));
    }
    expect((await stored()).filter((name) => name.startsWith("piped_")).sort()).toEqual(names);
  });
});

test("a client that ends its side before the answer gets none, and the service stays up", async () => {
  const connection = await RawConnection.open(server);
  connection.write(track("said_no_more"));
  connection.sayNoMore();
  await connection.closed;
  await expectSuccess(
    await server.post("/track", token, { userId: "u", event: "said_no_more", messageId: "said_no_more" }),
  );
  expect((await stored()).filter((name) => name === "said_no_more")).toHaveLength(1);
});

test("a client that leaves in the middle of a body leaves no data behind", async () => {
  for (const bytes of [track("left").slice(0, -1), track("left").slice(0, 40)]) {
    const connection = await RawConnection.open(server);
    connection.write(bytes);
    connection.leave();
  }
  expect(await stored()).not.toContain("left");
  expect(server.output()).not.toContain("fail");
});

describe("Expect: 100-continue", () => {
  test("is answered 100, then the body is taken", async () => {
    const connection = await RawConnection.open(server);
    const bytes = track("expected", "Expect: 100-continue");
    const bodyStart = bytes.indexOf("\r\n\r\n") + 4;
    connection.write(bytes.slice(0, bodyStart));
    await connection.answered(1);
    expect(connection.statuses).toEqual([100]);
    connection.write(bytes.slice(bodyStart));
    await connection.answered(2);
    connection.leave();
    expect(connection.statuses).toEqual([100, 201]);
  });

  test("has its final answer without the body when that is not wanted", async () => {
    const connection = await RawConnection.open(server);
    connection.write(request("POST", "/track", "Expect: 100-continue", "Content-Length: 1000"));
    await connection.answered(2);
    connection.leave();
    expect(connection.statuses).toEqual([100, 401]);
  });
});

describe("HEAD is answered as GET is, without the body:", () => {
  test.each([
    "/",
    "/openapi.json",
    "/reference",
    "/llms.txt",
    "/healthz",
    "/readyz",
    "/metrics",
    "/healthz/?a=b",
  ])("%s", async (path) => {
    await server.ready();
    const [get] = (await everything(request("GET", path, "Connection: close"))).answers;
    const answer = (await everything(request("HEAD", path, "Connection: close"))).received;
    expect(answer.indexOf("\r\n\r\n")).toBe(answer.length - 4);
    expect(statusAndType(answer)).toEqual(statusAndType(get?.head ?? ""));
  });

  function statusAndType(text: string): readonly (string | undefined)[] {
    return [text.split("\r\n")[0], /^content-type: *(.*?)\r?$/im.exec(text)?.[1]];
  }
});

describe("OPTIONS names the methods of", () => {
  test.each([
    ["/identify", "POST, OPTIONS"],
    ["/track", "POST, OPTIONS"],
    ["/track/?a=b", "POST, OPTIONS"],
    ["/", "GET, HEAD, OPTIONS"],
    ["/healthz", "GET, HEAD, OPTIONS"],
    ["/openapi.json", "GET, HEAD, OPTIONS"],
  ])("%s", async (path, methods) => {
    const response = await fetch(server.url + path, { method: "OPTIONS" });
    expect([response.status, response.headers.get("allow")]).toEqual([204, methods]);
    expect(await response.text()).toBe("");
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("nothing, where nothing is", async () => {
    await expectError(await fetch(`${server.url}/nowhere`, { method: "OPTIONS" }), "not_found");
  });
});
