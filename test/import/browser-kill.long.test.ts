/** Imports in the browser go on after the service was killed, store nothing twice, and leave no file. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser, company, password } from "../people/support.ts";
import { rekindleHere, Server } from "../server.ts";
import { until } from "../until.ts";
import { BrowserImports, guessed } from "./browser-support.ts";

/** The session of a browser, at a server that was started again. */
function onServer({ cookie }: Browser, server: Server): Browser {
  return Object.assign(new Browser(server), { cookie });
}

test("a run that was killed goes on by itself, with all rows once and all rejected rows", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-browser-"));
  const dataDir = join(folder, "data");
  mkdirSync(dataDir);
  let server = await Server.start({ dataDir });
  try {
    const people = await company(server, "Killed");
    let imports = new BrowserImports(server, people.owner, people.organization);
    await imports.imported("users.csv", "user_id,email\nu1,u1@example.com\n");
    const rows = 150_000;
    const line = (row: number) => (row % 1_000 === 7 ? "u1,seen,never" : `u1,seen,2026-05-01T10:00:00Z`);
    const content = `user_id,event,at\n${Array.from({ length: rows }, (_, row) => line(row)).join("\n")}\n`;
    const file = await imports.uploaded("events.csv", content);
    const checked = await imports.checked(file.id, guessed(file));
    expect(checked.check).toMatchObject({ rows, stored: rows - 150, rejected: 150 });
    await imports.start(file.id);
    let kills = 0;
    for (const share of [0.1, 0.5]) {
      const at = await until(
        `${share} of the rows are stored`,
        () => imports.one(file.id),
        ({ progress }) => (progress?.rows ?? 0) > rows * share,
        { everyMs: 50 },
      );
      if (at.state === "running") kills += 1;
      await server.crash();
      // What a kill during an upload leaves.
      mkdirSync(join(dataDir, "imports", "cut-off"));
      writeFileSync(join(dataDir, "imports", "cut-off", "sent"), "half");
      server = await Server.start({ dataDir });
      const browser = onServer(people.owner, server);
      imports = new BrowserImports(server, browser, people.organization);
    }
    expect(kills).toBeGreaterThan(0);
    const done = await imports.settled(file.id);
    expect(done).toMatchObject({
      state: "done",
      progress: { rows, stored: rows - 150, duplicates: 0, rejected: 150 },
    });
    const browser = onServer(people.owner, server);
    const rejected = await (await browser.ask("GET", imports.at(`/${file.id}/rejected`))).text();
    const lines = rejected.trimEnd().split("\r\n").slice(1);
    expect(lines.map((one) => Number(one.split(",")[0]))).toEqual(
      Array.from({ length: 150 }, (_, index) => index * 1_000 + 9),
    );
    const events = await server.exported("events", "Killed");
    expect(events.length).toBe(rows - 150);

    const backup = join(folder, "backup");
    expect((await rekindleHere(dataDir, "backup", backup)).exitCode).toBe(0);
    const names = readdirSync(backup, { recursive: true }).map(String);
    expect(names.filter((name) => /imports|content\.csv|prepared/.test(name))).toEqual([]);
    await imports.delete(file.id);
    await until("the folders are gone", () => readdirSync(join(dataDir, "imports")).length === 1);
    expect(existsSync(join(dataDir, "imports", "cut-off"))).toBe(false);
  } finally {
    await server.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a file is deleted after 7 days, and its import is listed on", async () => {
  const server = await Server.start({ time: {} });
  try {
    const people = await company(server, "Old files");
    const imports = new BrowserImports(server, people.owner, people.organization);
    const done = await imports.imported("users.csv", "user_id,email\nu1,u1@example.com\n");
    const waiting = await imports.uploaded("more.csv", "user_id,email\nu1,u1@example.com\n");
    const folder = join(server.dataDir, "imports");
    expect(readdirSync(folder)).toHaveLength(2);
    server.putClockAhead(7 * 86_400_000 + 1_000);
    await until("the files are deleted", () => readdirSync(folder).length === 0);
    // The session has ended, too.
    const owner = new Browser(server);
    await owner.json("POST", "/api/session", { email: people.owner.email, password }, 201);
    const later = new BrowserImports(server, owner, people.organization);
    expect(await later.one(done.id)).toMatchObject({
      state: "done",
      fileUntil: null,
      progress: { stored: 1 },
    });
    expect(await later.one(waiting.id)).toMatchObject({ state: "deleted", fileUntil: null });
  } finally {
    await server.stop();
  }
});
