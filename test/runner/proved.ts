/**
 * What the long runs proved (test/proved.json): of each run of a file of tests how many tests passed, and
 * which files of the product it ran. `.ci/run` repeats the runs that a change reaches, those without a proof,
 * and a fifth of the others.
 *
 * A file counts as run when one of its functions ran (test/runner/counting.ts). What this does not see, such
 * as a changed constant of a file whose functions a test never calls, is left to the fifths: five commits
 * repeat everything.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Run } from "../runs.ts";
import { listPaths, readSourceFiles, root } from "../tidy/source-files.ts";
import { isCounted } from "./counting.ts";

const path = join(root, "test/proved.json");

/** CI counts a change from the commit of the record before, so a record that comes with a change does not
 * prove it. The first record has none before, and proves its own commit. */
interface Record {
  readonly commit: string;
  readonly commitBefore: string | null;
  /** The files of the product at that commit that a run can run. */
  readonly files: readonly string[];
  /** By the name of a run: the tests that passed, and a bit for each of `files`, in base64. */
  readonly runs: Readonly<{ [name: string]: { readonly passed: number; readonly ran: string } }>;
}

/** What a run proved. */
export interface Proof {
  readonly name: string;
  readonly passed: number;
  /** The files of the product that ran. */
  readonly ran: readonly string[];
}

/** The runs that CI repeats. */
export interface Reached {
  /** A change reaches them. */
  readonly reached: readonly Run[];
  /** A fifth of the others; when all are reached, further engines of their files. They may be left when the
   * time is over. */
  readonly others: readonly Run[];
  /** Why these, a line each. */
  readonly why: readonly string[];
}

const parts = 5;

/** Chooses what CI repeats of the long runs. @param fifth which fifth of the others, 0 to 4; the number of
 * commits decides without it */
export function chooseReached(
  runs: readonly Run[],
  fifth = Number(git("rev-list", "--count", "HEAD")) % parts,
): Reached {
  const record = existsSync(path) ? readRecord() : undefined;
  const from = record?.commitBefore ?? record?.commit;
  const changed = from !== undefined && isAncestor(from) ? changedSince(from) : undefined;
  return reachedBy(changed, record, runs, fifth);
}

/** The runs that a record of this commit has to repeat: a change since the last record reaches them, or it
 * does not know them. */
export function runsDue(runs: readonly Run[]): readonly Run[] {
  const record = existsSync(path) ? readRecord() : undefined;
  const { reached, others } = reachedBy(changedAfter(record), record, runs, -1);
  return [...reached, ...others];
}

/** Files that differ from the commit of a record; undefined when it is not among those before this one. */
function changedAfter(record: Record | undefined): readonly string[] | undefined {
  return record !== undefined && isAncestor(record.commit) ? changedSince(record.commit) : undefined;
}

/** What `changed` reaches. @param changed files; undefined when they cannot be told */
export function reachedBy(
  changed: readonly string[] | undefined,
  record: Record | undefined,
  runs: readonly Run[],
  fifth: number,
): Reached {
  // On a slow day there is no time for all of it. Another engine of a file may be left: until a record proves
  // it, the next run has it as well.
  const isSecond = ({ file, nodes }: Run) =>
    nodes > 0 && runs.some((one) => one.file === file && one.nodes === 0);
  const everything = (because: string): Reached => ({
    reached: runs.filter((run) => !isSecond(run)),
    others: runs.filter(isSecond),
    why: [`everything: ${because}`],
  });
  if (record === undefined || changed === undefined)
    return everything("no record is of a commit before this one");
  const names = new Set(runs.filter(({ name }) => record.runs[name] === undefined).map(({ name }) => name));
  for (const file of changed) {
    const reached = runsReachedBy(file, record, runs);
    if (reached === undefined) return everything(`no record knows what ${file} reaches`);
    for (const name of reached) names.add(name);
  }
  const others = runs.filter(({ name, file }) => !names.has(name) && partOf(file) === fifth);
  const count = runs.filter(({ name }) => names.has(name)).length;
  return {
    reached: runs.filter(({ name }) => names.has(name)),
    others,
    why: [
      `${count} of ${runs.length} runs are reached by ${changed.length} changed files`,
      `${others.length} others: --fifth=${fifth}`,
    ],
  };
}

/** The runs of the last record that ran a file of the product. @throws Error when there is no record */
export function runsThatRan(file: string): string[] {
  return namesThatRan(file, readRecord());
}

/** No long test runs these. */
const withoutReach =
  /^(bench|docs|test\/mutants)\/.*(?<!\.md)$|^test\/(proved|unstable|timings)\.json$|^(biome|knip)\.json$|^\.gitignore$/;

/** The names of the runs that a changed file reaches; undefined for all. A helper of tests, and a new file of
 * the product, reach what the files reach that use it. */
function runsReachedBy(changed: string, record: Record, runs: readonly Run[]): string[] | undefined {
  const reached: string[] = [];
  const files = [changed];
  for (const file of files) {
    const names = runsOf(file, record, runs);
    const users = names ?? usersOf(file);
    if (names === undefined && (isOfAll(file) || (users.length === 0 && file === changed))) return undefined;
    if (names === undefined) files.push(...users.filter((user) => !files.includes(user)));
    else reached.push(...names);
  }
  return reached;
}

/** The names of the runs that a file is known to reach; undefined when only its users are known. */
function runsOf(file: string, record: Record, runs: readonly Run[]): string[] | undefined {
  if (/\.test\.ts$/.test(file)) return runs.filter((run) => run.file === file).map(({ name }) => name);
  if (withoutReach.test(file)) return [];
  if (file.endsWith(".md")) return runs.filter((run) => names(run, basename(file))).map(({ name }) => name);
  if (record.files.includes(file)) return namesThatRan(file, record);
  // What used a file that has gone has changed, too.
  return canHaveUsers(file) && !existsSync(join(root, file)) ? [] : undefined;
}

const canHaveUsers = (file: string) =>
  /^(server|cli|simulation|dashboard|client|test)\/.*\.(tsx?|css)$/.test(file);

/** Contracts are of all, because pages, server and tests share them; so is what runs the tests. */
function isOfAll(file: string): boolean {
  if (!canHaveUsers(file)) return true;
  runner ??= importedBy("test/run.ts", new Set(["test/run.ts"]));
  return file.startsWith("test/") && runner.has(file);
}

// Each is read once.
let runner: ReadonlySet<string> | undefined;
let sources: readonly { readonly path: string; readonly text: string }[] | undefined;

/** The files that import another one, start it or read it: they have its path or its name in quotes. */
function usersOf(file: string): string[] {
  sources ??= readSourceFiles().filter(({ path: source }) => /\.(tsx?|mjs)$/.test(source));
  const name = basename(file).replaceAll(".", "\\.");
  const quoted = new RegExp(`["'\`]([^"'\`\\n]*(?<![\\w.-])${name})["'\`]`, "g");
  return sources
    .filter(({ path: source, text }) =>
      text
        .matchAll(quoted)
        .some(([, used = ""]) => !used.startsWith(".") || join(dirname(source), used) === file),
    )
    .map(({ path: source }) => source);
}

function namesThatRan(file: string, record: Record): string[] {
  const index = record.files.indexOf(file);
  return Object.entries(record.runs)
    .filter(([, { ran }]) => ranBy(ran)(index))
    .map(([name]) => name);
}

/** Whether a run ran the file with an index. @param ran bits, in base64 */
function ranBy(ran: string): (index: number) => boolean {
  const bits = Buffer.from(ran, "base64");
  return (index) => ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

/** Whether a file of tests names a document, which it then reads. */
function names(run: Run, document: string): boolean {
  return readFileSync(join(root, run.file), "utf8").includes(document);
}

/** Adds to the record what runs proved. The proofs of those that were not due stay.
 * @param commit that they ran on @param runs all that there are @param due that had to run
 * @param proofs of those that passed */
export function writeRecord(
  commit: string,
  runs: readonly Run[],
  due: readonly Run[],
  proofs: readonly Proof[],
): void {
  const last = existsSync(path) ? readRecord() : undefined;
  const files = knownFiles();
  const kept = runs.filter((run) => !due.includes(run)).flatMap(({ name }) => proofIn(last, name) ?? []);
  const withBrowser = [...kept, ...proofs].flatMap((proof) => {
    const file = runs.find(({ name }) => name === proof.name)?.file;
    return file === undefined ? [] : { ...proof, ran: [...proof.ran, ...browserFilesOf(file, files)] };
  });
  const of = { commit, commitBefore: commitBefore(last), files };
  writeFileSync(path, `${JSON.stringify(recordOf(of, withBrowser), null, 1)}\n`);
}

/** Where nothing changed since the last record, more of the same commit are proved. */
function commitBefore(last: Record | undefined): string | null {
  const changed = changedAfter(last) ?? [];
  const isSame = last !== undefined && changed.every((file) => withoutReach.test(file));
  return isSame ? last.commitBefore : (last?.commit ?? null);
}

/** What runs proved, as the copy wrote it down. */
export function readProofs(file: string): readonly Proof[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Proof);
}

/** What a record says of a run; undefined when it does not know it. */
export function proofIn(record: Record | undefined, name: string): Proof | undefined {
  const known = record?.runs[name];
  if (record === undefined || known === undefined) return undefined;
  const hasRun = ranBy(known.ran);
  return { name, passed: known.passed, ran: record.files.filter((_, index) => hasRun(index)) };
}

/** The record of some proofs. */
export function recordOf(of: Omit<Record, "runs">, proofs: readonly Proof[]): Record {
  const bits = (ran: readonly string[]) => {
    const set = Buffer.alloc(Math.ceil(of.files.length / 8));
    for (const file of ran) {
      const index = of.files.indexOf(file);
      if (index !== -1) set[index >> 3] = (set[index >> 3] ?? 0) | (1 << (index & 7));
    }
    return set.toString("base64");
  };
  const sorted = proofs.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const runs = sorted.map(({ name, passed, ran }) => [name, { passed, ran: bits(ran) }] as const);
  return { ...of, runs: Object.fromEntries(runs) };
}

/** The files of the product that a record can know. Scripts of the launcher, for example, do not count. */
function knownFiles(): string[] {
  return listPaths().filter((file) => isCounted(file) || /^(dashboard|client)\//.test(file));
}

/** The files that run in a browser as well, and cannot count there: a file of tests that opens a browser or
 * is about them runs all, another one those that it imports. */
function browserFilesOf(file: string, files: readonly string[]): string[] {
  const imported = importedBy(file);
  const opensBrowser = imported.has("test/dashboard/chromium.ts");
  const runsAll = (folder: string) => opensBrowser || file.startsWith(`test/${folder}/`);
  return files.filter((one) => {
    const folder = one.slice(0, one.indexOf("/"));
    return (folder === "dashboard" || folder === "client") && (runsAll(folder) || imported.has(one));
  });
}

/** All files that a file imports, directly or not. */
function importedBy(file: string, found = new Set<string>()): Set<string> {
  const transpiler = new Bun.Transpiler({ loader: file.endsWith("x") ? "tsx" : "ts" });
  for (const { path: specifier } of transpiler.scanImports(readFileSync(join(root, file), "utf8"))) {
    if (!specifier.startsWith(".")) continue;
    const imported = join(dirname(file), specifier);
    if (found.has(imported) || !/\.tsx?$/.test(imported)) continue;
    found.add(imported);
    importedBy(imported, found);
  }
  return found;
}

function readRecord(): Record {
  return JSON.parse(readFileSync(path, "utf8")) as Record;
}

function partOf(file: string): number {
  return new Bun.CryptoHasher("sha256").update(file).digest().readUInt32BE() % parts;
}

/** Files that differ from a commit, and files that git does not know yet. */
function changedSince(commit: string): string[] {
  const names = [
    git("diff", "--name-only", "--no-renames", commit),
    git("ls-files", "--others", "--exclude-standard"),
  ];
  return names.flatMap((lines) => lines.split("\n").filter(Boolean));
}

function isAncestor(commit: string): boolean {
  return Bun.spawnSync(["git", "merge-base", "--is-ancestor", commit, "HEAD"], { cwd: root }).success;
}

/** The commit that a record proves. @throws Error when files differ from it */
export function cleanCommit(): string {
  const changes = git("status", "--porcelain");
  if (changes !== "")
    throw new Error(`--record proves a commit, and these files differ from it:\n${changes}`);
  return git("rev-parse", "HEAD");
}

function git(...words: readonly string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(["git", ...words], { cwd: root });
  if (!success) throw new Error(`git ${words.join(" ")} failed: ${stderr.toString()}`);
  return stdout.toString().trimEnd();
}
