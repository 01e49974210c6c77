/** Mutants that are made by hand, each with the test that has to notice. check-by-hand.ts makes them. */

/** A promise of the code, broken at one place. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string | RegExp;
  readonly to: string;
  /** The test file that must fail. */
  readonly test: string;
}

export const mutants: readonly Mutant[] = [
  {
    name: "batches are inserted without a token",
    file: "server/warehouse/engine/insert-frozen.ts",
    from: /deduplicate_insert: "enable",[^}]*insert_deduplication_token: token,/,
    to: "insert_deduplicate: 0,",
    test: "test/warehouse/warehouse.test.ts",
  },
  {
    name: "inbox ids are not AUTOINCREMENT",
    file: "server/ledger/sqlite/migrations/migrations.ts",
    from: /CREATE TABLE inbox \(\s+id INTEGER PRIMARY KEY AUTOINCREMENT/,
    to: "CREATE TABLE inbox (id INTEGER PRIMARY KEY",
    test: "test/ledger/inbox-model.long.test.ts",
  },
  {
    name: "rows are deleted before the position is past them",
    file: "server/ledger/sqlite/inbox-tidy.ts",
    from: "const loadedUpto = this.#inbox.loadedUpto();",
    to: "const loadedUpto = this.#inbox.newestInboxId;",
    test: "test/ledger/inbox-model.long.test.ts",
  },
  {
    name: "commits are not fsynced",
    file: "server/ledger/sqlite/write/transact.ts",
    from: "    await committing;\n",
    to: "",
    test: "test/ledger/write-ahead-log.test.ts",
  },
  {
    name: "the journal is not fsynced",
    file: "server/ledger/sqlite/write/transact.ts",
    from: "    if (isDone) await journal.synced();\n",
    to: "",
    test: "test/ledger/write-ahead-log.test.ts",
  },
  {
    name: "the journal is written over before SQLite's log is synced",
    file: "server/ledger/sqlite/journal.ts",
    from: "lastInboxId(group), this.#restingUpto)",
    to: "lastInboxId(group), Number.POSITIVE_INFINITY)",
    test: "test/ledger/journal.test.ts",
  },
  {
    name: "the inbox is frozen without what waits in the journal",
    file: "server/ledger/sqlite/flushed-inbox.ts",
    from: "    if (!this.#inbox.hasUnfinished) this.#journal.flush();\n",
    to: "",
    test: "test/ledger/journal.test.ts",
  },
  {
    name: "known users are remembered before the commit",
    file: "server/ledger/sqlite/write/transact.ts",
    from: "this.#writePeople(writes, stored);",
    to: `for (const { organization, userId, number, account } of writes.users) {
      this.#parts.knownUsers.remember(organization, userId, { number, account });
    }
    this.#writePeople(writes, stored);`,
    test: "test/ledger/sqlite.test.ts",
  },
  {
    name: "exports join the users of other organizations",
    file: "server/warehouse/copies/export.ts",
    from: "FROM users FINAL WHERE organization = {organization:UInt32}) AS u",
    to: "FROM users FINAL) AS u",
    test: "test/specification/tenants.test.ts",
  },
  {
    name: "refusals do not name the field",
    file: "contract/explain.ts",
    from: 'const joined = path.join(".");',
    to: 'const joined = "";',
    test: "test/specification/generated.long.test.ts",
  },
  {
    name: "figures are served before the replay",
    file: "server/warehouse/analysis.ts",
    from: "  await loader.replay();\n",
    to: "",
    test: "test/durability/replay.test.ts",
  },
  {
    name: "a backup's pause begins between two frozen batches",
    file: "server/warehouse/load/loader.ts",
    from: "        await this.#load(batch);\n        rows += batch.rows;\n      }\n      return rows;\n    } finally {\n      endTurn();",
    to: "        endTurn();\n        await this.#load(batch);\n        rows += batch.rows;\n      }\n      return rows;\n    } finally {",
    test: "test/warehouse/backup.long.test.ts",
  },
  {
    name: "restored events pass through the views",
    file: "server/warehouse/copies/frozen-tables.ts",
    from: /ALTER TABLE (\S+) ATTACH PARTITION ALL FROM (\S+`\);\n {2}await warehouse.command\(`DROP)/,
    to: "INSERT INTO $1 SELECT * FROM $2",
    test: "test/specification/backup.long.test.ts",
  },
  {
    name: "checksums of a backup are not compared",
    file: "server/warehouse/copies/backup-files.ts",
    from: ' || hash.digest("hex") !== sha256',
    to: "",
    test: "test/specification/backup.long.test.ts",
  },
  {
    name: "a restore leaves no mark while it works",
    file: "server/ledger/sqlite/open.ts",
    from: "  refuseUnfinishedRestore(dirname(file));\n",
    to: "",
    test: "test/long/backup.long.test.ts",
  },
];

/** The code with the mutant's place in another form. The unchanged code when there is no such place. */
export function mutated(code: string, { from, to }: Pick<Mutant, "from" | "to">): string {
  return code.replace(from, to);
}
