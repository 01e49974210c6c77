/** The forms in which PostHog's clients send their JSON come to the same bytes. */
import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { readPosthogBody } from "../../server/http/write/posthog-body.ts";

const json = JSON.stringify({ event: "{~~~>>> é", distinct_id: "u-1" });
const base64 = Buffer.from(json).toString("base64");
const formType = "application/x-www-form-urlencoded";

function read(body: string | Uint8Array, query = "", contentType: string | null = "text/plain"): string {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const said = { query: new URLSearchParams(query), contentType };
  const result = readPosthogBody(bytes, said, 10_000);
  return "invalid" in result ? `invalid: ${result.invalid}` : Buffer.from(result).toString();
}

test("JSON is taken as it is, whatever it says of itself", () => {
  for (const type of ["application/json", "text/plain", formType, null])
    expect(read(json, "", type)).toBe(json);
});

test("posthog-js compresses and says so in the address only", () => {
  expect(read(gzipSync(json), "compression=gzip-js&ip=1&_=1763726400000&ver=1.300.0")).toBe(json);
  expect(read(gzipSync(json))).toBe(json);
  expect(read(gzipSync(json), "", formType)).toBe(json);
});

test("a form holds base64, with its plus signs as they come, or JSON", () => {
  expect(base64).toContain("+");
  expect(read(`data=${encodeURIComponent(base64)}`, "compression=base64", formType)).toBe(json);
  expect(read(`data=${base64}`, "", formType)).toBe(json);
  expect(read(`data=${encodeURIComponent(json)}`, "", `${formType}; charset=UTF-8`)).toBe(json);
  expect(read(`ver=1&data=${encodeURIComponent(base64)}&compression=base64`, "", formType)).toBe(json);
  expect(read(`data=${encodeURIComponent(base64)}`)).toBe(json);
});

test("base64 without a form is read, and gzip within it", () => {
  expect(read(base64)).toBe(json);
  expect(read(gzipSync(json).toString("base64"))).toBe(json);
  expect(
    read(`data=${encodeURIComponent(gzipSync(json).toString("base64"))}`, "compression=gzip", formType),
  ).toBe(json);
});

test("an array of events is a batch", () => {
  expect(read(` [${json}]`)).toBe(`{"batch": [${json}]}`);
});

test("lz64 is refused by name", () => {
  expect(read("N4Ig", "compression=lz64")).toStartWith("invalid: lz64");
  expect(read("data=N4Ig&compression=lz64", "", formType)).toStartWith("invalid: lz64");
});

test("a form has at most 300 fields, of which the first data and compression are read", () => {
  const many = (fields: number) => `${"a&".repeat(fields - 1)}data=${base64}`;
  expect(read(many(300), "", formType)).toBe(json);
  expect(read(many(301), "", formType)).toBe(
    "invalid: body is a form of more than 300 fields: send the field data.",
  );
  expect(read(`data=${base64}&data=e30`, "", formType)).toBe(json);
  expect(read("data=%7B%22a%22:+%22b+c%2Bd%%zz%22%7D", "", formType)).toBe('{"a": "b c+d%%zz"}');
});

test("a body that inflates past the limit, or is cut, is refused", () => {
  expect(read(gzipSync(Buffer.alloc(10_001)))).toStartWith("invalid: body inflates to more than 10000 bytes");
  expect(read(gzipSync(json).subarray(0, 30))).toStartWith("invalid: body ends before");
});

test("wrapping upon wrapping ends", () => {
  let body: Buffer = Buffer.from(json);
  for (let times = 0; times < 9; times += 1) body = gzipSync(body);
  expect(read(body)).toStartWith("invalid: body is wrapped more than");
});
