/** The rules that exclude users, as they are stored. */
import { expect, test } from "bun:test";
import { checkedRule } from "../../server/ledger/stores/exclusions.ts";

test("a rule has what it compares, and no more", () => {
  for (const rule of [
    { kind: "user", key: "", value: "u1" },
    { kind: "trait", key: "plan", value: "internal" },
    { kind: "trait", key: "plan", value: "" },
  ] as const) {
    expect(checkedRule(rule)).toEqual(rule);
  }
  for (const rule of [
    { kind: "user", key: "", value: "" },
    { kind: "user", key: "plan", value: "u1" },
    { kind: "trait", key: "", value: "internal" },
  ] as const) {
    expect(() => checkedRule(rule)).toThrow("needs a value");
  }
});

test("a domain is stored without its @", () => {
  const domain = (value: string) => checkedRule({ kind: "email_domain", key: "", value }).value;
  expect([domain("@example.com"), domain("example.com")]).toEqual(["example.com", "example.com"]);
  for (const value of ["@", "a@b", "*.com", "a b"]) expect(() => domain(value)).toThrow("is no domain");
});
