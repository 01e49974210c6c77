/**
 * Kills the service under load, with SIGKILL, at each step of the loader and at random moments, and the
 * analysis process alone. Afterwards every acknowledged event is stored once.
 */
import { afterAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import type { HoldPoint } from "../durability/hold-points.ts";
import { Holds, heldServer, killed } from "../durability/holds.ts";
import { killWhileDeleting, ownPort, remains, restart } from "../durability/killing.ts";
import { differences, Workload } from "../durability/workload.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { randomOfThisRun } from "../warehouse/support.ts";

/** Keeps nothing once it is loaded, so that a kill can hit a deletion. */
const ledger = { inboxMaxRetainedBytes: 0 };
const as = { entry: heldServer, ledger };
let server = await Server.start({ ...as, env: await ownPort() });

afterAll(async () => {
  await server.stop();
  rmSync(server.dataDir, { recursive: true, force: true });
});

/** Of each of 24 senders: up to 1,200 requests a second, so that no freeze finds an empty inbox. */
const pauseMs = 20;

/** Loads an organization of its own while `disturb` does its worst, then compares. */
async function survives(organization: string, disturb: () => Promise<void>): Promise<void> {
  const token = await server.organization(organization);
  await server.command("organization", "set", organization, "--rate-limit", "1000000");
  const workload = new Workload(() => server, token, pauseMs);
  await workload.start();
  await disturb();
  await workload.untilAcknowledged(101);
  const expected = await workload.stop();
  expect(workload.unexpected).toEqual([]);
  expect(expected.messageIds.size).toBeGreaterThan(100);
  expect(await differences(server, organization, expected)).toEqual([]);
  expect(await server.command("doctor")).toContain(`${organization}: ledger, events and rollups agree`);
}

/** Steps of the loader. */
const points: readonly HoldPoint[] = [
  // A batch is frozen, and not yet inserted.
  { step: "arrived", of: "inbox.freeze" },
  { step: "after", of: "inbox.freeze" },
  { step: "before", of: "INSERT INTO events" },
  { step: "within", of: "INSERT INTO events" },
  // It is inserted, and not finished.
  { step: "after", of: "INSERT INTO events" },
  { step: "arrived", of: "inbox.finish" },
  // It is just finished.
  { step: "after", of: "inbox.finish" },
];

test("kills at each step of loading a batch lose and double nothing", async () => {
  await survives("loaded", async () => {
    const holds = new Holds(server.dataDir);
    for (const point of points) {
      // Of a service that is under load again: what a start loads is another matter.
      await server.ready();
      const hold = holds.next(point);
      await hold.reached();
      const isInserted = point.step === "after" && point.of === "INSERT INTO events";
      const start = async () => {
        // Rows are in the warehouse that the ledger knows nothing of.
        if (isInserted) expect(await remains(server.dataDir)).toMatchObject({ halfWritten: true });
        return restart(server, as);
      };
      server = await killed(server, "both", start, hold);
    }
  });
});

/** A write may be torn anywhere, which no list of points has. */
const randomKills = 4;

test("kills at random moments lose and double nothing", async () => {
  const random = randomOfThisRun("kills under load");
  await survives("random", async () => {
    for (let kill = 0; kill < randomKills; kill++) {
      await server.ready();
      await Bun.sleep(random.within(0, 1_500));
      await server.crash();
      server = await restart(server, as);
    }
  });
});

test("a kill while loaded rows are being deleted loses and doubles nothing", async () => {
  await survives("deleted", async () => {
    await killWhileDeleting(server);
    server = await restart(server, as);
  });
});

test("killing the analysis process fails no write, and it is brought back at once", async () => {
  await survives("analysis", async () => {
    await server.ready();
    const pid = server.analysisPid();
    if (pid === undefined) throw new Error("there is no analysis process");
    process.kill(pid, "SIGKILL");
    // The first pause is the shortest.
    const restarting = /"delayMs":250\b.*analysis ended; restarting it/;
    await until("analysis is restarted at once", () => restarting.test(server.output()));
    await until("another process has its place", () => ![undefined, pid].includes(server.analysisPid()));
    await server.ready();
  });
});

test("killing intake takes the analysis process along, and the next start waits for its end", async () => {
  await survives("intake", async () => {
    await server.ready();
    await server.kill("SIGKILL");
    server = await restart(server, as);
    await server.ready();
  });
});

test("SIGTERM under load leaves in order, with exit code 0", async () => {
  await survives("sigterm", async () => {
    expect(await server.kill("SIGTERM")).toBe(0);
    server = await restart(server, as);
  });
});

test("a second start on the same data folder is refused with a clear message", async () => {
  const second = Server.start({ dataDir: server.dataDir });
  await expect(second).rejects.toThrow(/is in use by another rekindle: stop that one, or set DATA_DIR/);
});
