/** The commands that manage organizations and tokens, with the server running and without one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isOnPostgres } from "../engines.ts";
import { filesWith } from "../erasure/support.ts";
import type { CommandResult } from "../printed-by.ts";
import { rekindle, rekindleHere, Server } from "../server.ts";
import { tablesWith } from "../stored.ts";
import { expectError, expectSuccess, send, user } from "./support.ts";

export const runsOn = { postgres: true };

const isoInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

/** The cells of a printed table: at least two spaces stand between them. */
function rowsOf(table: string): string[][] {
  return table
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(/ {2,}/));
}

function expectFailure({ exitCode, stdout, stderr }: CommandResult, ...texts: readonly string[]): void {
  expect(exitCode).toBe(1);
  expect(stdout).toBe("");
  for (const text of texts) expect(stderr).toContain(text);
  expect(stderr).not.toMatch(/\bat \S+ \(|\.ts:/);
}

/** The commands of one installation, with a server or without. It is made before its tests and removed
 * after. */
function installation(state: string) {
  let server: Server | undefined;
  let dataDir: string;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "rekindle-command-line-"));
    if (state === "running") server = await Server.start({ dataDir });
  });
  afterAll(async () => {
    await server?.kill("SIGTERM");
    rmSync(dataDir, { recursive: true, force: true });
  });

  return {
    dataDir: () => dataDir,
    run: (...parameters: string[]) => rekindleHere(dataDir, ...parameters),
    /** Runs a command that must succeed. Returns its output. */
    async done(...parameters: string[]): Promise<string> {
      const { exitCode, stdout, stderr } = await rekindleHere(dataDir, ...parameters);
      expect([parameters, exitCode, stderr]).toEqual([parameters, 0, stderr]);
      return stdout;
    },
  };
}

type Commands = ReturnType<typeof installation>;

describe.each(["running", "not running"])("with the server %s", (state) => {
  const commands = installation(state);
  organizationTests(commands);
  tokenTests(commands);
  readingTests(commands, state);
});

function organizationTests(commands: Commands): void {
  test("organizations are created, listed and changed", async () => {
    await commands.done("organization", "create", "Acme Ltd", "--timezone", "Europe/Paris");
    const find = async (name: string) =>
      rowsOf(await commands.done("organization", "list")).find((cells) => cells[1] === name);
    const [id, , timezone, rate, created] = (await find("Acme Ltd")) ?? [];
    expect([timezone, rate]).toEqual(["Europe/Paris", "1000"]);
    expect(Number(id)).toBeGreaterThan(0);
    expect(created).toMatch(isoInstant);
    const changes = ["--timezone", "asia/tokyo", "--rate-limit", "50", "--name", "Acme GmbH"];
    await commands.done("organization", "set", "Acme Ltd", ...changes);
    expect((await find("Acme GmbH"))?.slice(0, 4)).toEqual([String(id), "Acme GmbH", "Asia/Tokyo", "50"]);
    expect(await find("Acme Ltd")).toBeUndefined();
  });

  test("an impossible change of an organization is refused in clear words", async () => {
    await commands.done("organization", "create", "Taken");
    expectFailure(await commands.run("organization", "create", "Taken"), "Taken");
    expectFailure(
      await commands.run("organization", "set", "Nobody", "--rate-limit", "5"),
      "Nobody",
      "Taken",
    );
  });
}

function tokenTests(commands: Commands): void {
  test("token create prints the token alone, and only its hash is kept", async () => {
    await commands.done("organization", "create", "Tokens");
    const printed = await commands.done("token", "create", "--organization", "Tokens", "--name", "backend");
    expect(printed).toMatch(/^rk-[A-Za-z0-9]{32}\n$/);
    const token = printed.trim();
    const table = await commands.done("token", "list", "--organization", "Tokens");
    expect(table).not.toContain(token);
    const [header, row] = rowsOf(table);
    expect(header?.[0]).toBe("ID");
    expect(Number(row?.[0])).toBeGreaterThan(0);
    expect(row?.[1]).toBe("backend");
    expect(row?.[2]).toEndWith(token.slice(-4));
    expect(row?.[3]).toMatch(isoInstant);
    expect(row?.slice(4)).toEqual(["-", "-", "server"]);
    const places = isOnPostgres ? tablesWith : filesWith;
    expect(await places(commands.dataDir(), token)).toEqual([]);
    expect((await places(commands.dataDir(), "backend")).length).toBeGreaterThan(0);
  });

  test("token revoke revokes, twice too, and refuses what is no token", async () => {
    await commands.done("organization", "create", "Revoked");
    await commands.done("token", "create", "--organization", "Revoked");
    const list = async () =>
      rowsOf(await commands.done("token", "list", "--organization", "Revoked"))[1] ?? [];
    const id = (await list())[0] ?? "";
    await commands.done("token", "revoke", id);
    const revokedAt = (await list())[5];
    expect(revokedAt).toMatch(isoInstant);
    await commands.done("token", "revoke", id);
    expect((await list())[5]).toBe(revokedAt ?? "");
    expectFailure(await commands.run("token", "revoke", "999999"), "999999");
    expectFailure(await commands.run("token", "create", "--organization", "Nobody"), "Nobody", "Revoked");
  });
}

function readingTests(commands: Commands, state: string): void {
  test("an organization without anything is exported as nothing", async () => {
    await commands.done("organization", "create", "Empty");
    for (const what of ["events", "users", "accounts"]) {
      expect(await commands.done("export", what, "--organization", "Empty", "--format", "jsonl")).toBe("");
    }
    expectFailure(await commands.run("export", "events", "--organization", "Nobody"), "Nobody");
    expectFailure(
      await commands.run("export", "events", "--organization", "Empty", "--format", "xml"),
      "xml",
      "jsonl",
    );
  });

  test("doctor finds all well", async () => {
    expect(await commands.done("doctor")).toContain(`server           ${state}`);
  });
}

test("a token that is made and revoked while no server runs is taken and refused by the next one", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "rekindle-command-line-"));
  const run = async (...parameters: string[]) => (await rekindleHere(dataDir, ...parameters)).stdout.trim();
  await run("organization", "create", "Early");
  const kept = await run("token", "create", "--organization", "Early");
  const revoked = await run("token", "create", "--organization", "Early");
  await run("token", "revoke", "2");
  const server = await Server.start({ dataDir });
  try {
    await expectSuccess(await server.post("/identify", kept, user("u")));
    await expectError(await server.post("/identify", revoked, user("u")), "invalid_write_key");
  } finally {
    await server.kill("SIGTERM");
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test("token list shows at once when a token was last used, whatever else was changed in between", async () => {
  const server = await Server.start();
  try {
    const token = await server.organization("Used");
    const beforeMs = Date.now();
    await send(server, "/identify", token, user("u"));
    const afterMs = Date.now();
    await server.command("organization", "create", "Another");
    const [, row] = rowsOf(await server.command("token", "list", "--organization", "Used"));
    expect(Date.parse(row?.[4] ?? "")).toBeWithin(beforeMs, afterMs + 1);
  } finally {
    await server.stop();
  }
});

describe("a command that cannot be read is refused with what to give:", () => {
  const wrong: readonly (readonly [string, readonly string[]])[] = [
    ["organization create X --timezone Mars/Base", ["Europe/Paris"]],
    ["organization create", ["name"]],
    ["token revoke first", ["token list"]],
    ["export secrets --organization X", ["secrets", "events", "users", "accounts"]],
    ["export events --organization X --format xml", ["xml", "jsonl", "csv", "parquet"]],
    ["demo --users 5", ["whole number from 10"]],
    ["demo --url localhost", ["http://127.0.0.1:8080"]],
    ["recover", ["recover", "--help"]],
  ];

  test.each(wrong)("rekindle %s", async (line, texts) => {
    const dataDir = mkdtempSync(join(tmpdir(), "rekindle-command-line-"));
    expectFailure(await rekindleHere(dataDir, ...line.split(" ")), ...texts);
    rmSync(dataDir, { recursive: true });
  });
});

describe("every command has help:", () => {
  const commands = [
    "serve",
    "organization",
    "token",
    "key",
    "import",
    "demo",
    "export",
    "revenue",
    "erasure",
    "rebuild",
    "backup",
    "restore",
    "doctor",
  ];
  const below = ["organization create", "organization list", "token create", "token list", "token revoke"];
  const others = [
    "key create",
    "erasure list",
    "member invite",
    "outage create",
    "outage delete",
    "segment export",
  ];

  test.each([...commands, ...below, ...others])("%s", async (command) => {
    const { exitCode, stdout } = await rekindleHere(tmpdir(), ...command.split(" "), "--help");
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`Usage: rekindle ${command}`);
  });

  test("and rekindle itself lists them", async () => {
    const { stdout } = await rekindle(tmpdir(), "--help");
    for (const command of commands) expect(stdout).toContain(`\n  ${command}`);
  });
});
