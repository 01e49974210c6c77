/** The exit codes of commands that did only a part of their work, for schedules. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rekindle, Server } from "../server.ts";

let server: Server;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rekindle-exit-"));
  server = await Server.start();
  await server.ready();
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("an organization that cannot be scored keeps none of the others from it, and the exit code is 1", async () => {
  // At any moment it is a later day in the east than in the west: 26 hours lie between these zones.
  await server.organization("West", "--timezone", "Etc/GMT+12");
  const token = await server.organization("East", "--timezone", "Pacific/Kiritimati");
  await server.post("/identify", token, { userId: "u1", email: "u1@example.com" });
  await server.post("/track", token, { userId: "u1", event: "opened", timestamp: "2026-01-05T10:00:00Z" });
  const today = new Intl.DateTimeFormat("en-CA", { timeZone: "Pacific/Kiritimati" }).format(new Date());
  const { exitCode, stderr } = await rekindle(server.dataDir, "score", "--as-of", today, "--even-if-stopped");
  expect(stderr).toContain("rekindle: West: ");
  expect(stderr).toContain("has not come yet in Etc/GMT+12");
  expect(stderr).toContain(`scored East as of ${today}`);
  expect(exitCode).toBe(1);
  const rebuilt = await rekindle(server.dataDir, "rebuild");
  expect([rebuilt.exitCode, rebuilt.stderr]).toEqual([0, expect.stringContaining("rebuilt East in ")]);
  const unknown = await rekindle(server.dataDir, "rebuild", "--organization", "North");
  expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining("no organization")]);
});

const rows = 100;
const rejected = 10;

test.each([
  [[], 0],
  [["--max-rejected", "10"], 0],
  [["--max-rejected", "10%"], 0],
  [["--max-rejected", "9"], 1],
  [["--max-rejected", "9.5%"], 1],
  [["--max-rejected", "0"], 1],
] as const)("an import of which a tenth is rejected, with %j, exits with %i", async (options, wanted) => {
  const name = ["Import", ...options].join(" ");
  await server.organization(name);
  const path = join(folder, `${options.join("")}.csv`);
  const lines = Array.from({ length: rows }, (_, index) =>
    index < rejected ? `,none-${index}@example.com` : `u${index},u${index}@example.com`,
  );
  writeFileSync(path, `userId,email\n${lines.join("\n")}\n`);
  const run = () => rekindle(server.dataDir, "import", path, "--organization", name, ...options);
  const first = await run();
  expect([first.exitCode, first.stdout]).toEqual([wanted, expect.stringContaining(`rejected   ${rejected}`)]);
  expect(first.stdout).toContain(`new        ${rows - rejected}`);
  if (wanted === 1) expect(first.stderr).toContain(`10 of 100 rows were rejected, more than --max-rejected`);
  // The same again is known already, and is no better.
  expect((await run()).exitCode).toBe(wanted);
});

test.each(["-1", "5.5", "101%", "many", ""])("--max-rejected %s is refused", async (text) => {
  const result = await rekindle(
    server.dataDir,
    "import",
    "x.csv",
    "--organization",
    "West",
    `--max-rejected=${text}`,
  );
  expect(result.exitCode).toBe(1);
  expect(result.stderr).toContain("Give a whole number of rows, or a share from 0% to 100%.");
});
