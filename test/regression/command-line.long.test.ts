/** Faults that a user who knew only the README met on the command line. No server runs here. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import { ledgerFile } from "../../server/ledger/sqlite/ledger-file.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { createProjectToken, createReadKey } from "../../server/ledger/stores/credentials.ts";
import type { CommandResult } from "../printed-by.ts";
import { rekindle, run } from "../server.ts";

const entry = join(import.meta.dir, "..", "..", "cli", "main.ts");
let folder: string;
let dataDir: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rekindle-regression-"));
  dataDir = join(folder, "data");
  await rekindle(dataDir, "organization", "create", "acme");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Runs `rekindle …` with its standard output as the shell's text says, `> /dev/full` say. */
function shell(redirection: string, ...parameters: string[]): Promise<CommandResult> {
  const command = ["sh", "-c", `"$0" "$@" ${redirection}`, process.execPath, entry, ...parameters];
  return run(command, { env: { ...process.env, DATA_DIR: dataDir } });
}

function expectRefusal({ exitCode, stderr }: CommandResult, ...texts: readonly string[]): void {
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^rekindle: [^\n]+\n$/);
  for (const text of texts) expect(stderr).toContain(text);
}

test("a slow reader of a pipe gets all of the output", async () => {
  const rows = Array.from({ length: 5 }, (_, index) => {
    return `{"userId":"u${index}","email":"a@example.com","properties":{"note":"${"x".repeat(100_000)}"}}\n`;
  });
  const path = file("large.jsonl", rows.join(""));
  const output = join(folder, "slow.txt");
  await shell(`| (sleep 1; cat) > ${output}`, "import", path, "--organization", "acme", "--preview");
  const whole = await rekindle(dataDir, "import", path, "--organization", "acme", "--preview");
  expect(whole.stdout.length).toBeGreaterThan(500_000);
  expect(readFileSync(output, "utf8")).toBe(whole.stdout);
});

test("output that cannot be written is a failure that says so", async () => {
  expectRefusal(
    await shell("> /dev/full", "organization", "list"),
    "the output could not be written: ENOSPC",
  );
  expectRefusal(await shell("> /dev/full", "token", "create", "--organization", "acme"), "ENOSPC");
});

test("a reader that has seen enough is no error to speak of", async () => {
  const { stdout, stderr } = await shell("| true", "organization", "list");
  expect([stdout, stderr]).toEqual(["", ""]);
});

test.each([[["organization", "list"]], [["serve"]], [["doctor"]]])(
  "%p says that DATA_DIR is no folder",
  async (parameters) => {
    const noFolder = file("no-folder", "");
    expectRefusal(await rekindle(noFolder, ...parameters), `DATA_DIR is "${noFolder}"`);
    expectRefusal(await rekindle(join(noFolder, "below"), ...parameters), "DATA_DIR is", "ENOTDIR");
  },
);

test("a ledger that is no database is named, and what to do", async () => {
  const damaged = join(folder, "damaged");
  await rekindle(damaged, "organization", "create", "acme");
  writeFileSync(join(damaged, "ledger.sqlite"), "no database".repeat(1_000));
  expectRefusal(
    await rekindle(damaged, "organization", "list"),
    "ledger.sqlite is no ledger",
    "restore a backup",
  );
});

test("a report that cannot be written is refused before a row is stored", async () => {
  const path = file("report.csv", "userId,email\nreported,a@example.com\n");
  const report = join(folder, "nowhere", "report.jsonl");
  const refused = await rekindle(dataDir, "import", path, "--organization", "acme", "--report", report);
  expectRefusal(refused, `the report ${report} cannot be written`);
  const { stdout } = await rekindle(dataDir, "import", path, "--organization", "acme");
  expect(stdout).toMatch(/^new +1$/m);
});

test("a file that was imported says what to do about the rows that were rejected then", async () => {
  const path = file("rejected.csv", "userId,email\ngood,a@example.com\nbad,none\n");
  await rekindle(dataDir, "import", path, "--organization", "acme");
  const { stdout } = await rekindle(dataDir, "import", path, "--organization", "acme");
  expect(stdout).toContain(
    "rows that were rejected are not tried again: import them from a file of their own",
  );
});

test.each([
  [";", "semicolon"],
  ["\t", "tab"],
  ["|", "pipe"],
])("columns between %p are found without an option", async (character, name) => {
  const rows = file(`${name}.csv`, `userId${character}email\n${name}${character}a@example.com\n`);
  const { stdout } = await rekindle(dataDir, "import", rows, "--organization", "acme");
  expect(stdout).toMatch(/^new +1$/m);
});

test("a file that is no Parquet is refused with the engine's reason", async () => {
  const path = file("no.parquet", "userId,email\n".repeat(100));
  const refused = await rekindle(dataDir, "import", path, "--organization", "acme");
  expectRefusal(refused, "cannot be read", "Not a Parquet file");
});

test("help shows defaults as people write them, and --version the version", async () => {
  const { stdout } = await rekindle(dataDir, "backtest", "--help");
  expect(stdout).toContain("(default: UTC)");
  expect(stdout).not.toContain("{");
  expect((await rekindle(dataDir, "--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("organization change says what the organization is now", async () => {
  const change = ["organization", "change", "--organization", "acme", "--requests-per-second", "5"];
  const { exitCode, stdout, stderr } = await rekindle(dataDir, ...change);
  expect([exitCode, stdout, stderr]).toEqual([0, expect.stringMatching(/^requestsPerSecond +5$/m), ""]);
});

test.each([
  "doctor",
  "backup copy-of-nothing",
  "export events --organization acme",
  "score",
  "organization list",
  "warnings --organization acme",
  "token create --organization acme",
])("%s of a folder without an installation is refused, and makes none there", async (command) => {
  const nowhere = join(folder, "nowhere");
  expectRefusal(
    await rekindle(nowhere, ...command.split(" ")),
    `there is no installation in ${nowhere}: set DATA_DIR`,
  );
  expect(existsSync(nowhere)).toBe(false);
});

/** Title of the window, colour, a C1 sequence, a line and a turn of direction. */
const hostile = "evil\u001b]0;owned\u0007\u001b[31m\u009b2J\r\nFORGED\t\u202etxt";

test("names with control characters are printed escaped, wherever they are printed", async () => {
  // Names of earlier versions may hold them: no command makes one now.
  const ledger = await openSqliteLedger({ features, file: ledgerFile(dataDir) });
  const made = { name: hostile, timezone: "UTC", nowMs: 0 };
  const { id: organization } = await ledger.organizations.create(made, settingUp);
  await createProjectToken(ledger.tokens, { organization, name: hostile, nowMs: 0 }, settingUp);
  await createReadKey(ledger.readKeys, { organization, name: hostile, nowMs: 0, more: [] }, settingUp);
  await ledger.close();
  const printed: CommandResult[] = [];
  for (const parameters of [
    ["organization", "list"],
    ["token", "list", "--organization", hostile],
    ["key", "list", "--organization", hostile],
    ["settings", "show", "--organization", hostile],
    ["token", "revoke", "1"],
    ["doctor"],
    ["rebuild", "--organization", hostile],
    ["score", "--organization", hostile],
    ["token", "list", "--organization", "absent"],
    ["token", "list", `--\u001b[31m`],
    ["organization", "set", hostile, "--rate-limit", "7"],
  ]) {
    printed.push(await rekindle(dataDir, ...parameters));
  }
  for (const { stdout, stderr } of printed) {
    const lines = (stdout + stderr).replaceAll("\n", "");
    expect(lines).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(/^FORGED/m.test(stdout + stderr)).toBe(false);
  }
  const [organizations, tokens, keys] = printed;
  const escaped = JSON.stringify(hostile).slice(1, -1).replaceAll("\\r\\n", "\\u000d\\u000a");
  const shown = escaped.replaceAll("\\t", "\\u0009").replaceAll("\u009b", "\\u009b");
  for (const list of [organizations, tokens, keys]) {
    expect(list?.stdout).toContain(shown.replaceAll("\u202e", "\\u202e"));
  }
});

test("no command gives a name that holds control characters", async () => {
  for (const parameters of [
    ["organization", "create", hostile],
    ["organization", "set", "acme", "--name", "two\nlines"],
    ["token", "create", "--organization", "acme", "--name", hostile],
    ["key", "create", "--organization", "acme", "--name", "x\u009b"],
  ]) {
    const { exitCode, stderr } = await rekindle(dataDir, ...parameters);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("and no control character.")]);
  }
});
