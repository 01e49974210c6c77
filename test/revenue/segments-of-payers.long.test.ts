/** Revenue of the payers of a segment, from /identify and /track to the figures, their CSV and the
 * command. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { quietZone } from "../far-from-midnight.ts";
import { type Browser, joined } from "../people/support.ts";
import { Server } from "../server.ts";
import { send, user } from "../specification/support.ts";
import { payersAt } from "./payers-support.ts";

const { onDay, sendPayers } = payersAt(Date.now());
const organization = "Segments of payers";
type Segment = RouteAnswer<"POST /api/segments">;
type Revenue = RouteAnswer<"GET /api/revenue">;
type Cohorts = RouteAnswer<"GET /api/revenue/cohorts">;
type AtRisk = RouteAnswer<"GET /api/revenue/at-risk">;

let server: Server;
let olga: Browser & { readonly organization: number };
/** Segments that have each payer once. */
let apart: readonly number[];

beforeAll(async () => {
  server = await Server.shared();
  const token = await server.organization(organization, "--timezone", quietZone);
  olga = await joined(server, organization, "owner", "Olga Owner");
  await server.ready();
  const started = (userId: string, properties: object) =>
    send(server, "/track", token, {
      userId,
      event: "subscription_started",
      timestamp: onDay(-70),
      properties: { subscriptionId: `of ${userId}`, interval: "month", currency: "USD", ...properties },
    });
  // Gil pays without an account, and becomes a member of acme afterwards.
  await send(server, "/identify", token, user("gil"));
  await started("gil", { plan: "Solo", amount: 500 });
  await server.exported("subscriptions", organization);
  await send(server, "/identify", token, user("gil", { account: { id: "acme", name: "The acme" } }));
  await sendPayers(server, organization, token);
  await started("cyd", { plan: "Tiers" });
  await server.exported("subscriptions", organization);
  apart = [
    await saved("Acme and beta", { kind: "accounts", ids: ["acme", "beta"] }),
    await saved("Other accounts", {
      kind: "accounts",
      ids: ["gamma", "delta", "epsilon", "zeta", "eta", "theta"],
    }),
    await saved("Solo", { kind: "users", ids: ["solo", "idle"] }),
  ];
});
afterAll(() => server.stop());

const at = (path: string) => `${path}${path.includes("?") ? "&" : "?"}organization=${olga.organization}`;
const get = <Answer>(path: string) => olga.json<Answer>("GET", at(path));
const inSegment = (segment: number | undefined) => (segment === undefined ? "" : `&segment=${segment}`);

async function saved(name: string, body: object): Promise<number> {
  return (await olga.json<Segment>("POST", at("/api/segments"), { name, ...body }, 201)).id;
}

const months = (segment?: number) => get<Revenue>(`/api/revenue?periods=4${inSegment(segment)}`);

async function mrrNow(segment?: number): Promise<readonly (number | undefined)[]> {
  const last = (await months(segment)).periods.at(-1);
  return [last?.endMrr, last?.endPayers];
}

describe("a segment", () => {
  test("of accounts has their MRR, and that of their users who pay without an account", async () => {
    const [first = 0] = apart;
    // 12,000 of acme, 5,500 of beta, and 500 of gil, who is in acme now.
    expect(await mrrNow(first)).toEqual([18_000, 3]);
    const ofAccounts = await get<AtRisk>(`/api/revenue/at-risk?segment=${first}`);
    expect(ofAccounts).toMatchObject({ mrr: 17_500, payers: 2 });
    const ofUsers = await get<AtRisk>(`/api/revenue/at-risk?kind=user&segment=${first}`);
    expect(ofUsers).toMatchObject({ mrr: 500, payers: 1 });
  });

  test("of users has their MRR, and that of accounts with at least one member in it", async () => {
    const ada = await saved("Ada", { kind: "users", ids: ["ada"] });
    expect(await mrrNow(ada)).toEqual([12_000, 1]);
    // Both are members of acme, so it is in either segment. Gil pays as well.
    const gil = await saved("Gil", { kind: "users", ids: ["gil", "idle"] });
    expect(await mrrNow(gil)).toEqual([12_500, 2]);
    const filter = { subscriptionPlan: "Solo" };
    const solos = await saved("Users on Solo", { kind: "users", filter });
    expect(await mrrNow(solos)).toEqual([13_499, 3]);
  });

  test("without payers has no MRR, and the currency of the organization", async () => {
    const idle = await saved("Idle", { kind: "users", ids: ["idle"] });
    const answer = await months(idle);
    expect(answer).toMatchObject({ hasSubscriptions: true, reportingCurrency: "USD", unrated: [] });
    expect(answer.periods.map(({ kind, startMrr, endMrr }) => [kind, startMrr, endMrr])).toEqual(
      Array.from({ length: 4 }, () => ["all", 0, 0]),
    );
    expect((await get<Cohorts>(`/api/revenue/cohorts?segment=${idle}`)).cells).toEqual([]);
  });

  test("that there is not is refused, in each figure", async () => {
    for (const path of ["/api/revenue", "/api/revenue/cohorts", "/api/revenue/at-risk"]) {
      const response = await olga.ask("GET", at(`${path}?segment=99999`));
      expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([
        400,
        "segment is not valid: there is no segment with the id 99999.",
      ]);
    }
  });
});

/** The sum of a number over rows, by their key. */
function sumsBy<Row>(rows: readonly Row[], key: (row: Row) => string, number: (row: Row) => number) {
  const sums: Record<string, number> = {};
  for (const row of rows) sums[key(row)] = (sums[key(row)] ?? 0) + number(row);
  return sums;
}

describe("segments that have each payer once add up to all payers:", () => {
  /** The answers about each segment, and about all payers. */
  async function answers<Answer>(path: string) {
    const parts: Answer[] = [];
    for (const segment of apart) parts.push(await get<Answer>(`${path}${inSegment(segment)}`));
    return { whole: await get<Answer>(path), parts };
  }

  test.each(["none", "plan", "trait&trait=tier"])("months, with the split %s", async (split) => {
    const { whole, parts } = await answers<Revenue>(`/api/revenue?periods=5&split=${split}`);
    expect(whole.periods.length).toBeGreaterThan(4);
    const figures = [
      "startMrr",
      "startPayers",
      "newMrr",
      "newPayers",
      "expansionMrr",
      "contractionMrr",
      "churnedMrr",
      "churnedPayers",
      "endMrr",
      "endPayers",
    ] as const;
    for (const figure of figures) {
      const by = (answer: readonly Revenue[]) =>
        sumsBy(
          answer.flatMap(({ periods }) => periods),
          ({ kind, value, fromDay }) => `${kind} ${value} ${fromDay}`,
          (row) => row[figure],
        );
      expect([figure, by(parts)]).toEqual([figure, by([whole])]);
    }
    expect(parts.flatMap(({ unrated }) => unrated)).toEqual(whole.unrated);
    expect(whole.unrated).toEqual([{ currency: "CHF", payers: 1, mrr: 700 }]);
    expect(parts.map(({ unpriced }) => unpriced)).toEqual([0, 1, 0]);
    expect(whole.unpriced).toBe(1);
  });

  test("cohorts", async () => {
    const { whole, parts } = await answers<Cohorts>("/api/revenue/cohorts?periods=5");
    for (const figure of ["payers", "entryMrr", "mrr"] as const) {
      const by = (answer: readonly Cohorts[]) =>
        sumsBy(
          answer.flatMap(({ cells }) => cells),
          ({ cohortDay, period }) => `${cohortDay} ${period}`,
          (cell) => cell[figure],
        );
      expect(by(parts)).toEqual(by([whole]));
    }
  });

  test.each(["account", "user"])("MRR at risk of the kind %s", async (kind) => {
    const { whole, parts } = await answers<AtRisk>(`/api/revenue/at-risk?kind=${kind}`);
    expect(whole.payers).toBeGreaterThan(0);
    for (const figure of ["mrr", "payers"] as const) {
      expect(parts.reduce((sum, part) => sum + part[figure], 0)).toBe(whole[figure]);
    }
  });
});

test("CSV and the command have the payers of the segment", async () => {
  const [first = 0] = apart;
  const path = `/api/revenue?periods=1&columns=endMrr,endPayers&format=csv&segment=${first}`;
  expect(await (await olga.ask("GET", at(path))).text()).toBe(
    "currency,endMrr,endPayers\r\nUSD,180.00,3\r\n",
  );
  const options = ["--organization", organization, "--periods", "4"];
  const table = await server.command("revenue", ...options, "--segment", "Acme and beta");
  expect(table).toContain("  180.00 USD  ");
  const json = await server.command("revenue", ...options, "--segment", "Solo", "--format", "json");
  expect((JSON.parse(json) as Revenue).periods.at(-1)).toMatchObject({ endMrr: 999, endPayers: 1 });
  const { exitCode, stderr } = await server.run({}, "revenue", ...options, "--segment", "Nobody");
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('there is no segment "Nobody"')]);
});
