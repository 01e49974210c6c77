/** Rejected events: rows that the warehouse refused. Their readers and managers list them, send them again
 * and drop them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isOnPostgres } from "../engines.ts";
import { rekindle, Server } from "../server.ts";
import { asTemplate, inLedger, type RunInLedger } from "../stored.ts";
import { becomes } from "../until.ts";
import { answer, ask, newKey } from "./operation-support.ts";
import { expectError, send, user } from "./support.ts";

export const runsOn = { postgres: true };

interface Rejected {
  readonly id: number;
  readonly table: string;
  readonly reason: string;
  readonly row: string;
}

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-rejected-"));
const eventsOf = { First: 4, Second: 2 } as const;
type Name = keyof typeof eventsOf;
let server: Server;
const keys = new Map<Name, { read: string; manage: string }>();

/** A day in the column of an event's row becomes a text of the same length that is no day: the row's time and
 * id can still be read. */
async function spoil(run: RunInLedger): Promise<void> {
  const day = `,${Math.floor(Date.UTC(2026, 4, 17) / 86_400_000)},`;
  for (const table of await inboxTables(run)) {
    await run(
      asTemplate(
        `UPDATE ${table} SET body = replace(body, '${day}', ',"bad",') WHERE warehouse_table = 'events'`,
      ),
    );
  }
}

/** On PostgreSQL every segment is one. */
async function inboxTables(run: RunInLedger): Promise<readonly string[]> {
  if (!isOnPostgres) return ["inbox"];
  const tables = await run<{
    name: string;
  }>`SELECT tablename AS name FROM pg_tables WHERE tablename LIKE 'inbox_0%'`;
  return tables.map(({ name }) => name);
}

beforeAll(async () => {
  // Only intake runs: rows wait in the inbox, where a fault of ours might have written them like this.
  const intake = await Server.start({ dataDir, role: "intake" });
  for (const name of ["First", "Second"] as const) {
    const token = await intake.organization(name);
    keys.set(name, { read: await newKey(intake, name), manage: await newKey(intake, name, "manage") });
    await send(intake, "/identify", token, user("u"));
    for (let number = 0; number < eventsOf[name]; number += 1) {
      const timestamp = number % 2 === 0 ? "2026-05-17T10:00:00Z" : "2026-05-18T10:00:00Z";
      await send(intake, "/track", token, { userId: "u", event: `${name}_${number}`, timestamp });
    }
  }
  await intake.kill("SIGTERM");
  await inLedger(dataDir, spoil);
  server = await Server.start({ dataDir });
  await server.ready();
  await server.exported("events", "First");
});
afterAll(async () => {
  await server.kill("SIGTERM");
  rmSync(dataDir, { recursive: true });
});

const keyOf = (name: Name, right: "read" | "manage") => keys.get(name)?.[right] ?? "";
const rejectedEventsOf = (name: Name) =>
  answer<{ total: number; rejectedEvents: Rejected[] }>(server, keyOf(name, "read"), "/api/rejected-events");
const ids = async (name: Name) => (await rejectedEventsOf(name)).rejectedEvents.map(({ id }) => id);
const exportedEvents = async (name: Name) =>
  (await server.exported("events", name)).map(({ event }) => event).sort();

describe("rejected events", () => {
  test("are each organization's own, with row and reason", async () => {
    const { total, rejectedEvents } = await rejectedEventsOf("First");
    expect([total, (await rejectedEventsOf("Second")).total]).toEqual([2, 1]);
    for (const { table, reason, row } of rejectedEvents) {
      expect([table, reason]).toEqual(["events", expect.stringContaining("Code: ")]);
      expect(row).toContain("First_");
    }
    expect(await exportedEvents("First")).toEqual(["First_1", "First_3"]);
  });

  test("are no missing events for doctor, and it says that they are there", async () => {
    const { exitCode, stdout } = await rekindle(dataDir, "doctor");
    expect(stdout).toContain("rejected events  3 (rekindle rejected-events");
    expect(stdout).toContain(
      "First: ledger, events and rollups agree\n  2 rows are among the rejected events",
    );
    expect(stdout).not.toContain("the ledger acknowledged");
    expect(exitCode).toBe(0);
  });

  test("are listed on the command line", async () => {
    const table = async (...options: string[]) =>
      (await server.command("rejected-events", "list", ...options)).trim().split("\n").slice(1);
    expect(await table("--organization", "Second")).toContainEqual(expect.stringContaining("Second_0"));
    const [, field, total] = await table("--organization", "First", "--limit", "1");
    expect([field, total]).toEqual([expect.stringMatching(/^FIELD/), expect.stringMatching(/^total +2$/)]);
  });

  test("are not touched by those who may not, nor by another organization", async () => {
    const [mine] = await ids("First");
    const path = `/api/rejected-events?ids=${mine}`;
    await expectError(await ask(server, keyOf("First", "read"), path, "DELETE"), "forbidden", "manage");
    const retry = `/api/rejected-events/retry?ids=${mine}`;
    await expectError(await ask(server, keyOf("First", "read"), retry, "POST"), "forbidden", "manage");
    for (const [method, asked] of [
      ["DELETE", path],
      ["POST", retry],
    ] as const) {
      const response = await ask(server, keyOf("Second", "manage"), asked, method);
      await expectError(response, "validation_error", `no rejected event with the id ${mine}`);
    }
    await expectError(
      await ask(server, keyOf("Second", "manage"), "/api/rejected-events", "DELETE"),
      "validation_error",
      "all=true",
    );
    const unclear = await rekindle(dataDir, "rejected-events", "delete");
    expect([unclear.exitCode, unclear.stderr]).toEqual([1, expect.stringContaining("--organization")]);
    const elsewhere = await rekindle(
      dataDir,
      "rejected-events",
      "drop",
      String(mine),
      "--organization",
      "Second",
    );
    expect([elsewhere.exitCode, elsewhere.stderr]).toEqual([1, expect.stringContaining(`id ${mine}`)]);
    expect([(await rejectedEventsOf("First")).total, (await rejectedEventsOf("Second")).total]).toEqual([
      2, 1,
    ]);
  });
});

describe("what is done with them", () => {
  test("one that is dropped was never acknowledged, and doctor agrees", async () => {
    const [, older] = await ids("First");
    expect(
      await answer<object>(server, keyOf("First", "manage"), `/api/rejected-events?ids=${older}`, "DELETE"),
    ).toEqual({ rows: 1 });
    expect((await rejectedEventsOf("First")).total).toBe(1);
    expect(await server.command("doctor")).toContain("First: ledger, events and rollups agree");
  });

  test("those that are sent again get their day in the timezone of now, and are there once", async () => {
    await server.command("organization", "set", "First", "--timezone", "Asia/Tokyo");
    const path = "/api/rejected-events/retry?all=true";
    expect(await answer<object>(server, keyOf("First", "manage"), path, "POST")).toEqual({ rows: 1 });
    expect(await answer<object>(server, keyOf("First", "manage"), path, "POST")).toEqual({ rows: 0 });
    expect(await exportedEvents("First")).toEqual(["First_1", "First_2", "First_3"]);
    expect((await rejectedEventsOf("First")).total).toBe(0);
    expect((await rejectedEventsOf("Second")).total).toBe(1);
    await server.command("rebuild", "--organization", "First");
    expect(await server.command("doctor")).toContain("First: ledger, events and rollups agree");
  });

  test("from the command line all of them, also while no server runs", async () => {
    await server.kill("SIGTERM");
    const retry = ["rejected-events", "retry", "--all", "--organization", "Second"];
    const { exitCode, stdout: said } = await rekindle(dataDir, ...retry);
    expect([exitCode, said]).toEqual([0, expect.stringMatching(/rows +1\n/)]);
    server = await Server.start({ dataDir });
    await becomes(() => exportedEvents("Second"), ["Second_0", "Second_1"]);
    const { exitCode: well, stdout } = await rekindle(dataDir, "doctor");
    expect([well, stdout]).toEqual([0, expect.stringContaining("rejected events  0\n")]);
  });

  test("is noted in the audit log of each organization, with the actor", async () => {
    const entries = await inLedger(
      dataDir,
      (run) => run<{ name: string; action: string; detail: string }>`
        SELECT name, action, detail FROM audit_log JOIN organizations ON organizations.id = organization
        WHERE action LIKE 'rejected_events.%' ORDER BY audit_log.id`,
    );
    expect(entries.map(({ name, action, detail }) => [name, action, JSON.parse(detail)])).toEqual([
      [
        "First",
        "rejected_events.dropped",
        expect.objectContaining({ rows: 1, by: expect.stringMatching(/^read key/) }),
      ],
      ["First", "rejected_events.retried", { rows: 1, by: expect.stringMatching(/^read key/) }],
      ["Second", "rejected_events.retried", { rows: 1, by: "command line" }],
    ]);
  });
});
