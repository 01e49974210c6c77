/** Look-ups of the names of destinations, by a name server of the test. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { getServers, setServers } from "node:dns";
import { mkdtempSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SyncedFile } from "../../server/ledger/sqlite/synced-file.ts";
import { lookUpBy } from "../../server/sending/look-up.ts";
import { post, usualRules } from "../../server/sending/post.ts";
import { until } from "../until.ts";
import { type Addresses, type NameServer, startNameServer } from "./name-server.ts";

const publicAddress: Addresses = { ipv4: ["192.0.43.8"], ipv6: ["26064700000000000000000000001111"] };
const thisMachine: Addresses = { ipv4: ["127.0.0.1"], ipv6: ["00000000000000000000000000000001"] };

/** Names that have an answer. */
let names: Record<string, Addresses>;
let nameServer: NameServer;
let serversBefore: string[];
beforeEach(async () => {
  names = {};
  nameServer = await startNameServer((name) => names[name]);
  serversBefore = getServers();
  setServers([nameServer.address]);
});
afterEach(() => {
  setServers(serversBefore);
  nameServer.stop();
});

const send = (name: string, timeoutMs = 60_000) =>
  post({ address: `https://${name}/`, headers: {}, body: "{}" }, { ...usualRules, timeoutMs });

test("20 names whose server does not answer delay no write and no other destination", async () => {
  names["sound.example"] = { ...thisMachine, ipv6: [] };
  const hanging = Array.from({ length: 20 }, (_, n) => `hanging-${n}.example`);
  let ended = 0;
  const sent = hanging.map((name) =>
    send(name).finally(() => {
      ended += 1;
    }),
  );
  await until("all names are asked for", () => hanging.every((name) => nameServer.asked.has(name)));

  const path = join(mkdtempSync(join(tmpdir(), "look-up-")), "journal");
  writeFileSync(path, "");
  const file = new SyncedFile(path);
  writeSync(file.descriptor, "a write");
  await file.synced();
  await file.close();
  // The address was looked up, and then refused.
  expect((await send("sound.example")).said).toContain("127.0.0.1 is not allowed");
  expect(ended).toBe(0);

  nameServer.release();
  const all = await Promise.all(sent);
  expect(all.map(({ status }) => status)).toEqual(hanging.map(() => null));
});

test("a look-up without an answer ends after the time-out of the message", async () => {
  expect(await send("hanging.example", 300)).toMatchObject({ said: "No answer within 0.3 s." });
  nameServer.release();
});

describe("a name is refused", () => {
  test.each([
    ["IPv4", { ...publicAddress, ipv4: ["192.0.43.8", "10.0.0.1"] }, "10.0.0.1"],
    ["IPv6", { ...publicAddress, ipv6: thisMachine.ipv6 }, "::1"],
    ["IPv6 that holds IPv4", { ipv4: [], ipv6: ["00000000000000000000ffff7f000001"] }, "::ffff:127.0.0.1"],
  ])("with a private address of %s among its addresses", async (_, addresses, refused) => {
    names["mixed.example"] = addresses;
    expect((await send("mixed.example")).said).toContain(`The address ${refused} is not allowed`);
  });

  test("that resolves to this machine at the second look-up", async () => {
    names["rebinding.example"] = publicAddress;
    // The first address is another machine's, which need not answer.
    expect((await send("rebinding.example", 300)).said).not.toContain("not allowed");
    names["rebinding.example"] = thisMachine;
    expect((await send("rebinding.example")).said).toContain("not allowed");
  });
});

test("name servers that change are used without a restart", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "look-up-")), "resolv.conf");
  writeFileSync(file, `nameserver ${nameServer.address}\n`);
  const lookUp = lookUpBy(file);
  const addressOf = (name: string) =>
    new Promise((found, failed) => {
      lookUp(name, { family: 4 }, (error, address) => (error ? failed(error) : found(address)));
    });
  names["one.example"] = publicAddress;
  expect(await addressOf("one.example")).toBe("192.0.43.8");
  const other = await startNameServer(() => thisMachine);
  writeFileSync(file, `# changed\nnameserver ${other.address}\noptions timeout:1\n`);
  expect(await addressOf("two.example")).toBe("127.0.0.1");
  other.stop();
});
