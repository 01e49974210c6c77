/** `rekindle settings`, with the server running and without one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rekindleHere, Server } from "../server.ts";

/** The rows of a printed table without its header, as cells. */
function rowsOf(table: string): string[][] {
  const lines = table.split("\n").filter((line) => line !== "");
  return lines.slice(1).map((line) => line.split(/ {2,}/));
}

/** The commands of one installation, with a server or without. It is made before its tests and removed
 * after. */
function installation(state: string) {
  let server: Server | undefined;
  let dataDir: string;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "rekindle-settings-"));
    if (state === "running") server = await Server.start({ dataDir });
  }, 180_000);
  afterAll(async () => {
    await server?.kill("SIGTERM");
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function done(...parameters: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await rekindleHere(dataDir, ...parameters);
    expect([parameters, exitCode, stderr]).toEqual([parameters, 0, stderr]);
    return stdout;
  }

  return {
    dataDir: () => dataDir,
    create: (organization: string) => done("organization", "create", organization),
    /** The output of `rekindle settings …` about an organization, as cells. */
    settings: async (action: string, organization: string, ...options: string[]) =>
      rowsOf(await done("settings", action, "--organization", organization, ...options)),
  };
}

type Installation = ReturnType<typeof installation>;

describe.each(["running", "not running"])("with the server %s", (state) => {
  const commands = installation(state);
  settingTests(commands);
  versionTests(commands);
  refusalTests(commands);
});

/** The settings of a new organization, as they are shown. */
const unset = [
  ["churn-horizon", "28"],
  ["health-weights", "engagement=35,outlook=35,momentum=20,adoption=10"],
  ["health-trait", "none"],
  ["user-risk-bands", "default"],
  ["account-risk-bands", "default"],
  ["event-weight", "none"],
  ["passive-event", "none"],
  ["key-event", "none"],
  ["user-churn", "silence"],
  ["account-churn", "silence"],
  ["ordinary-event", "none"],
  ["reporting-currency", "default"],
  ["currency-rate", "none"],
  ["week-start", "monday"],
];

function settingTests({ create, settings }: Installation): void {
  const set = (organization: string, ...options: string[]) => settings("set", organization, ...options);

  test("settings are set, shown by the names of their options, and listed in the history", async () => {
    await create("Ada");
    await create("Bob");
    const initially = await settings("show", "Ada");
    expect(initially).toEqual(unset);
    await set(
      "Ada",
      "--churn-horizon",
      "14",
      "--week-start",
      "sunday",
      "--user-risk-bands",
      ".1,.3",
      "--user-churn",
      "event gone",
    );
    await set("Ada", "--ordinary-event", "order_cancelled", "--account-churn", "trait a b = c , d");
    await set("Ada", "--event-weight", "a=b=3", "c=.5", "--event-weight", "__proto__=2", "--key-event", "k");
    await set(
      "Ada",
      "--health-trait",
      "nps = 2=-5..10.5:9",
      "--event-weight",
      "c=default",
      "--health-weights",
      "outlook=36,adoption=0",
    );
    await set("Ada", "--passive-event", "mail_sent", "mail_opened\u001b[2J", "--no-key-events");
    expect(await settings("show", "Ada")).toEqual([
      ["churn-horizon", "14"],
      ["health-weights", "engagement=35,outlook=36,momentum=20,adoption=0"],
      ["health-trait", "nps = 2=-5..10.5:9"],
      ["user-risk-bands", "0.1,0.3"],
      ["account-risk-bands", "default"],
      ["event-weight", "__proto__=2"],
      ["event-weight", "a=b=3"],
      ["passive-event", "mail_opened [2J"],
      ["passive-event", "mail_sent"],
      ["key-event", "none"],
      ["user-churn", "event gone"],
      ["account-churn", "trait a b = c, d"],
      ["ordinary-event", "order_cancelled"],
      ["reporting-currency", "default"],
      ["currency-rate", "none"],
      ["week-start", "sunday"],
    ]);
    const told = (await settings("history", "Ada")).map(([version, , by, what]) => [version, by, what]);
    expect(told.slice(0, 4)).toEqual([
      ["5", "command line", 'passiveEvents: [] → ["mail_opened\\u001b[2J","mail_sent"]'],
      ["5", "command line", 'keyEvents: ["k"] → []'],
      ["4", "command line", "healthWeights.outlook: 35 → 36"],
      ["4", "command line", "healthWeights.adoption: 10 → 0"],
    ]);
    expect(new Set(told.map(([version]) => version))).toEqual(new Set(["5", "4", "3", "2", "1"]));
    expect(await settings("history", "Ada", "--limit", "1")).toHaveLength(2);
    expect(await settings("show", "Bob")).toEqual(initially);
    expect(await settings("history", "Bob")).toEqual([]);
  });
}

function versionTests({ dataDir, create, settings }: Installation): void {
  const set = (organization: string, ...options: string[]) => settings("set", organization, ...options);

  test("an older version is restored, and an unknown one is refused", async () => {
    await create("Fay");
    await set("Fay", "--churn-horizon", "14", "--health-weights", "outlook=45,adoption=0");
    await set("Fay", "--churn-horizon", "7", "--health-weights", "outlook=35,adoption=10");
    await settings("restore", "Fay", "--to", "1", "--if-version", "2");
    expect((await settings("show", "Fay")).slice(0, 2)).toEqual([
      ["churn-horizon", "14"],
      ["health-weights", "engagement=35,outlook=45,momentum=20,adoption=0"],
    ]);
    const named = ["settings", "restore", "--organization", "Fay", "--to"];
    const unknown = await rekindleHere(dataDir(), ...named, "9");
    expect([unknown.exitCode, unknown.stderr]).toEqual([1, "error: there is no version 9 of the settings\n"]);
    await settings("restore", "Fay", "--to", "0");
    expect(await settings("show", "Fay")).toEqual(unset);
  });

  test("unchanged settings make no version, and resetting does", async () => {
    await create("Cleo");
    await set("Cleo", "--event-weight", "a=2", "--passive-event", "p");
    const again = await rekindleHere(
      dataDir(),
      "settings",
      "set",
      "--organization",
      "Cleo",
      "--event-weight",
      "a=2",
    );
    expect([again.exitCode, again.stderr]).toEqual([0, "the settings are unchanged\n"]);
    await set("Cleo", "--no-event-weights", "--no-passive-events", "--user-churn", "silence");
    expect((await settings("history", "Cleo")).map(([version]) => version)).toEqual(["2", "2", "1", "1"]);
    expect((await settings("show", "Cleo")).filter(([, value]) => value === "none")).toHaveLength(6);
  });
}

function refusalTests({ dataDir, create, settings }: Installation): void {
  test("settings that the ledger refuses change nothing, and the message is clear", async () => {
    await create("Dan");
    await expectRefused(
      dataDir(),
      ["Dan", "--churn-horizon", "9"],
      "churnHorizonDays is not valid: send 7, 14, 28,",
    );
    await expectRefused(
      dataDir(),
      ["Dan", "--passive-event", "a", "--key-event", "a"],
      "keyEvents has a, which is",
    );
    await expectRefused(dataDir(), ["Nobody", "--churn-horizon", "7"], 'no organization "Nobody"');
    expect(await settings("history", "Dan")).toEqual([]);
  });
}

/** Runs `settings set` with an organization and options that must be refused. */
async function expectRefused(dataDir: string, [organization = "", ...options]: string[], text: string) {
  const { exitCode, stdout, stderr } = await rekindleHere(
    dataDir,
    "settings",
    "set",
    "--organization",
    organization,
    ...options,
  );
  expect([exitCode, stdout, stderr]).toEqual([1, "", expect.stringContaining(text)]);
  expect(stderr).not.toMatch(/\bat \S+ \(|\.ts:/);
}

describe("settings set is refused, with what to give, for", () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "rekindle-settings-"));
    await rekindleHere(dataDir, "organization", "create", "Eve");
  });
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  test.each([
    ["", "nothing to change"],
    ["--churn-horizon soon", "Give 7, 14, 28, 56 or 84."],
    ["--health-weights risk=1", "healthWeights.risk is not known"],
    ["--health-weights outlook=200", "healthWeights.outlook is not valid: send a percentage from 0 to 100."],
    ["--health-weights outlook=36", "healthWeights add up to 101: send percentages that add up to 100."],
    ["--health-weights outlook=", '"" is no number'],
    ["--health-weights outlook=1,outlook=0", "Give each part once."],
    ["--health-trait nps=0..10", "Give TRAIT=ZERO..HUNDRED:WEIGHT"],
    ["--health-trait nps=0..10:5", "healthWeights and healthTraits add up to 105"],
    ["--user-risk-bands .1", "Give MEDIUM,HIGH, such as .1,.3, or default."],
    ["--account-risk-bands .3,.1", "riskBands.account.high is not above medium"],
    ["--event-weight a", "Give NAME=WEIGHT."],
    ["--event-weight a=-1", '"-1" is no number'],
    ["--event-weight a=1001", "eventWeights.a is not valid: send a number from 0 to 1000."],
    ["--event-weight a=2 --no-event-weights", "cannot be used with"],
    ["--key-event a --no-key-events", "cannot be used with"],
    ["--key-event a a", "keyEvents has an item twice"],
    ["--week-start friday", "monday, sunday"],
    ["--week-start sunday --if-version 3", "The settings changed after you read them."],
    ["--week-start sunday --if-version last", "Give a version that settings show printed."],
  ])("%s", async (options, text) => {
    const words = options.split(" ").filter((word) => word !== "");
    await expectRefused(dataDir, ["Eve", ...words], text);
  });
});
