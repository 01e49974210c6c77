/** `rekindle backup` and `rekindle restore`: what comes back, and what is refused. Under load, with kills and
 * a full disk: test/long/backup.long.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandResult } from "../printed-by.ts";
import { rekindle, Server } from "../server.ts";
import { expectError, expectSuccess, send, user } from "./support.ts";

const base = mkdtempSync(join(tmpdir(), "rekindle-backup-"));
const dataDir = join(base, "data");
const backup = join(base, "backup");
const organizations = ["Acme", "Żółw & Söhne"] as const;
const what = ["events", "users", "accounts", "subscriptions"] as const;

/** Ids and values that storage or a query could trip over. */
const strange = [
  "plain",
  "quote ' and \" and `",
  "back\\slash \\n \\0",
  "tab\tnew\nline\r",
  "a; DROP TABLE events --",
  "emoji 🐢 and combining é and \u2028",
  "{table:Identifier} %s $1",
];
const billing = [
  [1, "subscription_started"],
  [2, "payment_failed"],
] as const;
const price = { plan: "Team", amount: 4_900, currency: "EUR", interval: "month" };
const years = [2013, 2019, 2023, 2024];

const tokens = new Map<string, string>();
let revoked = "";
let before: string[] = [];
let made: CommandResult;

/** Everything that can be exported of both organizations, as text. */
async function exportsOf(folder: string): Promise<string[]> {
  const texts: string[] = [];
  for (const organization of organizations) {
    for (const table of what) {
      texts.push(await done(folder, "export", table, "--organization", organization, "--format", "jsonl"));
    }
  }
  return texts;
}

async function done(folder: string, ...parameters: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await rekindle(folder, ...parameters);
  expect([parameters, exitCode, stderr]).toEqual([parameters, 0, stderr]);
  return stdout;
}

function expectRefusal({ exitCode, stderr }: CommandResult, ...texts: readonly string[]): void {
  for (const text of texts) expect(stderr).toContain(text);
  expect(exitCode).toBe(1);
  expect(stderr).not.toMatch(/\bat \S+ \(|\.ts:/);
}

async function fill(server: Server, organization: string): Promise<void> {
  const token = await server.organization(organization, "--timezone", "America/New_York");
  tokens.set(organization, token);
  for (const [index, text] of strange.entries()) {
    const account = { id: `account ${text}`, name: text, properties: { [text]: text } };
    const traits = { [text]: text, n: 12345678901234567890n.toString(), account };
    await send(server, "/identify", token, user(text, { properties: traits, account }));
    for (const year of years) {
      const timestamp = `${year}-0${1 + index}-28T23:30:00Z`;
      const messageId = `${organization} ${text} ${year}`;
      const properties = { text, [text]: [1.5, null, { deep: text }] };
      await send(server, "/track", token, {
        userId: text,
        event: `did_${text.replaceAll(/\s/g, "_")}`,
        timestamp,
        messageId,
        properties,
      });
    }
  }
  for (const [day, event] of billing) {
    const properties = { ...price, subscriptionId: strange.join(""), accountId: "payer ü" };
    const timestamp = `2024-02-0${day}T09:30:00Z`;
    await send(server, "/track", token, { userId: "plain", event, timestamp, properties });
  }
}

beforeAll(async () => {
  const server = await Server.start({ dataDir });
  for (const organization of organizations) await fill(server, organization);
  // Deletes rows of rollups and writes them anew: what is deleted must not come back.
  await server.command("rebuild");
  await server.command("organization", "set", "Acme", "--timezone", "Asia/Tokyo");
  await server.command("rebuild", "--organization", "Acme");
  revoked = (await server.command("token", "create", "--organization", "Acme", "--name", "revoked")).trim();
  const list = await server.command("token", "list", "--organization", "Acme");
  await server.command("token", "revoke", /^(\d+) +revoked/m.exec(list)?.[1] ?? "");
  made = await rekindle(dataDir, "backup", backup);
  before = await exportsOf(dataDir);
  expect(before.filter((text) => text.includes("past_due"))).toHaveLength(organizations.length);
  await server.kill("SIGTERM");
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

/** An empty data folder of a test's own, and a copy of the backup to be damaged. */
function place(name: string): { readonly target: string; readonly copy: string } {
  const copy = join(base, `${name}-backup`);
  cpSync(backup, copy, { recursive: true });
  return { target: join(base, `${name}-data`), copy };
}

/** Changes the manifest of a copied backup. */
function changeManifest(copy: string, change: Record<string, unknown>): void {
  const file = join(copy, "manifest.json");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...change }));
}

/** A refused restore leaves nothing but the files of locks. */
function expectNothingRestored(target: string): void {
  expect(readdirSync(target).filter((name) => !name.endsWith(".lock"))).toEqual([]);
}

describe("a backup", () => {
  test("says what it wrote, and names every file in its manifest", () => {
    const events = organizations.length * (strange.length * years.length + billing.length);
    expect([made.exitCode, made.stdout]).toEqual([0, ""]);
    expect(made.stderr).toContain(`backup of ${events} events of 3 organizations`);
    const manifest = JSON.parse(readFileSync(join(backup, "manifest.json"), "utf8"));
    expect(manifest).toMatchObject({ format: 1, ledgerMigration: expect.any(Number) });
    expect(manifest.organizations).toContainEqual({ name: "Żółw & Söhne", events: events / 2 });
    const files = readdirSync(backup, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(backup.length + 1));
    const named = [...manifest.ledger, ...manifest.tables].map(({ file }: { file: string }) => file);
    expect(files.sort()).toEqual(["manifest.json", ...named].sort());
    for (const year of years) expect(named).toContain(`warehouse/events.${year}.native.zst`);
  });

  test("without a server is the same as with one", async () => {
    const second = join(base, "second");
    await done(dataDir, "backup", second);
    const target = join(base, "second-data");
    await done(target, "restore", second);
    expect(await exportsOf(target)).toEqual(before);
  });

  test("is refused where it cannot be, and touches nothing there", async () => {
    const full = join(base, "full");
    mkdirSync(full);
    writeFileSync(join(full, "mine"), "kept");
    expectRefusal(await rekindle(dataDir, "backup", full), full, "not empty");
    expectRefusal(await rekindle(dataDir, "backup", join(full, "mine")), "not an empty folder");
    expectRefusal(await rekindle(dataDir, "backup", join(dataDir, "b")), "data folder");
    expectRefusal(await rekindle(dataDir, "backup", join(base, "nowhere", "b")), "nowhere");
    expectRefusal(await rekindle(dataDir, "backup", backup), "not empty");
    expect(readdirSync(full)).toEqual(["mine"]);
    mkdirSync(join(base, "other.unfinished"));
    expectRefusal(await rekindle(dataDir, "backup", join(base, "other")), "other.unfinished", "remove");
  });

  test("goes into an empty folder", async () => {
    mkdirSync(join(base, "empty"));
    await done(dataDir, "backup", join(base, "empty"));
    expect(existsSync(join(base, "empty", "manifest.json"))).toBe(true);
  });
});

describe("a restored installation", () => {
  const target = join(base, "restored");
  let restored: CommandResult;
  let server: Server;

  beforeAll(async () => {
    restored = await rekindle(target, "restore", backup);
    server = await Server.start({ dataDir: target });
  });
  afterAll(async () => {
    await server.kill("SIGTERM");
  });

  test("has everything, and doctor agrees", async () => {
    expect(restored.stderr).toMatch(
      /restored 60 events of 3 organizations into .* Rekindle \d+\.\d+\.\d+ made at/,
    );
    expect(await exportsOf(target)).toEqual(before);
    const report = await server.command("doctor");
    for (const name of organizations) expect(report).toContain(`${name}: ledger, events and rollups agree`);
  });

  test("knows tokens and users, and message ids of the last 24 hours", async () => {
    for (const organization of organizations) {
      const token = tokens.get(organization);
      const messageId = `${organization} plain 2019`;
      await expectSuccess(await server.post("/track", token, { userId: "plain", event: "again", messageId }));
    }
    const unknown = await server.post("/track", tokens.get("Acme"), { userId: "nobody", event: "e" });
    await expectError(unknown, "not_found");
    await expectError(await server.post("/identify", revoked, user("u")), "invalid_write_key");
    expect(await exportsOf(target)).toEqual(before);
  });

  test("takes and loads what is new, each once", async () => {
    const token = tokens.get("Acme") ?? "";
    for (const n of [1, 2, 3]) {
      await send(server, "/track", token, { userId: "plain", event: "new", properties: { n } });
      // A load of its own for each: their tokens must be new to the warehouse.
      await server.exported("events", "Acme");
    }
    const events = await server.exported("events", "Acme");
    expect(events.filter(({ event }) => event === "new")).toHaveLength(3);
    expect(events).toHaveLength(33);
    expect(await server.command("doctor")).toContain("Acme: ledger, events and rollups agree");
  });
});

describe("a restore is refused, and leaves nothing, when", () => {
  const damages: readonly (readonly [string, (copy: string) => void, readonly string[]])[] = [
    [
      "a byte of a table differs",
      (copy) => flip(join(copy, "warehouse", "events.2023.native.zst")),
      ["damaged"],
    ],
    ["a byte of the ledger differs", (copy) => flip(join(copy, "ledger", "ledger.sqlite.zst")), ["damaged"]],
    [
      "a file is missing",
      (copy) => rmSync(join(copy, "warehouse", "users.all.native.zst")),
      ["users.all.native.zst", "cannot be read"],
    ],
    ["a file is cut", (copy) => cut(join(copy, "warehouse", "event_days.all.native.zst")), ["damaged"]],
  ];
  test.each(damages)("%s", async (name, damage, texts) => {
    const { target, copy } = place(name.replaceAll(" ", "-"));
    damage(copy);
    expectRefusal(await rekindle(target, "restore", copy), ...texts);
    expectNothingRestored(target);
  });

  test("the number of rows is another", async () => {
    const { target, copy } = place("rows");
    const manifest = JSON.parse(readFileSync(join(copy, "manifest.json"), "utf8"));
    manifest.tables[0].rows += 1;
    changeManifest(copy, manifest);
    expectRefusal(await rekindle(target, "restore", copy), "rows");
    expectNothingRestored(target);
  });

  test.each([
    ["form", { format: 2, tables: "in another way" }],
    ["ledger", { ledgerMigration: 1_000 }],
    ["warehouse", { warehouseMigration: 1_000 }],
  ] as const)("it was made by newer code: its %s", async (name, change) => {
    const { target, copy } = place(`newer-${name}`);
    changeManifest(copy, change);
    expectRefusal(await rekindle(target, "restore", copy), "newer Rekindle");
    expect(existsSync(target)).toBe(false);
  });

  test("the folder is no backup", async () => {
    const { target, copy } = place("none");
    const file = join(copy, "manifest.json");
    writeFileSync(file, readFileSync(file, "utf8").slice(0, -20));
    expectRefusal(await rekindle(target, "restore", copy), "is not a backup");
    const outside = { file: "../data/ledger.sqlite", bytes: 1, sha256: "0".repeat(64) };
    cpSync(join(backup, "manifest.json"), file);
    changeManifest(copy, { ledger: [outside] });
    expectRefusal(await rekindle(target, "restore", copy), "is not a backup");
    rmSync(file);
    expectRefusal(await rekindle(target, "restore", copy), "is not a backup", "manifest.json");
    expect(existsSync(target)).toBe(false);
  });

  test("the data folder holds an installation, which stays as it was", async () => {
    expectRefusal(await rekindle(dataDir, "restore", backup), dataDir, "holds an installation");
    expect(await exportsOf(dataDir)).toEqual(before);
    const server = await Server.start({ dataDir });
    expectRefusal(await rekindle(dataDir, "restore", backup), dataDir, "in use");
    await server.kill("SIGTERM");
  });
});

/** Changes one bit in the middle of a file. */
function flip(file: string): void {
  const bytes = readFileSync(file);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

/** Takes away the end of a file. */
function cut(file: string): void {
  writeFileSync(file, readFileSync(file).subarray(0, -1));
}
