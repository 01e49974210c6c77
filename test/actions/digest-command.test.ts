/** `rekindle digest`: the answer of the API for people, and as JSON. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { printDigest } from "../../cli/actions/digest.ts";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { captureOutput } from "../command-in-process.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";

type Digest = RouteAnswer<"GET /api/digest">;

let server: Server;
let ours: Awaited<ReturnType<typeof company>>;
const organization = "Summed up";
const of = ["--organization", organization];

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  ours = await company(server, organization);
}, 300_000);
afterAll(() => server.stop());

/** The text that is printed of a digest. */
function printed(digest: Digest): string {
  const captured = captureOutput();
  try {
    printDigest(digest);
  } finally {
    captured.end();
  }
  return captured.end().stdout;
}

const noMoves = { total: 0, named: [] };
const quiet: Digest = {
  period: "daily",
  day: "2026-11-30",
  kind: "account",
  scoredDay: "2026-11-30",
  sinceDay: "2026-11-29",
  hasModel: true,
  lacksData: false,
  currency: "EUR",
  hasNews: false,
  entered: noMoves,
  left: noMoves,
  movedBySettings: 0,
  insideBySettings: 0,
  top: [],
  changes: [],
  alerts: { fired: 0, handled: 0, notUseful: 0, withTask: 0, untouched: 0, churned: 0 },
  precision: { mature: 0, churned: 0, rate: null, interval: null },
  data: { silent: [], stoppedSince: null, rejectedEvents: 0 },
};

test("an organization without scores has a digest without news, for people and as JSON", async () => {
  const { owner, at } = ours;
  for (const period of ["daily", "weekly"] as const) {
    const answer = await owner.json<Digest>("GET", `${at("/api/digest")}&period=${period}`);
    const words = ["digest", ...of, "--period", period];
    expect(JSON.parse(await server.command(...words, "--json"))).toEqual(answer);
    const text = await server.command(...words);
    expect(text).toStartWith(
      `${period} digest of ${answer.day}\nThere are no scores yet.\nNothing of this is new`,
    );
    expect(text).toMatch(/^entered high risk +-$/m);
  }
  expect(await server.command("digest", ...of)).toStartWith("weekly digest");
  const { exitCode, stderr } = await server.run({}, "digest", ...of, "--period", "hourly");
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Allowed choices are daily, weekly")]);
});

test("moves, alerts, precision and missing data are printed", () => {
  const entity = { kind: "account", id: "acme", label: "Acme", state: "active" } as const;
  const text = printed({
    ...quiet,
    hasNews: true,
    movedBySettings: 2,
    insideBySettings: 1,
    changes: ["The model changed."],
    entered: { total: 12, named: [{ ...entity, risk: 0.62, riskBefore: 0.3, expectedLoss: 120_050 }] },
    left: {
      total: 1,
      named: [
        {
          ...entity,
          id: "gone",
          label: "Gone\nLtd",
          risk: null,
          riskBefore: 0.7,
          state: "churned",
          expectedLoss: null,
        },
      ],
    },
    top: [
      {
        kind: "account",
        id: "acme",
        label: "Acme",
        mrr: 193_600,
        plan: "Team",
        class: "high_risk",
        reason: "Use fell 69%",
        rankValue: 120_050,
        expectedLoss: 120_050,
        owner: "Olga",
      },
    ],
    alerts: { fired: 9, handled: 2, notUseful: 1, withTask: 3, untouched: 3, churned: 1 },
    precision: { mature: 5, churned: 2, rate: 0.4, interval: { low: 0.118, high: 0.769 } },
    data: {
      stoppedSince: null,
      rejectedEvents: 4,
      silent: [{ source: "api", since: "2026-11-28T10:00:00.000Z" }],
    },
  });
  expect(text).not.toContain("so it is not sent");
  const cells = text.split("\n").map((line) => line.split(/ {2,}/));
  expect(cells).toEqual([
    ["daily digest of 2026-11-30, with the scores of 2026-11-30"],
    ["FIGURE", "VALUE"],
    ["entered high risk", "12"],
    ["left high risk", "1"],
    ["moved only by settings or a model", "2"],
    ["inside a rule only by settings or a model", "1"],
    ["alerts of 7 days", "9: 2 handled, 1 not useful, 3 with a task, 3 untouched, 1 churned"],
    ["untouched alerts followed by churn", "2 of 5 (40.0%), 95 % interval 11.8% to 76.9%"],
    ["rejected events", "4"],
    ["silent source", "api since 2026-11-28T10:00:00.000Z"],
    ["WHAT", "ACCOUNT", "NAME", "RISK", "RISK BEFORE", "EXPECTED LOSS A MONTH"],
    ["entered high risk", "acme", "Acme", "62.0%", "30.0%", "1200.50 EUR"],
    ["churned", "gone", "Gone Ltd", "-", "70.0%", "-"],
    ["TO CALL", "ID", "NAME", "MRR", "PLAN", "WHY", "OWNER"],
    ["1", "acme", "Acme", "1936.00 EUR", "Team", "Use fell 69%", "Olga"],
    ["The model changed."],
    [""],
  ]);
});

test("a digest without moves says why", () => {
  const second = (more: Partial<Digest>) => printed({ ...quiet, hasNews: true, ...more }).split("\n")[1];
  expect(second({})).toStartWith("FIGURE");
  expect(second({ hasModel: false, lacksData: true })).toEndWith("there is too little data for a model.");
  expect(second({ hasModel: false })).toEndWith("no model passed the back-test.");
  expect(second({ sinceDay: null })).toBe("There are no earlier scores to compare with.");
  const data = { ...quiet.data, stoppedSince: "2026-11-20" };
  expect(second({ data, hasModel: false })).toBe("Scores wait for data since 2026-11-20.");
  expect(printed({ ...quiet, hasModel: false })).toMatch(/^entered high risk +-$/m);
});
