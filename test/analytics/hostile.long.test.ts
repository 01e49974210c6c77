/** Parameters and values that mean harm: refused by name, or taken for the text that they are. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import { Server } from "../server.ts";
import { type ReadRoute, readRoutes, withParameter, withSegment } from "../specification/read-routes.ts";
import { expectError, send, user } from "../specification/support.ts";
import { patientGet } from "./world.ts";

let server: Server;
let key: string;
let addressOf: (address: string) => string;

const formulas = ["=1+1", "+cmd|'/C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "＝1+1"];
/** As a table has it: a tab parts cells, too. */
const harmless = formulas.map((name) => `'${name.replace("\t=", "\t'=")}`);

beforeAll(async () => {
  server = await Server.shared();
  const token = await server.organization("Hostile figures");
  key = (await server.command("key", "create", "--organization", "Hostile figures")).trim();
  for (const [n, name] of formulas.entries()) {
    const userId = `u${n}`;
    const properties = { name, note: 'a "b", c' };
    await send(
      server,
      "/identify",
      token,
      user(userId, { properties, account: { id: name, name, properties } }),
    );
    await send(server, "/track", token, { userId, event: '=evil,"1"', properties: { value: name, "-5": 1 } });
  }
  await send(server, "/identify", token, user("-5", { properties: { name: "\r\n=1" } }));
  await server.exported("events", "Hostile figures");
  await server.ready();
  addressOf = await withSegment(server, "Hostile figures");
});
afterAll(() => server.stop());

function get(path: string): Promise<Response> {
  return patientGet(server.url + addressOf(path), key);
}

/** A user who sent events, and an account whose id is a formula. */
const routes = readRoutes({ userId: "u0", accountId: "%3D1%2B1" });
const tables = routes.filter(({ table }) => table !== undefined);

/** Histories of scores take any day of the calendar: outside of the years that events may have, they are
 * empty. */
const takesAnyYear = ({ template }: ReadRoute) => template.endsWith("/score/history");
const noDates = ["2026-02-30", "-1", "20000", "today", "2026-1-1", "", "2026-01-01'--"];
const otherYears = ["9999-12-31", "1969-12-31"];

const wrong: readonly (readonly [string, string])[] = [
  ...routes
    .filter(({ parameters }) => parameters.includes("to"))
    .flatMap((route) =>
      [...noDates, ...(takesAnyYear(route) ? [] : otherYears)].map(
        (to) => [withParameter(route.address, `to=${encodeURIComponent(to)}`), "to"] as const,
      ),
    ),
  ...routes.flatMap(({ address }) =>
    ["organization=2", "__proto__=1", "constructor=1", "format=parquet"].map(
      (parameter) => [withParameter(address, parameter), parameter.slice(0, parameter.indexOf("="))] as const,
    ),
  ),
  ["/api/active-users?days=801", "days"],
  ["/api/active-users?days=1e2", "days"],
  ["/api/active-users?days=99999999999999999999999", "days"],
  ["/api/active-users?days=NaN", "days"],
  ["/api/active-users?days=1;DROP", "days"],
  ["/api/lifecycle?period=year", "period"],
  ["/api/lifecycle?period=toString", "period"],
  ["/api/lifecycle?periods=0", "periods"],
  ["/api/lifecycle?periods=801", "periods"],
  ["/api/lifecycle?weekStart=3", "weekStart"],
  ["/api/adoption?limit=1001", "limit"],
  ["/api/adoption?days=-1", "days"],
  ["/api/events?limit=0", "limit"],
  [`/api/events?search=${"x".repeat(257)}`, "search"],
  ["/api/events-over-time?breakdown=account", "breakdown"],
  ["/api/events-over-time?breakdown=property", "key"],
  ["/api/events-over-time?breakdown=trait&key=", "key"],
  [`/api/events-over-time?breakdown=trait&key=${"x".repeat(257)}`, "key"],
  ["/api/events-over-time?key=plan", "key"],
  ["/api/events-over-time?breakdown=event&top=51", "top"],
  ["/api/users?sort=user_id;--", "sort"],
  ["/api/users?order=up", "order"],
  ["/api/users?offset=-1", "offset"],
  ["/api/users?offset=10000001", "offset"],
  ["/api/users?limit=1001", "limit"],
  ["/api/traits?limit=201", "limit"],
  ["/api/properties?limit=201", "limit"],
  ["/api/properties?days=801", "days"],
  ["/api/users?trait=plan", "trait"],
  ["/api/users?value=pro", "trait"],
  ["/api/accounts?sort=email", "sort"],
  ["/api/accounts?mrrFrom=1e400", "mrrFrom"],
  ["/api/users?subscriptionStatus=ended", "subscriptionStatus"],
  ["/api/accounts?sort=trait", "sortTrait"],
  ["/api/accounts?trait=plan", "trait"],
  ["/api/accounts?traits=%5B%7B%7D%5D", "trait"],
  ["/api/traits?kind=event", "kind"],
  ["/api/segments/1/history?days=366", "days"],
  ["/api/segments/1/changes?limit=101", "limit"],
  ["/api/segments/1/changes?before=1-2-3", "before"],
  ["/api/users/u0/timeline?before=yesterday", "before"],
  ["/api/users/u0/timeline?before=1.1", "before"],
  ["/api/users/u0/timeline?before=123.00000000-0000-0000-0000-00000000000g", "before"],
];

test.each(wrong)("%s is refused, and %s is named", async (path, name) => {
  await expectError(await get(path), "validation_error", `${name} is`);
});

describe("a text is only ever a text", () => {
  const texts = [
    "' OR 1=1 --",
    "\\",
    "\\'",
    "{organization:UInt32}",
    "%",
    "\0\n\t\b",
    "'); DROP TABLE events; --",
    "🎈",
    "\uFEFF",
    "__proto__",
  ];

  test.each(texts)("%j finds nothing, and nothing breaks", async (text) => {
    const sent = encodeURIComponent(text);
    for (const [path, table] of [
      [`/api/events?search=${sent}`, "events"],
      [`/api/accounts?search=${sent}xyz`, "accounts"],
      [`/api/users?search=${sent}xyz`, "users"],
      [`/api/users?trait=${sent}&value=${sent}`, "users"],
      [`/api/accounts?subscriptionPlan=${sent}&sort=renewsAt`, "accounts"],
      [`/api/accounts?trait=${sent}&value=${sent}&sort=trait&sortTrait=${sent}`, "accounts"],
      [`/api/events-over-time?event=${sent}&breakdown=event`, "periods"],
      [`/api/events-over-time?event=${sent}&breakdown=trait&key=${sent}`, "periods"],
      [`/api/events-over-time?event=${sent}&breakdown=property&key=${sent}`, "periods"],
    ] as const) {
      const response = await get(path);
      const answer = (await response.json()) as Record<string, unknown>;
      expect([path, response.status, answer[table]]).toEqual([path, 200, []]);
    }
  });

  test("half a surrogate pair becomes a replacement character on its way, and breaks nothing", async () => {
    for (const path of ["/api/users?search=%ED%A0%80", "/api/events?search=%ff"]) {
      expect((await get(path)).status).toBe(200);
    }
    await expectError(await get("/api/accounts/%ED%A0%80"), "not_found");
  });

  test.each(["users", "accounts"])(
    "half a surrogate pair in JSON of %s is refused by its place",
    async (kind) => {
      const half = String.raw`"\ud83d"`;
      for (const [name, json, place] of [
        ["traits", `[{"trait":${half},"value":"x"}]`, "traits.0.trait"],
        ["traits", `[{"trait":"plan","value":${half}}]`, "traits.0.value"],
        ["events", `[{"event":${half},"days":7}]`, "events.0.event"],
        ["segments", `[{${half}:1}]`, "segments.0"],
      ] as const) {
        const response = await get(`/api/${kind}?${name}=${encodeURIComponent(json)}`);
        await expectError(response, "validation_error", place);
      }
    },
  );

  test("the limits of time and pages are taken", async () => {
    for (const path of [
      "/api/lifecycle?period=month&periods=800&to=1970-01-01",
      "/api/lifecycle?period=day&periods=800",
      "/api/events-over-time?period=month&periods=800&breakdown=trait&key=name&top=50",
      "/api/active-users?days=800&to=1970-01-01",
      "/api/adoption?days=800&to=1970-01-02",
      "/api/users?offset=10000000&limit=1000",
      "/api/segments/id-of-a-segment/history?days=365",
      "/api/segments/id-of-a-segment/changes?before=999999999999999-9999999999",
      "/api/users/u0/timeline?before=99999999999999.ffffffff-ffff-ffff-ffff-ffffffffffff",
      "/api/users/u0/timeline?before=-99999999999999.00000000-0000-0000-0000-000000000000",
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    }
  });
});

describe("every table as CSV", () => {
  test.each(tables)("$template has the columns of its rows, and a line for each", async (route) => {
    const { address, template, table = "" } = route;
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document;
    const content = document.paths[template]?.get.responses[200].content;
    const schema = content?.["application/json"].schema;
    expect(content).toHaveProperty(["text/csv"]);
    const answer = (await (await get(address)).json()) as Record<string, object[] | undefined>;
    expect([address, Compile(schema ?? {}).Check(answer)]).toEqual([address, true]);
    const response = await get(withParameter(address, "format=csv"));
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const [header = [], ...lines] = parse(await response.text());
    const rows = answer[table] ?? [];
    expect(lines).toHaveLength(rows.length);
    // Beside amounts stands their currency.
    const isOwn = (name: string) => name !== "currency" || columnsOf(schema, table).includes(name);
    const fields = new Set(header.map((name) => name.replace(/^(traits)\..*/, "$1")).filter(isOwn));
    const [row] = rows;
    if (row !== undefined) expect([...fields].sort()).toEqual(Object.keys(row).sort());
    // Without rows, as for scores of an organization that was never scored, columns are what the document
    // says.
    else expect([...fields].filter((name) => !columnsOf(schema, table).includes(name))).toEqual([]);
    expect(lines.every((line) => line.length === header.length)).toBe(true);
  });

  test("no text begins like a formula, numbers stay numbers, and every text is whole", async () => {
    const lines = parse(await (await get("/api/users?format=csv&sort=userId&order=ascending")).text());
    const names = lines.map((line) => line[2]);
    expect(names).toEqual(["name", "'\r\n'=1", ...harmless]);
    expect(lines.map((line) => line[0])).toContain("-5");
    const lastOf = (name: string) => lines.at(-1)?.[lines[0]?.indexOf(name) ?? -1];
    expect([lastOf("traits.name"), lastOf("traits.note")]).toEqual(["'＝1+1", 'a "b", c']);
    const [, event] = parse(await (await get("/api/events?format=csv")).text());
    expect(event?.slice(0, 4)).toEqual(['\'=evil,"1"', "", "6", "6"]);
    const values = parse(
      await (await get("/api/events-over-time?breakdown=property&key=value&periods=1&format=csv")).text(),
    );
    expect(
      values
        .slice(1)
        .map((line) => line[3])
        .sort(),
    ).toEqual(harmless.toSorted());
  });
});

interface Document {
  readonly paths: Record<
    string,
    { get: { responses: { 200: { content: { "application/json": { schema: AnswerSchema } } } } } }
  >;
}
interface AnswerSchema {
  readonly properties?: Readonly<Record<string, { readonly items?: RowSchema }>>;
}
interface RowSchema {
  readonly properties?: Readonly<Record<string, object>>;
  readonly anyOf?: readonly RowSchema[];
}

/** The names of a table's columns in the schema of its answer. */
function columnsOf(schema: AnswerSchema | undefined, table: string): string[] {
  const rows = schema?.properties?.[table]?.items;
  return [rows, ...(rows?.anyOf ?? [])].flatMap((row) => Object.keys(row?.properties ?? {}));
}

/** Reads CSV by RFC 4180. */
function parse(text: string): string[][] {
  const lines: string[][] = [];
  let line: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    line.push(quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    lines.push(line);
    line = [];
  }
  return lines;
}
