/** A commit is acknowledged only after its log is synced. The disk is slowed down and broken where the ledger
 * meets it: at the `datasync` of file handles. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { append, inboxRows } from "./writes.ts";

let folder: string;
let ledger: Ledger;
let handles: FileHandle;
let original: FileHandle["datasync"];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-log-"));
  const probe = await open(join(folder, "probe"), "w");
  handles = Object.getPrototypeOf(probe);
  original = handles.datasync;
  await probe.close();
  ledger = await openSqliteLedger({ file: join(folder, "ledger.sqlite") });
});

afterEach(async () => {
  handles.datasync = original;
  await ledger.close();
  await rm(folder, { recursive: true, force: true });
});

test("a commit is acknowledged after the log is synced, and not before", async () => {
  const disk = Promise.withResolvers<void>();
  let syncs = 0;
  handles.datasync = () => {
    syncs += 1;
    return disk.promise;
  };
  let acknowledged = false;
  const appending = append(ledger, inboxRows(["a"])).then(() => {
    acknowledged = true;
  });
  await Bun.sleep(30);
  expect(syncs).toBe(1);
  expect(acknowledged).toBe(false);
  disk.resolve();
  await appending;
  expect(acknowledged).toBe(true);
});

test("after a sync that failed nothing is acknowledged or written from then on", async () => {
  handles.datasync = () => Promise.reject(new Error("the disk is broken"));
  await expect(append(ledger, inboxRows(["a"]))).rejects.toThrow("the disk is broken");
  handles.datasync = original;
  await expect(append(ledger, inboxRows(["b"]))).rejects.toThrow("the disk is broken");
  expect((await ledger.inbox.backlog()).newestInboxId).toBe(1);
});

test("a ledger that is closed while commits are synced waits for both syncs", async () => {
  const disk = Promise.withResolvers<void>();
  const order: string[] = [];
  handles.datasync = async () => {
    order.push("begun");
    await disk.promise;
    order.push("synced");
  };
  const appending = [append(ledger, inboxRows(["a"])), append(ledger, inboxRows(["b"]))];
  const closing = ledger.close().then(() => order.push("closed"));
  disk.resolve();
  await Promise.all([...appending, closing]);
  expect(order).toEqual(["begun", "synced", "begun", "synced", "closed"]);
  ledger = await openSqliteLedger({ file: join(folder, "ledger.sqlite") });
  expect((await ledger.inbox.backlog()).rows).toBe(2);
});
