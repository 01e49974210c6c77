/** A client's address in every spelling that proxies use. */
import { describe, expect, test } from "bun:test";
import { ClientAddresses } from "../../server/http/port/client-address.ts";

const addresses = new ClientAddresses(["127.0.0.1", "::1", "10.0.0.0/8", "2001:db8:ffff::/48"]);

const connection = (address: string) => ({ timeout: () => undefined, requestIP: () => ({ address }) });

function clientOf(headers: Record<string, string>, from = "127.0.0.1"): string {
  return addresses.of(new Request("http://x/", { headers }), connection(from));
}

const spellings: readonly (readonly [string, string])[] = [
  ["203.0.113.7", "203.0.113.7"],
  ["203.0.113.7:51008", "203.0.113.7"],
  [" 203.0.113.7:51008 ,10.1.2.3:80", "203.0.113.7"],
  ["198.51.100.1, 203.0.113.7:51008, [::1]:4711, [2001:db8:ffff::2], ::ffff:10.1.2.3", "203.0.113.7"],
  ["203.0.113.7,,", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["::FFFF:cb00:7107", "203.0.113.7"],
  ["[::ffff:203.0.113.7]:443", "203.0.113.7"],
  ["2001:DB8:0001:0002::9", "2001:db8:1:2"],
  ["[2001:db8:1:2::9]", "2001:db8:1:2"],
  ["[2001:db8:1:2::9]:51008", "2001:db8:1:2"],
  ["2001:db8:1:2::9:51008", "2001:db8:1:2"],
  ["2001:db8:1:2:3:4:5:6:443", "2001:db8:1:2"],
  ["fe80::9%eth0", "fe80:0:0:0"],
  ["64:ff9b::203.0.113.7", "64:ff9b:0:0"],
  // No address: the last proxy's own, which all of its unknown clients share.
  ["unknown", "127.0.0.1"],
  ["203.0.113.999:80", "127.0.0.1"],
  ["203.0.113.7:80:90", "127.0.0.1"],
  ["203.0.113.7, _hidden, 10.1.2.3", "10.1.2.3"],
];

describe("a client's address", () => {
  test.each(spellings)("X-Forwarded-For: %s", (sent, expected) => {
    expect(clientOf({ "X-Forwarded-For": sent })).toBe(expected);
  });

  test.each([
    ["for=203.0.113.7", "203.0.113.7"],
    ["For=203.0.113.7;proto=https;by=10.0.0.1", "203.0.113.7"],
    ['for="203.0.113.7:51008"', "203.0.113.7"],
    ['for="[2001:db8:1:2::9]:51008"', "2001:db8:1:2"],
    ['for="_a,b;for=198.51.100.1", proto=http; for="203.0.113.7:_port" , for=10.1.2.3', "203.0.113.7"],
    ["for=198.51.100.1, for=203.0.113.7, for=10.1.2.3", "203.0.113.7"],
    ["for=198.51.100.1, proto=https", "127.0.0.1"],
    ["for=unknown", "127.0.0.1"],
    ["", "127.0.0.1"],
  ])("Forwarded: %s", (sent, expected) => {
    expect(clientOf({ Forwarded: sent })).toBe(expected);
  });

  test("in X-Forwarded-For is taken before one in Forwarded, which a client may have sent", () => {
    const both = { "X-Forwarded-For": "203.0.113.7", Forwarded: "for=198.51.100.1" };
    expect(clientOf(both)).toBe("203.0.113.7");
  });

  test("is the connection's where no trusted proxy calls, in one spelling", () => {
    const said = { "X-Forwarded-For": "203.0.113.7", Forwarded: "for=203.0.113.7" };
    expect(clientOf(said, "192.0.2.9")).toBe("192.0.2.9");
    expect(clientOf(said, "::ffff:192.0.2.9")).toBe("192.0.2.9");
    expect(clientOf(said, "::ffff:127.0.0.1")).toBe("203.0.113.7");
    expect(clientOf(said, "0:0:0:0:0:0:0:1")).toBe("203.0.113.7");
  });
});

test("https is what the nearest trusted proxy says of its caller", () => {
  const isHttps = (headers: Record<string, string>, from = "127.0.0.1") =>
    addresses.isHttps(new Request("http://x/", { headers }), connection(from));
  expect(isHttps({ "X-Forwarded-Proto": "http, HTTPS" })).toBe(true);
  expect(isHttps({ "X-Forwarded-Proto": "https, http" })).toBe(false);
  expect(isHttps({ Forwarded: 'for=203.0.113.7;proto=http, for=10.1.2.3;Proto="https"' })).toBe(true);
  expect(isHttps({ Forwarded: "for=203.0.113.7;proto=https, for=10.1.2.3" })).toBe(false);
  expect(isHttps({ "X-Forwarded-Proto": "http", Forwarded: "proto=https" })).toBe(false);
  expect(isHttps({ Forwarded: "proto=https" }, "192.0.2.9")).toBe(false);
});
