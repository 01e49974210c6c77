/** deploy/try-cluster.sh with one server of this machine behind a stand-in for Docker: what it sends, kills
 * and compares is real, but for the containers. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programEntry } from "../program.ts";
import { run } from "../server.ts";
import { root } from "../tidy/source-files.ts";
import { freePort } from "./running.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-try-"));
const port = await freePort();
const dataDir = join(folder, "data");
const program = `'${process.execPath}' --no-env-file '${programEntry("main")}'`;

/** Starts the server, runs commands beside it, and kills it: the whole server for PostgreSQL, and the
 * analysis process for the second analysis node. A killed intake node has another beside it. */
const docker = `#!/bin/bash
export DATA_DIR='${dataDir}' PORT=${port} HOST=127.0.0.1
unset DATABASE_URL CLICKHOUSE_URL
start() {
  setsid ${program} serve >>'${folder}/server.log' 2>&1 </dev/null &
  echo $! >'${folder}/pid'
  until curl --silent --fail http://127.0.0.1:${port}/readyz >/dev/null; do sleep 0.2; done
}
pid() { cat '${folder}/pid'; }
echo "$*" >>'${folder}/asked'
while [[ $1 == compose || $1 == --project-name || $1 == -f ]]; do if [[ $1 == compose ]]; then shift; else shift 2; fi; done
case "$1 $*" in
  up\\ *) start ;;
  exec\\ *export*) shift 4; ${program} "$@" | if [[ -f '${folder}/doubles' ]]; then sed p; else cat; fi ;;
  exec\\ *) shift 4; ${program} "$@" ;;
  kill\\ *postgres) kill -9 -- "-$(pid)" ;;
  kill\\ *analysis-2) kill -9 "$(pgrep --parent "$(pid)")" ;;
  start\\ *postgres) start ;;
  down\\ *) kill -9 -- "-$(pid)" ;;
esac
`;
mkdirSync(join(folder, "bin"));
writeFileSync(join(folder, "bin", "docker"), docker, { mode: 0o755 });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function tried(): Promise<{ readonly exitCode: number | null; readonly stdout: string }> {
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir);
  const env = {
    ...process.env,
    PATH: `${join(folder, "bin")}:${process.env.PATH}`,
    LISTEN: `127.0.0.1:${port}`,
    AWAY_SECONDS: "2",
    PATIENCE_SECONDS: "20",
    DEMO_USERS: "20",
  };
  return run([join(root, "deploy", "try-cluster.sh")], { cwd: root, env });
}

const parts = ["analysis-1", "analysis-2", "intake-1", "clickhouse-2", "clickhouse", "keeper", "postgres"];

test("a cluster that keeps everything passes each step, and every part is killed and started", async () => {
  const { exitCode, stdout } = await tried();
  expect(stdout).not.toContain("FAILED");
  for (const part of parts)
    expect(stdout).toMatch(new RegExp(`^\\| ${part} killed for 2 s \\| ok \\| \\d+ \\|$`, "m"));
  const [, count] = /^(\d+) events were acknowledged\.$/m.exec(stdout) ?? [];
  expect(Number(count)).toBeGreaterThan(20);
  const asked = readFileSync(join(folder, "asked"), "utf8");
  for (const part of parts) {
    expect(asked).toContain(`kill --signal SIGKILL ${part}\n`);
    expect(asked).toContain(`start ${part}\n`);
  }
  expect(asked.trimEnd()).toEndWith("down --volumes");
  expect(exitCode).toBe(0);
});

test("events that are stored twice fail it, and the report says so", async () => {
  writeFileSync(join(folder, "doubles"), "");
  const { exitCode, stdout } = await tried();
  expect(stdout).toMatch(/^\| everything is stored, once \| FAILED \|/m);
  expect(stdout).toContain("events are stored twice");
  expect(exitCode).toBe(1);
});
