/** Requests with an unknown token: how much of them is read, and how often an address may send them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { limits } from "../../contract/limits.ts";
import { Server } from "../server.ts";
import { head, RawConnection } from "../specification/raw.ts";
import { expectError, expectSuccess, user } from "../specification/support.ts";
import { becomes, until, withinLimit } from "../until.ts";

let server: Server;
let token: string;
const organization = "Known";

beforeAll(async () => {
  server = await Server.start({
    env: { TRUSTED_PROXY: "127.0.0.1", BODIES_MAX_BYTES: String(32 * 1024 ** 2) },
  });
  await server.ready();
  token = await server.organization(organization);
});
afterAll(() => server?.stop());

let addresses = 0;

/** An address of its own, as the trusted proxy says. */
function newAddress(): Record<string, string> {
  addresses += 1;
  return { "X-Forwarded-For": `192.0.2.${addresses}` };
}

const junk = "x".repeat(limits.openBodyBytes - 1_000);
const post = (path: string, body: string | Uint8Array, headers: Record<string, string>) =>
  fetch(server.url + path, { method: "POST", body, headers });

/** Sends bodies without a token until the address is refused. Returns that refusal. */
async function refusalOf(address: Record<string, string>, path = "/batch"): Promise<Response> {
  for (;;) {
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(path, junk, address)));
    for (const answer of answers) if (answer.status === 429) return answer;
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
  }
}

describe("a batch of 900 KiB whose api_key comes last is stored", () => {
  const text = (characters: number) =>
    Buffer.from(crypto.getRandomValues(new Uint8Array(characters / 2))).toString("hex");
  const batch = (distinct_id: string, kibibytes: number) => {
    const events = Array.from({ length: 4 }, (_, index) => ({
      event: `part_${index}`,
      distinct_id,
      properties: { text: text((kibibytes * 1024) / 4) },
    }));
    return JSON.stringify({ batch: events, api_key: token });
  };
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  const gzip = { "Content-Encoding": "gzip" };
  const forms: Readonly<Record<string, () => [body: string | Uint8Array, headers?: Record<string, string>]>> =
    {
      "as JSON": () => [batch("as JSON", 900)],
      "as JSON in gzip": () => [gzipSync(batch("as JSON in gzip", 900)), gzip],
      "in gzip that no header tells of": () => [gzipSync(batch("in gzip that no header tells of", 900))],
      "as a form": () => [`data=${encodeURIComponent(batch("as a form", 900))}`, form],
      "as a form in gzip": () => [
        gzipSync(`ver=1&data=${encodeURIComponent(batch("as a form in gzip", 900))}`),
        { ...form, ...gzip },
      ],
      // Base64 of more than 768 KiB is larger than 1 MiB.
      "in base64": () => [Buffer.from(batch("in base64", 700)).toString("base64")],
      "as a form in base64": () => [
        `data=${Buffer.from(batch("as a form in base64", 700)).toString("base64")}`,
        form,
      ],
      "as a form in base64 of gzip": () => [
        `data=${encodeURIComponent(gzipSync(batch("as a form in base64 of gzip", 900)).toString("base64"))}`,
        form,
      ],
    };

  let events: readonly string[];
  const statuses = new Map<string, number>();
  beforeAll(async () => {
    for (const name of Object.keys(forms)) {
      await post("/batch", JSON.stringify({ api_key: token, event: "$identify", distinct_id: name }), {});
    }
    for (const [name, make] of Object.entries(forms)) {
      const [body, headers = {}] = make();
      statuses.set(name, (await post("/batch", body, headers)).status);
    }
    events = (await server.exported("events", organization)).map((row) => `${row.userId} ${row.event}`);
  });

  test.each(Object.keys(forms))("%s", (name) => {
    expect(statuses.get(name)).toBe(200);
    const parts = [0, 1, 2, 3].map((index) => `${name} part_${index}`);
    expect(events.filter((event) => event.startsWith(`${name} part`)).sort()).toEqual(parts);
  });
});

describe("of a body without a token in its head", () => {
  const large = JSON.stringify({ batch: [], text: "x".repeat(limits.openBodyBytes), api_key: "rk-" });

  test("no more than 1 MiB is read: the answer does not wait for the rest", async () => {
    const declared = await RawConnection.open(server);
    declared.write(head("POST /batch HTTP/1.1", "Host: a", "Content-Length: 8388608"));
    await declared.answered(1);
    expect(declared.statuses).toEqual([401]);
    declared.leave();
    const chunked = await RawConnection.open(server);
    const chunk = `${(64 * 1024).toString(16)}\r\n${"x".repeat(64 * 1024)}\r\n`;
    chunked.write(head("POST /batch HTTP/1.1", "Host: a", "Transfer-Encoding: chunked") + chunk.repeat(17));
    await chunked.answered(1);
    expect(chunked.statuses).toEqual([401]);
    chunked.leave();
  });

  test("no more than 1 MiB is inflated", async () => {
    await expectError(
      await post("/batch", gzipSync(large), { ...newAddress(), "Content-Encoding": "gzip" }),
      "invalid_write_key",
    );
  });

  test("too much is 401 as in the write API, and 413 to PostHog's clients, which then send less", async () => {
    await expectError(await post("/batch", large, newAddress()), "invalid_write_key");
    const told = await post("/batch", large, { ...newAddress(), "User-Agent": "posthog-node/5.70.0" });
    expect(told.status).toBe(413);
  });

  test("with one in its head 8 MiB are read", async () => {
    const item = { type: "identify", userId: "large", email: "a@example.com" };
    const body = JSON.stringify({ batch: [item], text: "x".repeat(7 * 1024 * 1024) });
    const answer = await post("/batch", body, { ...newAddress(), Authorization: `Basic ${token}` });
    expect(answer.status).toBe(201);
  });
});

describe("an address that sends much without a known token", () => {
  test.each(["/batch", "/v1/batch", "/e"])(
    "is refused for a while at %s, with the seconds to wait",
    async (path) => {
      const address = newAddress();
      const refused = await refusalOf(address, path);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      await expectError(refused, "rate_limit_exceeded", "from this address");
    },
  );

  test("costs no other address anything", async () => {
    await refusalOf(newAddress());
    await expectError(await post("/batch", "{}", newAddress()), "invalid_write_key");
  });

  test("is let in all the while with a right token in the head", async () => {
    const address = newAddress();
    for (let round = 0; round < 3; round += 1) {
      const flood = Array.from({ length: 8 }, () => post("/batch", junk, address));
      const right = Array.from({ length: 20 }, (_, index) =>
        server.post("/identify", token, user(`right-${index}`), address),
      );
      for (const answer of await Promise.all(right)) await expectSuccess(answer);
      await Promise.all(flood);
    }
  });

  test.each([
    ["/e", (secret: string) => ({ api_key: secret, event: "opened", distinct_id: "held up" })],
    [
      "/batch",
      (secret: string) => ({ api_key: secret, batch: [{ event: "opened", distinct_id: "held up" }] }),
    ],
    ["/v1/track", (secret: string) => ({ writeKey: secret, userId: "held up", event: "opened" })],
  ])(
    "is let in all the while with a right token in a small body at %s, and not with a wrong one",
    async (path, body) => {
      const address = newAddress();
      const send = (secret: string, more = {}) =>
        post(path, JSON.stringify({ ...body(secret), ...more }), address);
      // Others at this address go on while the right ones come.
      const stopped = new AbortController();
      const others = (async () => {
        while (!stopped.signal.aborted) await refusalOf(address);
      })();
      await refusalOf(address);
      const statuses: number[] = [];
      for (let sent = 0; sent < 40; sent += 1) statuses.push((await send(token)).status);
      const wrong = await refusalOf(address).then(() => send(`rk-${"A".repeat(32)}`));
      const large = await refusalOf(address).then(() => send(token, { text: "x".repeat(100_000) }));
      stopped.abort();
      await others;
      expect(statuses).toEqual(Array.from({ length: 40 }, () => 200));
      await expectError(wrong, "rate_limit_exceeded", "from this address");
      await expectError(large, "rate_limit_exceeded", "from this address");
    },
  );

  test("may have a right token in a large body as soon as it waited", async () => {
    const address = newAddress();
    const refused = await refusalOf(address);
    // Its own wait is what the test is about.
    await Bun.sleep(Number(refused.headers.get("retry-after")) * 1_000);
    const properties = { text: "x".repeat(100_000) };
    const event = JSON.stringify({ api_key: token, event: "opened", distinct_id: "waited", properties });
    // The bodies that were sent beside the refused one may have been counted after it.
    const answer = await withinLimit(() => post("/e", event, address));
    expect(answer.status).toBe(200);
  });
});

test("a batch of PostHog's with an Authorization header takes one place of its token's bucket", async () => {
  const secret = await server.organization("One place");
  await server.command("organization", "set", "One place", "--rate-limit", "1");
  const body = JSON.stringify({ api_key: secret, batch: [{ event: "opened", distinct_id: "one" }] });
  const answer = await post("/batch", body, { Authorization: `Bearer ${secret}` });
  expect([answer.status, await answer.text()]).toEqual([200, '{"status":"Ok"}']);
});

describe("bodies that are held at once", () => {
  const heldBytes = async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^rekindle_body_bytes (\d+)/m.exec(metrics)?.[1]);
  };

  test("have a budget of bytes, past which a body is refused until others are answered or left", async () => {
    const part = "x".repeat(7 * 1024 * 1024);
    const start = (length: number) =>
      head(
        "POST /batch HTTP/1.1",
        "Host: a",
        `Authorization: Bearer ${token}`,
        "User-Agent: test",
        `Content-Length: ${length}`,
      );
    const connections: RawConnection[] = [];
    const open = async () => {
      const connection = await RawConnection.open(server);
      connections.push(connection);
      connection.write(start(8 * 1024 * 1024) + part);
      return connection;
    };
    for (let opened = 1; opened <= 4; opened += 1) {
      await open();
      await until("its bytes are held", heldBytes, (bytes) => bytes >= opened * part.length);
    }
    const refused = await open();
    await refused.answered(1);
    expect(refused.statuses).toEqual([429]);
    expect(refused.answers[0]?.head).toMatch(/retry-after: \d+/i);
    expect(refused.answers[0]?.body).toContain('"name":"rate_limit_exceeded"');
    expect(await heldBytes()).toBeLessThanOrEqual(32 * 1024 ** 2);
    for (const connection of connections) connection.leave();
    await becomes(heldBytes, 0);
    await expectSuccess(await server.post("/identify", token, user("after")));
    expect(await heldBytes()).toBe(0);
  });

  const openLines = (address: Record<string, string>) => [
    `X-Forwarded-For: ${address["X-Forwarded-For"]}`,
    `Content-Length: ${limits.openBodyBytes}`,
  ];

  /** Sends a head and the beginning of a body of 1 MiB, and waits until it is held, or refused. */
  const openOne = async (lines: readonly string[], bytes: number, heldBefore: number) => {
    const connection = await RawConnection.open(server);
    connection.write(head("POST /batch HTTP/1.1", "Host: a", ...lines) + "x".repeat(bytes));
    await until(
      "its bytes are held, or it is refused",
      async () => connection.statuses.length > 0 || (await heldBytes()) >= heldBefore + bytes,
    );
    return connection;
  };

  test("are a quarter of the budget at most while their tokens are not known", async () => {
    const bytes = limits.openBodyBytes - 1_000;
    const connections: RawConnection[] = [];
    for (let opened = 0; opened < 9; opened += 1) {
      connections.push(await openOne(openLines(newAddress()), bytes, opened * bytes));
    }
    const statuses = connections.map((connection) => [...connection.statuses]);
    expect(statuses).toEqual([...Array.from({ length: 8 }, () => []), [429]]);
    const large = JSON.stringify({ batch: [], text: "x".repeat(7 * 1024 * 1024) });
    const withToken = await post("/batch", large, { Authorization: `Bearer ${token}`, "User-Agent": "test" });
    expect(withToken.status).toBe(400);
    for (const connection of connections) connection.leave();
    await becomes(heldBytes, 0);
  });

  test("are counted no longer than until their sender leaves, small ones and open ones too", async () => {
    for (const lines of [[], [`Authorization: Bearer ${token}`]]) {
      for (const bytes of [5_000, 50_000]) {
        const all = [...lines, "User-Agent: test", `Content-Length: ${2 * bytes}`];
        const connection = await openOne(all, bytes, 0);
        expect(connection.statuses).toEqual([]);
        connection.leave();
        await becomes(heldBytes, 0);
      }
    }
  });

  test("are charged to the address that leaves them before their end", async () => {
    const address = newAddress();
    const bytes = limits.openBodyBytes - 1_000;
    // 63 places each, of which 100 come back in a second.
    const leaveSeven = async () => {
      const left: RawConnection[] = [];
      while (left.length < 7) left.push(await openOne(openLines(address), bytes, left.length * bytes));
      for (const connection of left) connection.leave();
      await becomes(heldBytes, 0);
    };
    let [answer, tookMs, attempts]: [Response | undefined, number, number] = [undefined, 0, 0];
    // A busy machine may notice the end so late that all places are back.
    while (answer === undefined || (answer.status === 401 && tookMs > 2_000 && attempts < 20)) {
      attempts += 1;
      const begunMs = performance.now();
      await leaveSeven();
      answer = await post("/batch", "{}", address);
      tookMs = performance.now() - begunMs;
    }
    await expectError(answer, "rate_limit_exceeded", "from this address");
  });
});
