/** No text makes a regular expression of the product slower than linear: one of 16 KiB in an address stopped
 * intake for 0.2 s. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { webhookAddress } from "../server/http/write/source-token.ts";
import { regularExpressions, slowExpressions } from "./tidy/regular-expressions.ts";
import { readSourceFiles } from "./tidy/source-files.ts";

const slow = (text: string, path = "server/a.ts") => slowExpressions(regularExpressions([{ path, text }]));

/** To read the whole product takes a second, and several where others work on the same cores. */
setDefaultTimeout(10 * 60_000);

const inserted = (text: string) => `\${${text}}`;

describe("a regular expression is caught that", () => {
  test.each([
    ["backtracks exponentially", "const a = /^(a+)+$/;", "exponential"],
    ["has two loops that meet", "const a = /^\\/(\\w+)(?:\\/+([^/]*))?\\/*$/;", "quadratic"],
    ["looks for an end from each place", 'text.replace(/\\/+$/, "");', "quadratic"],
    ["is made while the program runs", 'new RegExp("^(a+)+$")', "exponential"],
    [
      "is made without new, of a constant",
      `const a = "(a*)*"; const b = RegExp(\`^${inserted("a")}$\`);`,
      "exponential",
    ],
    [
      "is made of what only then is known",
      `new RegExp(\`^${inserted("name")}\`)`,
      "only the running program",
    ],
    ["is a schema's", 'Type.String({ pattern: "^(a+)+" + "$" })', "exponential"],
  ])("%s", (_what, text, reason) => {
    expect(slow(text)).toEqual([expect.stringContaining(reason)]);
  });

  test("is in a page", () => {
    const page = "const Page = () => <p>{/(a*)*b/.test(text)}</p>;";
    expect(slow(page, "dashboard/a.tsx")).toEqual([expect.stringContaining("exponential")]);
  });

  test("and none that is linear, in a comment or in a string", () => {
    expect(slow('const a = /^\\w+$/; // /(a+)+$/\nconst b = "/(a+)+$/";')).toEqual([]);
  });
});

test("the product has none", () => {
  const found = regularExpressions(readSourceFiles());
  expect(found.length).toBeGreaterThan(100);
  expect(slowExpressions(found)).toEqual([]);
});

describe("a webhook's address", () => {
  test.each([
    ["/v1/webhooks/stripe/rk-a", { name: "stripe", token: "rk-a" }],
    ["/v1/webhooks/my_tool-2//rk-a//?x=/", { name: "my_tool-2", token: "rk-a" }],
    ["/v1/webhooks/stripe", { name: "stripe", token: undefined }],
    ["/v1/webhooks/stripe/", { name: "stripe", token: "" }],
    ["/v1/webhooks/stripe/rk-a/b", undefined],
    ["/v1/webhooks//stripe", undefined],
    ["/v1/webhooks/Stripe/rk-a", undefined],
    [`/v1/webhooks/${"a".repeat(41)}/rk-a`, undefined],
    ["/v1/track?a=/v1/webhooks/stripe", undefined],
  ])("%s", (path, parts) => {
    expect(webhookAddress(`http://127.0.0.1${path}`)).toEqual(parts);
  });
});
