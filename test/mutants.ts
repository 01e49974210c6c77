/**
 * Shows that the tests bite: breaks one promise of the code at a time in a copy of the tree, and runs the
 * test that has to notice. `cli/with-bun test/mutants.ts [word…]` takes all, or those whose name has a word; it fails
 * when a mutant survives.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string | RegExp;
  readonly to: string;
  /** The test file that must fail. */
  readonly test: string;
}

const mutants: readonly Mutant[] = [
  {
    name: "batches are inserted without a token",
    file: "server/warehouse/chdb.ts",
    from: ", insert_deduplication_token: token }",
    to: ", insert_deduplicate: 0 }",
    test: "test/warehouse/warehouse.test.ts",
  },
  {
    name: "inbox ids are not AUTOINCREMENT",
    file: "server/ledger/sqlite/migrations.ts",
    from: /CREATE TABLE inbox \(\s+id INTEGER PRIMARY KEY AUTOINCREMENT/,
    to: "CREATE TABLE inbox (id INTEGER PRIMARY KEY",
    test: "test/ledger/inbox-model.test.ts",
  },
  {
    name: "rows are deleted before the position is past them",
    file: "server/ledger/sqlite/inbox-tidy.ts",
    from: "const loadedUpto = this.#inbox.loadedUpto();",
    to: "const loadedUpto = this.#inbox.newestInboxId;",
    test: "test/ledger/inbox-model.test.ts",
  },
  {
    name: "commits are not fsynced",
    file: "server/ledger/sqlite/transact.ts",
    from: "    await committing;\n",
    to: "",
    test: "test/ledger/write-ahead-log.test.ts",
  },
  {
    name: "the journal is not fsynced",
    file: "server/ledger/sqlite/transact.ts",
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
    test: "test/ledger/inbox-model.test.ts",
  },
  {
    name: "known users are remembered before the commit",
    file: "server/ledger/sqlite/transact.ts",
    from: "this.#writePeople(writes, stored);",
    to: `for (const { organization, userId, number, account } of writes.users) {
      this.#parts.knownUsers.remember(organization, userId, { number, account });
    }
    this.#writePeople(writes, loaded);`,
    test: "test/ledger/sqlite.test.ts",
  },
  {
    name: "exports join the users of other organizations",
    file: "server/warehouse/export.ts",
    from: "FROM users FINAL WHERE organization = {organization:UInt32}) AS u",
    to: "FROM users FINAL) AS u",
    test: "test/specification/tenants.test.ts",
  },
  {
    name: "refusals do not name the field",
    file: "server/intake/admission.ts",
    from: 'path.join(".") || "body"',
    to: '"body"',
    test: "test/specification/generated.test.ts",
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
    file: "server/warehouse/loader.ts",
    from: "        await this.#load(batch);\n        rows += batch.rows;\n      }\n      return rows;\n    } finally {\n      endTurn();",
    to: "        endTurn();\n        await this.#load(batch);\n        rows += batch.rows;\n      }\n      return rows;\n    } finally {",
    test: "test/warehouse/backup.test.ts",
  },
  {
    name: "restored events pass through the views",
    file: "server/warehouse/frozen-tables.ts",
    from: /ALTER TABLE (\S+) ATTACH PARTITION ALL FROM (\S+`\);\n {2}await warehouse.command\(`DROP)/,
    to: "INSERT INTO $1 SELECT * FROM $2",
    test: "test/specification/backup.test.ts",
  },
  {
    name: "checksums of a backup are not compared",
    file: "server/warehouse/backup-files.ts",
    from: ' || hash.digest("hex") !== sha256',
    to: "",
    test: "test/specification/backup.test.ts",
  },
  {
    name: "a restore leaves no mark while it works",
    file: "server/ledger/sqlite/open.ts",
    from: "  refuseUnfinishedRestore(dirname(file));\n",
    to: "",
    test: "test/durability/backup.test.ts",
  },
];

const root = join(import.meta.dir, "..");

/** A copy of the tree, for the time of `work`. */
async function inCopy<Result>(work: (copy: string) => Promise<Result>): Promise<Result> {
  const copy = mkdtempSync(join(tmpdir(), "rekindle-mutant-"));
  try {
    const left = new Set(["node_modules", ".git", "data"]);
    cpSync(root, copy, { recursive: true, filter: (path) => !left.has(basename(path)) });
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    return await work(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function applyMutant(copy: string, mutant: Mutant): void {
  const file = join(copy, mutant.file);
  const before = readFileSync(file, "utf8");
  const after = before.replace(mutant.from, mutant.to);
  if (after === before) throw new Error(`${mutant.name}: ${mutant.file} has no such place any more`);
  writeFileSync(file, after);
}

async function passes(copy: string, test: string): Promise<boolean> {
  const child = Bun.spawn([process.execPath, "test", test, "--timeout", "120000"], {
    cwd: copy,
    stdout: "ignore",
    stderr: "ignore",
  });
  return (await child.exited) === 0;
}

const words = process.argv.slice(2);
const chosen =
  words.length === 0 ? mutants : mutants.filter(({ name }) => words.some((word) => name.includes(word)));

// A test that fails without a mutant too would catch all of them.
for (const test of new Set(chosen.map((mutant) => mutant.test))) {
  if (!(await inCopy((copy) => passes(copy, test)))) throw new Error(`${test} fails without a mutant`);
}

let survivors = 0;
for (const mutant of chosen) {
  const survived = await inCopy((copy) => {
    applyMutant(copy, mutant);
    return passes(copy, mutant.test);
  });
  if (survived) survivors += 1;
  console.log(`${survived ? "SURVIVED" : "caught  "}  ${mutant.name} (${mutant.test})`);
}
process.exit(survivors === 0 ? 0 : 1);
