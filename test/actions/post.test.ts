/** Messages to destinations, against real receivers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LookupFunction } from "node:net";
import { Webhook } from "standardwebhooks";
import { readConfig } from "../../server/config.ts";
import { savedAddress } from "../../server/sending/allowed-address.ts";
import { post, usualRules } from "../../server/sending/post.ts";
import { newSecret, signedHeaders } from "../../server/sending/signature.ts";
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

  test.each([
    ["changes the protocol", "/switch", "The receiver changes the protocol (101): a webhook has to answer."],
    [
      "sends interim answers without end",
      "/interim",
      "The receiver sends interim answers (1xx) without end.",
    ],
  ])("that %s has failed at once", async (_, path, said) => {
    expect(await post(to(path), allowed())).toEqual({ status: null, said, retryAfterMs: null });
  });

  test("that hints at its answer has the message", async () => {
    expect(await post(to("/hints"), allowed())).toMatchObject({ status: 200, said: "status 200" });
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
    "https://[::127.0.0.1]/",
    "https://[::a01:203]/",
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
    expect(() => savedAddress(address, allowed().exceptions)).toThrow(
      /^address is not valid: .*(?:ALLOW_PRIVATE_DESTINATIONS|https:|password)/,
    );
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

/** Addresses on both sides of the edges of networks. */
const edges = [
  "0.255.255.255",
  "1.0.0.0",
  "9.255.255.255",
  "10.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.127.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "127.255.255.255",
  "128.0.0.0",
  "168.63.129.15",
  "168.63.129.17",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.31.255.255",
  "172.32.0.0",
  "191.255.255.255",
  "192.0.0.255",
  "192.0.1.0",
  "192.0.2.255",
  "192.0.3.0",
  "192.31.195.255",
  "192.31.196.255",
  "192.31.197.0",
  "192.52.192.255",
  "192.52.193.255",
  "192.52.194.0",
  "192.88.98.255",
  "192.88.99.255",
  "192.88.100.0",
  "192.167.255.255",
  "192.169.0.0",
  "192.175.47.255",
  "192.175.48.255",
  "192.175.49.0",
  "198.17.255.255",
  "198.19.255.255",
  "198.20.0.0",
  "198.51.99.255",
  "198.51.100.255",
  "198.51.101.0",
  "203.0.112.255",
  "203.0.113.255",
  "203.0.114.0",
  "223.255.255.255",
  "239.255.255.255",
  "::2",
  "::fffe:ffff:ffff",
  "::ffff:8.8.8.8",
  "::1:0:0:0",
  "::ffff:0:808:808",
  "::ffff:1:808:808",
  "64:ff9b::1:0:0",
  "64:ff9b:1:ffff::",
  "64:ff9b:2::",
  "100::ffff:0:0:0",
  "100:0:0:1::",
  "2000:ffff::",
  "2001:1ff:ffff::",
  "2001:200::",
  "2001:db7:ffff::",
  "2001:db8:ffff::",
  "2001:db9::",
  "2002:ffff::",
  "2003::",
  "2620:4f:7fff::",
  "2620:4f:8000:ffff::",
  "2620:4f:8001::",
  "3ffe:ffff::",
  "3fff:fff::",
  "3fff:1000::",
  "5eff:ffff::",
  "5f00:ffff::",
  "5f01::",
  "fbff::",
  "fdff::",
  "fe00::",
  "fe7f:ffff::",
  "febf::",
  "feff::",
];

test("a literal address is saved if, and only if, messages to it are sent", async () => {
  const isSaved = (address: string) => {
    try {
      return savedAddress(`https://${address.includes(":") ? `[${address}]` : address}/`, []) !== "";
    } catch {
      return false;
    }
  };
  const isSent = async (address: string) => {
    // The second address ends the attempt without a connection. The answer names the first one that is
    // refused.
    const lookup: LookupFunction = (_, __, done) =>
      done(
        null,
        [address, "127.0.0.1"].map((one) => ({ address: one, family: one.includes(":") ? 6 : 4 })),
      );
    const { said } = await post({ ...to("/"), address: "https://edge.example/" }, { ...usualRules, lookup });
    expect(said).toContain("not allowed");
    return said.includes("The address 127.0.0.1 ");
  };
  const judged = await Promise.all(edges.map(async (one) => [one, await isSent(one)]));
  expect(edges.map((one) => [one, isSaved(one)])).toEqual(judged);
  expect(judged.filter(([, is]) => is).length).toBeGreaterThan(30);
});

describe("private destinations", () => {
  test("are saved by a literal address, at its port alone", () => {
    const exceptions = privateDestinations("10.0.0.7:8080=10.0.0.7");
    const hook = "http://10.0.0.7:8080/hook";
    expect(savedAddress(hook, exceptions)).toBe(hook);
    expect(() => savedAddress("https://10.0.0.7/hook", exceptions)).toThrow(
      "address is not valid: 10.0.0.7 is no public address. ALLOW_PRIVATE_DESTINATIONS does not allow it at port 443.",
    );
  });
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
