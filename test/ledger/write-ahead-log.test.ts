/** A write is acknowledged only after it is synced: events in the journal, what else there is in SQLite's
 * log. The disk is slowed down and broken where the ledger meets it. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import fs from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { turns, until } from "../until.ts";
import { append, inboxRows, user, writePeople } from "./writes.ts";

type Synced = (error: NodeJS.ErrnoException | null) => void;

let folder: string;
let ledger: Ledger;
const original = fs.fdatasync;

/** Replaces every sync with a function, which gets the file. */
function withDisk(sync: (file: string) => Promise<void>): void {
  fs.fdatasync = Object.assign(
    (descriptor: number, done: Synced) => {
      const file = fs.readlinkSync(`/proc/self/fd/${descriptor}`);
      sync(file).then(
        () => done(null),
        (error) => done(error),
      );
    },
    { __promisify__: original.__promisify__ },
  );
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-log-"));
  ledger = await openSqliteLedger({ features, file: join(folder, "ledger.sqlite") });
  await ledger.organizations.create({ name: "acme", timezone: "UTC", nowMs: 1_000 }, settingUp);
});

afterEach(async () => {
  fs.fdatasync = original;
  await ledger.close();
  await rm(folder, { recursive: true, force: true });
});

const writers = [
  {
    name: "events, in the journal",
    file: "ledger.sqlite-journaled",
    write: () => append(ledger, inboxRows(["a"])),
  },
  {
    name: "a user, in SQLite's log",
    file: "ledger.sqlite-wal",
    write: () => writePeople(ledger, { users: [user(1, "ada")] }),
  },
];

for (const { name, file, write } of writers) {
  test(`a write is acknowledged after it is synced, and not before: ${name}`, async () => {
    const disk = Promise.withResolvers<void>();
    const files: string[] = [];
    withDisk((path) => {
      files.push(basename(path));
      return disk.promise;
    });
    let acknowledged = false;
    const writing = write().then(() => {
      acknowledged = true;
    });
    await until("a file is being synced", () => files.length);
    // For what would not wait for it.
    await turns(10);
    expect(files).toEqual([file]);
    expect(acknowledged).toBe(false);
    disk.resolve();
    await writing;
    expect(acknowledged).toBe(true);
  });

  test(`after a sync that failed nothing is acknowledged or written from then on: ${name}`, async () => {
    withDisk(() => Promise.reject(new Error("the disk is broken")));
    await expect(write()).rejects.toThrow("the disk is broken");
    fs.fdatasync = original;
    for (const again of writers) await expect(again.write()).rejects.toThrow("the disk is broken");
    expect((await ledger.inbox.backlog()).newestInboxId).toBeLessThanOrEqual(1);
  });
}

test("events of a user who is not on the disk yet wait for the user", async () => {
  const log = Promise.withResolvers<void>();
  const files = new Set<string>();
  withDisk((path) => {
    files.add(path.replace(/.*-/, ""));
    return path.endsWith("-wal") ? log.promise : Promise.resolve();
  });
  const identified = writePeople(ledger, { users: [user(1, "ada")] });
  let acknowledged = false;
  const tracked = append(ledger, inboxRows(["a"])).then(() => {
    acknowledged = true;
  });
  await until("both files are being synced", () => files.has("wal") && files.has("journaled"));
  await turns(10);
  expect(acknowledged).toBe(false);
  log.resolve();
  await Promise.all([identified, tracked]);
});

test("a ledger that is closed while commits are synced waits for both syncs", async () => {
  const disk = Promise.withResolvers<void>();
  const order: string[] = [];
  withDisk(async () => {
    order.push("begun");
    await disk.promise;
    order.push("synced");
  });
  const appending = [append(ledger, inboxRows(["a"])), append(ledger, inboxRows(["b"]))];
  const closing = ledger.close().then(() => order.push("closed"));
  disk.resolve();
  await Promise.all([...appending, closing]);
  expect(order).toEqual(["begun", "synced", "begun", "synced", "closed"]);
  ledger = await openSqliteLedger({ features, file: join(folder, "ledger.sqlite") });
  expect((await ledger.inbox.backlog()).rows).toBe(2);
});
