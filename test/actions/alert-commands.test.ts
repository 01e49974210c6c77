/** Alert rules and alerts on the command line: from the command to what is stored. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { remoteLedger } from "../../server/between/remote/shared-ledger.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { decision } from "../ledger/alert-decision.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";

let server: Server;
let ours: Awaited<ReturnType<typeof company>>;
const organization = "Ruling";
const of = ["--organization", organization];
const today = todayIn(quietZone);

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  ours = await company(server, organization, "--timezone", quietZone);
  // Ten accounts pay 10 to 100: one of them, the highest tenth, more than 90.
  const subscriptions = Array.from({ length: 10 }, (_, index) => [
    {
      type: "identify",
      userId: `u${index}`,
      email: `u${index}@example.com`,
      account: { id: `a${index}`, name: `Account ${index}` },
    },
    {
      type: "track",
      userId: `u${index}`,
      event: "subscription_started",
      timestamp: new Date(Date.now() - 3 * 86_400_000).toISOString(),
      properties: {
        subscriptionId: `s${index}`,
        plan: "Team",
        currency: "USD",
        interval: "month",
        amount: 1_000 * (index + 1),
      },
    },
  ]).flat();
  const response = await server.post("/batch", ours.token, { batch: subscriptions });
  expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  expect(await server.exported("subscriptions", organization)).toHaveLength(10);
});
afterAll(() => server.stop());

const rekindle = (...words: string[]) => server.command(...words, ...of);

/** The standard error of a command that has to fail. */
async function failed(...words: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await server.run({}, ...words, ...of);
  expect([exitCode, stdout]).toEqual([1, ""]);
  return stderr;
}

interface Rule {
  readonly id: number;
  readonly name: string;
  readonly version: number;
  readonly isPaused: boolean;
  readonly exemptions: { readonly mrrAbove?: number };
}

/** The rules as the API has them. */
const rules = async () =>
  (await ours.owner.json<{ rules: readonly Rule[] }>("GET", ours.at("/api/alert-rules"))).rules;

const created = async (...words: string[]) =>
  JSON.parse(await rekindle("alert-rule", "create", "--json", ...words)) as Rule;

describe("a rule", () => {
  test("of a segment has members of it, and no other kind", async () => {
    await rekindle("segment", "create", "Rare", "--filter", '{"riskBand": "high"}');
    const words = ["--template", "payment-failed", "--segment", "Rare"];
    expect(await failed("alert-rule", "create", ...words)).toContain("Rare is a segment of users");
    const { id } = await created(...words, "--scope", "users");
    expect(await rules()).toMatchObject([{ scope: { kind: "users", segment: expect.any(Number) } }]);
    await rekindle("alert-rule", "change", String(id), "--segment", "all");
    expect((await rules())[0]).toHaveProperty("scope", { kind: "users" });
    await rekindle("alert-rule", "delete", String(id));
  });

  test("with a hold-out exempts the top 10 % of payers, unless it names an MRR", async () => {
    const share = ["--template", "high-risk", "--hold-out", "0.2"];
    expect(await created("--name", "usual", ...share)).toMatchObject({ exemptions: { mrrAbove: 9_000 } });
    expect((await created("--name", "none", ...share, "--exempt-mrr", "none")).exemptions).toEqual({});
    const given = await created("--name", "given", ...share, "--exempt-mrr", "500");
    expect(given.exemptions).toEqual({ mrrAbove: 500 });
    const later = String((await created("--name", "later", "--template", "high-risk")).id);
    await rekindle("alert-rule", "change", later, "--hold-out", "0.5");
    await rekindle("alert-rule", "change", String(given.id), "--hold-out", "0.4");
    expect((await rules()).map(({ name, exemptions }) => [name, exemptions.mrrAbove])).toEqual([
      ["given", 500],
      ["later", 9_000],
      ["none", undefined],
      ["usual", 9_000],
    ]);
    for (const { id } of await rules()) await rekindle("alert-rule", "delete", String(id));
  });

  test("of the API exempts the top 10 % of payers when its hold-out begins, unless it says otherwise", async () => {
    const { owner, at } = ours;
    const top = await owner.json("GET", at("/api/alert-rules/default-exemption"));
    expect(top).toEqual({ mrrAbove: 9_000 });
    const rule = { name: "drawn", scope: { kind: "accounts" }, condition: { kind: "paymentFailed" } };
    const added = await owner.json<Rule>("POST", at("/api/alert-rules"), rule, 201);
    const changed = async (fields: object) =>
      (await owner.json<Rule>("PUT", at(`/api/alert-rules/${added.id}`), { ...rule, ...fields })).exemptions;
    expect(added.exemptions).toEqual({});
    expect(await changed({ holdOutShare: 0.2 })).toEqual({ mrrAbove: 9_000 });
    expect(await changed({ holdOutShare: 0.2, exemptions: { mrrAbove: 70 } })).toEqual({ mrrAbove: 70 });
    expect(await changed({ holdOutShare: 0.4, exemptions: {} })).toEqual({ mrrAbove: 70 });
    expect(await changed({ holdOutShare: 0.4, exemptions: { mrrAbove: null } })).toEqual({});
    // A hold-out that goes on without an exemption gets none.
    expect(await changed({ holdOutShare: 0.5 })).toEqual({});
    expect(await changed({})).toEqual({});
    const silent = { scope: { kind: "accounts" }, condition: { kind: "sourceSilent" }, holdOutShare: 0.5 };
    expect(await changed(silent)).toEqual({});
    expect(await changed({ holdOutShare: 0.5 })).toEqual({ mrrAbove: 9_000 });
    await rekindle("alert-rule", "delete", String(added.id));
  });

  test("has a preview, and moments of no past are refused", async () => {
    const words = ["alert-rule", "preview", "--template"];
    const preview = JSON.parse(await rekindle(...words, "high-risk", "--json"));
    expect(preview).toMatchObject({ fired: 0, horizonDays: 28, precision: { mature: 0 } });
    expect(await failed(...words, "last-owner")).toContain("lastOwnerRemoved");
  });
});

describe("an alert", () => {
  let id = "";
  const alerts = async (...words: string[]) =>
    JSON.parse(await rekindle("alert", "list", "--json", ...words)) as { total: number; alerts: object[] };

  beforeAll(async () => {
    const absent = () => Promise.reject(new Error("is not asked for here"));
    const ledger = remoteLedger(join(server.dataDir, "control.sock"), { read: absent, snapshot: absent });
    const { id: rule } = await created("--template", "high-risk", "--scope", "users");
    const entity = {
      kind: "user",
      number: (await ledger.findUser(ours.organization, "u3"))?.user.number ?? 0,
    };
    const chunk = decision({ organization: ours.organization, rule, entity: entity as never, day: today });
    await ledger.ruleDecisions.commitDecision(chunk, Date.now());
    id = /\n(\d+) /.exec(await rekindle("alert", "list"))?.[1] ?? "";
  });

  test("is assigned, snoozed, judged, opened again and gets a note", async () => {
    expect(await rekindle("alert", "list")).toMatch(
      /^ID +RULE .*\n\d+ +Account enters high risk +1 +user +u3 +u3@example.com +.* 0.6 +120.01 +true\n/,
    );
    const { email } = ours.member;
    await rekindle("alert", "assign", id, email);
    expect(await alerts("--assignee", email, "--user", "u3")).toMatchObject({ total: 1 });
    const until = formatDay(today + 5);
    await rekindle("alert", "snooze", id, until);
    expect(await alerts()).toMatchObject({ total: 0 });
    expect(await alerts("--state", "snoozed")).toMatchObject({ total: 1 });
    await rekindle("alert", "note", id, "called twice");
    await rekindle("alert", "not-useful", id);
    await rekindle("alert", "handled", id);
    const path = ours.at("/api/alerts").replace("?", "?state=handled&");
    expect(await ours.owner.json("GET", path)).toMatchObject({
      alerts: [
        {
          verdict: "handled",
          verdictBy: null,
          note: "called twice",
          snoozedUntil: until,
          assignee: { id: ours.member.id },
        },
      ],
    });
    await rekindle("alert", "reopen", id);
    await rekindle("alert", "assign", id, "nobody");
    await rekindle("alert", "note", id, "");
    expect((await alerts("--assignee", "nobody")).alerts).toMatchObject([
      { verdict: null, snoozedUntil: null, assignee: null, note: null },
    ]);
  });

  test("is in an export as JSON lines and CSV", async () => {
    const line = JSON.parse(await rekindle("export", "alerts"));
    expect(line).toMatchObject({
      id: Number(id),
      userId: "u3",
      accountId: null,
      source: null,
      rule: "Account enters high risk",
      firedDay: formatDay(today),
      before: 0.2,
      after: 0.6,
      reasons: "Silent \\0 for 9 days",
      risk: 0.6,
      isSent: true,
      verdict: null,
    });
    const csv = await rekindle("export", "alerts", "--format", "csv");
    // Amounts of a CSV stand beside their currency.
    const columns = Object.keys(line).join(",").replace("expectedLoss", "currency,expectedLoss");
    expect(csv.split("\r\n")[0]).toBe(columns);
    expect(csv.split("\r\n")[1]).toStartWith(`${id},u3,,,`);
    expect(await failed("export", "alerts", "--format", "parquet")).toContain("jsonl or csv");
  });

  test("is refused with the reason", async () => {
    expect(await failed("alert", "assign", id, "x@example.com")).toContain('no member "x@example.com"');
    expect(await failed("alert", "snooze", id, "soon")).toContain("snoozedUntil is not valid");
    expect(await failed("alert", "handled", "999999")).toContain("There is no such alert");
  });
});
