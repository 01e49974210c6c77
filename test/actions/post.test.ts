/** Messages to destinations, against real receivers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LookupFunction } from "node:net";
import { Webhook } from "standardwebhooks";
import { post, usualRules } from "../../server/actions/send/post.ts";
import { newSecret, signedHeaders } from "../../server/actions/send/signature.ts";
import { readConfig } from "../../server/config.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.stop());

const privateDestinations = (text: string) =>
  readConfig({ ALLOW_PRIVATE_DESTINATIONS: text }).privateDestinations;
const allowed = () => ({
  ...usualRules,
  exceptions: privateDestinations(receiver.allowed),
});
const to = (path: string) => ({
  address: receiver.address(path),
  headers: { "content-type": "application/json" },
  body: '{"type":"alert.fired"}',
});

describe("a receiver", () => {
  test("that verifies by the reference package accepts the signature, of either secret while they change", async () => {
    const secrets = [newSecret(random), newSecret(random)];
    const body = '{"type":"alert.fired","data":{"name":"Zoë"}}';
    const headers = signedHeaders({ id: "msg_1", sentAtS: Math.floor(Date.now() / 1_000), body }, secrets);
    const sent = await post({ ...to("/200"), headers, body }, allowed());
    expect(sent.status).toBe(200);
    const got = receiver.got.at(-1);
    for (const secret of secrets) {
      expect(new Webhook(secret).verify(got?.body ?? "", got?.headers ?? {})).toEqual(JSON.parse(body));
    }
    expect(() => new Webhook(newSecret(random)).verify(got?.body ?? "", got?.headers ?? {})).toThrow();
  });

  test.each([200, 204, 301, 410, 429, 500])(
    "answers %i: the status is returned, and no redirect followed",
    async (status) => {
      const before = receiver.got.length;
      const sent = await post(to(`/${status}`), allowed());
      expect(sent.status).toBe(status);
      expect(receiver.got.length).toBe(before + 1);
      if (status !== 301) expect(sent.retryAfterMs).toBe(7_000);
    },
  );

  test("that does not answer is left after the time-out", async () => {
    const sent = await post(to("/hang"), { ...allowed(), timeoutMs: 300 });
    expect(sent).toEqual({ status: null, said: "No answer within 0.3 s.", retryAfterMs: null });
  });

  test("that does not end its answer has the message: the beginning of the answer is kept", async () => {
    // The answer has to begin in this time, also on a busy machine.
    const sent = await post(to("/drip"), { ...allowed(), timeoutMs: 2_000 });
    expect(sent).toEqual({ status: 200, said: expect.stringMatching(/^\.+$/), retryAfterMs: null });
  });

  test("that cuts its answer off has the message", async () => {
    expect(await post(to("/cut"), allowed())).toMatchObject({ status: 200, said: "begun" });
  });

  test("that sends without end is read up to the limit", async () => {
    const sent = await post(to("/endless"), allowed());
    expect(sent.status).toBe(200);
    expect(sent.said.length).toBe(4_096);
  });
});

describe("an address is refused", () => {
  const refused = [
    "https://127.0.0.1/",
    "https://localhost/",
    "https://[::1]/",
    "https://10.1.2.3/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://[fe80::1]/",
    "https://[fc00::1]/",
    "https://[fd00:ec2::254]/",
    "https://[fd20:ce::254]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://0.0.0.0/",
    "https://[::]/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://100.100.100.200/",
    "https://168.63.129.16/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "http://example.com/",
    "ftp://example.com/",
    "https://user:password@example.com/",
    "no address",
  ];
  test.each(refused)("%s", async (address) => {
    const before = receiver.got.length;
    const sent = await post({ ...to("/"), address }, { ...allowed(), timeoutMs: 30_000 });
    expect(sent.status).toBeNull();
    expect(sent.said).toMatch(/^The address \S+ is not allowed: messages go to public addresses|not valid/);
    expect(receiver.got.length).toBe(before);
  });

  test("whose name resolves to this machine at the second look-up", async () => {
    let lookUps = 0;
    const lookup: LookupFunction = (_, { all }, done) => {
      lookUps += 1;
      const address = lookUps === 1 ? "192.0.43.8" : "127.0.0.1";
      if (all === true) done(null, [{ address, family: 4 }]);
      else done(null, address, 4);
    };
    const message = { ...to("/"), address: `https://rebinding.example:${receiver.port}/` };
    // The first address is another machine's, which need not answer.
    await post(message, { ...allowed(), timeoutMs: 300, lookup });
    const sent = await post(message, { ...allowed(), timeoutMs: 30_000, lookup });
    expect(lookUps).toBe(2);
    expect(sent.said).toContain("not allowed");
  });

  test("with the same name but another port", async () => {
    const sent = await post(
      { ...to("/"), address: `http://hooks.internal:${receiver.port + 1}/` },
      allowed(),
    );
    expect(sent.said).toContain("not valid");
  });
});

describe("private destinations", () => {
  test("are read", () => {
    expect(privateDestinations("A.internal:8080=10.0.0.7, b:443=fd12::1")).toEqual([
      { name: "a.internal", port: 8080, address: "10.0.0.7" },
      { name: "b", port: 443, address: "fd12::1" },
    ]);
  });
  test.each([
    "a:80",
    "a=10.0.0.1",
    "a:0=10.0.0.1",
    "a:65536=10.0.0.1",
    "a:80=host",
    "a:80=169.254.169.254",
    "a:80=fe80::1",
    "a:80=fd20:ce::254",
    "a:80=::ffff:169.254.169.254",
  ])("are refused: %s", (text) => {
    expect(() => privateDestinations(text)).toThrow();
  });
});
