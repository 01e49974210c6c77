/** Which functions another process may call, by their paths. */
import { expect, test } from "bun:test";
import { ledgerOperations } from "../../server/between/remote/shared-ledger.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { operationsOf, remote } from "../../server/process/call.ts";
import { socketPeer } from "../../server/process/control.ts";

class Notes {
  readonly #texts = ["called"];

  async all(): Promise<readonly string[]> {
    return this.#texts;
  }
}

test("a path leads to a function of an object or of its class, with its object", async () => {
  const operations = operationsOf({ notes: new Notes(), close: async () => "closed" });
  expect(await operations("notes.all")?.()).toEqual(["called"]);
  expect(await operations("close")?.()).toBe("closed");
});

test.each([
  "",
  "notes",
  "notes.none",
  "none.all",
  "notes.all.call",
  "constructor",
  "notes.constructor",
  "notes.__proto__.all",
  "toString",
])("%j leads to none", (path) => {
  expect(operationsOf({ notes: new Notes() })(path)).toBeUndefined();
});

test("what only intake may do with its ledger cannot be called, and its imports are the importer's", async () => {
  const called = async () => "the ledger's";
  const ledger = { close: called, transact: called, flush: called, imports: { begin: called } };
  const importer = { imports: { begin: async () => "the importer's" } }.imports;
  const operations = ledgerOperations(ledger as object as Ledger, {} as never, importer as never);
  const kept = ["close", "transact", "tidy", "snapshot", "inbox.read", "constructor", "toString"];
  expect(kept.filter((path) => operations(path) !== undefined)).toEqual([]);
  expect(await operations("flush")?.()).toBe("the ledger's");
  expect(await operations("imports.begin")?.()).toBe("the importer's");
});

test("a service of another process can be awaited without a call", async () => {
  const services = remote<{ readonly notes: Notes }>(socketPeer("/nowhere"));
  expect((await services) === services).toBe(true);
  await expect(services.notes.all()).rejects.toThrow("cannot be reached");
});
