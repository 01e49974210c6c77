/**
 * The runs of files of tests: which command runs a file, and on which engines. The file's name says the
 * command:
 *
 * | name             | runs in                                                  |
 * | ---------------- | -------------------------------------------------------- |
 * | `x.check.test.ts` | `npm run check`: it only reads the code                  |
 * | `x.test.ts`      | `npm test`: what proves that a change is sound           |
 * | `x.long.test.ts` | `npm run test:long`                                      |
 *
 * A line at the head of the file says what it needs beyond the embedded engines and temporary files in
 * memory:
 *
 *     export const runsOn = { postgres: true, nodes: 3, disk: true };
 *
 * - `postgres`: `npm run test:long` runs the file again on PostgreSQL and ClickHouse.
 * - `nodes: 3`: and again on three nodes, because its answers must not depend on the node that is asked.
 * - `disk`: its temporary files lie on the disk, because it fills the disk or they are gigabytes.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export type Tier = "check" | "test" | "long";

const root = join(import.meta.dir, "..");

/** What a file says of itself in its line `runsOn`. */
interface RunsOn {
  readonly postgres?: true;
  readonly nodes?: number;
  readonly disk?: true;
}

/** A file of tests, and the engines that it runs on. */
export interface Run {
  /** `test/specification/track.test.ts on three nodes` */
  readonly name: string;
  readonly file: string;
  /** Further files that run in the same process, after this one. */
  readonly beside?: readonly string[];
  /** The number of nodes on PostgreSQL. 0 for the embedded engines. */
  readonly nodes: number;
}

/** Every file of tests of the project. */
export function listTestFiles(): string[] {
  return [...new Bun.Glob("test/**/*.test.ts").scanSync({ cwd: root })].sort();
}

/** The command that runs a file. */
export function tierOf(file: string): Tier {
  const [, tier = "test"] = /\.(check|long)\.test\.ts$/.exec(file) ?? [];
  return tier as Tier;
}

const line = /^export const runsOn\b.*$/m;
const form = /^export const runsOn = \{ ((?:(?:postgres: true|nodes: 3|disk: true)(?:, (?!\}))?)+) \};$/;

/** What a file says of itself. @param text the file's @throws Error when its line has another form */
export function runsOn(text: string): RunsOn {
  const written = line.exec(text)?.[0];
  if (written === undefined) return {};
  const properties = form.exec(written)?.[1];
  if (properties === undefined) throw new Error(`no run is meant by "${written}": see test/runs.ts`);
  return JSON.parse(`{${properties.replaceAll(/\w+(?=:)/g, '"$&"')}}`) as RunsOn;
}

const inFile = (file: string) => runsOn(readFileSync(join(root, file), "utf8"));

/** Whether the temporary files of a file of tests lie on the disk. */
export function isOnDisk(file: string): boolean {
  return inFile(file).disk === true;
}

/** The runs of a tier. Files run again on a cluster's engines in the long tier, whatever their own is. */
export function runsOf(files: readonly string[], tier: Tier): Run[] {
  const embedded = files
    .filter((file) => tierOf(file) === tier)
    .map((file): Run => ({ name: file, file, nodes: 0 }));
  return tier === "long" ? [...embedded, ...files.flatMap(clusterRuns)] : embedded;
}

function clusterRuns(file: string): Run[] {
  const { postgres, nodes } = inFile(file);
  return [
    ...(postgres === undefined ? [] : [{ name: `${file} on PostgreSQL`, file, nodes: 1 }]),
    ...(nodes === undefined ? [] : [{ name: `${file} on three nodes`, file, nodes }]),
  ];
}

/** Each has a browser, and keeps three quarters of a core busy. Other files run beside them. */
const processesOfPages = 2;

/** Whether a run shares the scored demonstration and a browser with others. */
export function isOfPages({ file, nodes }: Run): boolean {
  return nodes === 0 && tierOf(file) === "long" && file.startsWith("test/dashboard/");
}

/** Puts files that share a process into few runs, and leaves the others as they are: the long files of pages
 * share a server with the scored demonstration and a browser in each of so many processes. Files without an
 * engine begin faster in one. */
export function withSharedProcesses(runs: readonly Run[]): Run[] {
  const pagesTogether = shared(runs, isOfPages, processesOfPages);
  return shared(pagesTogether, ({ file }) => file.startsWith("test/pure/"), 1);
}

function shared(runs: readonly Run[], isSharing: (run: Run) => boolean, processes: number): Run[] {
  const sharing = runs.filter((run) => run.beside === undefined && isSharing(run)).map(({ file }) => file);
  const dealt = Array.from({ length: processes }, (_, at) => sharing.filter((_, n) => n % processes === at));
  const together = dealt.flatMap(([file, ...beside]): Run[] =>
    file === undefined ? [] : [{ name: [file, ...beside].join(" "), file, beside, nodes: 0 }],
  );
  return [...together, ...runs.filter((run) => run.beside !== undefined || !isSharing(run))];
}

/**
 * The runs of `npm test` or `npm run test:long`. With words, only the runs whose name has a word that begins
 * with one of them. Files of the check belong to `npm test` when a word names them.
 */
export function chosenRuns(files: readonly string[], isLong: boolean, words: readonly string[]): Run[] {
  if (words.length === 0) return runsOf(files, isLong ? "long" : "test");
  const runs = isLong ? runsOf(files, "long") : [...runsOf(files, "check"), ...runsOf(files, "test")];
  return runs.filter(({ name }) => words.some((word) => beginsAWord(name, word)));
}

/** Whether a text is in a name from the begin of a word on: `house` is not in
 * `test/warehouse/rollups.long.test.ts`. */
function beginsAWord(name: string, text: string): boolean {
  for (let at = name.indexOf(text); at !== -1; at = name.indexOf(text, at + 1)) {
    if (at === 0 || /[^a-z0-9]/i.test(name.charAt(at - 1)) || /^[^a-z0-9]/i.test(text)) return true;
  }
  return false;
}
