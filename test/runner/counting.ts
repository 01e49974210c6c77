/**
 * Which files of the product a file of tests runs, counted in a copy of the project (counting-copy.ts) in
 * which every file writes down that it ran. Bun's own coverage sees one process; this sees the servers,
 * commands and workers, too, that a file of tests starts.
 */
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../tidy/source-files.ts";

/** In the copy: what ran, by run or by process group. */
export const countingFolder = ".counting";
const folder = join(root, countingFolder);
const filesList = join(folder, "files.json");

/** What the project and its copy tell each other. */
export const toldIn = (copy: string) => ({
  /** The names of the runs that the copy has to run. */
  due: join(copy, countingFolder, "due.json"),
  /** What each run proved, a line each, written as soon as it has passed. */
  proofs: join(copy, countingFolder, "proofs.jsonl"),
});

/** Whether this is the copy that counts. */
export const isCounting = existsSync(filesList);

/** The variable with the file that the processes of a file of tests write to. */
export const countingVariable = "TEST_REACH";

/** Whether a file of the product is made to count. Contracts are a part of the pages, too, where nothing can
 * be written down. */
export const isCounted = (path: string) => /^(server|cli|simulation)\/.*\.ts$/.test(path);

/** A file of the product that counts. */
export interface CountedFile {
  readonly path: string;
  /** A file of constants runs when it is imported. In others a function has to run: a server imports every
   * file. */
  readonly hasFunctions: boolean;
}

/** What is written down when a file is imported, and when one of its functions runs. @param index of the
 * file */
export const idsOf = (index: number) => ({ imported: 2 * index, ran: 2 * index + 1 });

/** The tables of the warehouse are made once for all servers of a run. */
export const makingTables = "tables";

/** The environment of a process, in the copy. @param name the name of a run, or of what is made for
 * several */
export function countingEnvironment(name: string): Record<string, string> {
  return isCounting ? { [countingVariable]: outputOf(name) } : {};
}

/** Keeps what ran until now as what made a thing that several files of tests use, such as a scored folder. */
export function countAsMaking(maker: string): void {
  const file = process.env[countingVariable];
  if (isCounting && file !== undefined) cpSync(file, outputOf(maker));
}

/** Counts for the running file of tests what made a thing that it uses */
export function countAlso(maker: string): void {
  const file = process.env[countingVariable];
  if (isCounting && file !== undefined && existsSync(outputOf(maker))) {
    appendFileSync(file, readFileSync(outputOf(maker)));
  }
}

const outputOf = (name: string) => join(folder, name.replaceAll(/[/ ]/g, "-"));

/** The files of the product that a run ran, in the copy. @param group the process group of its file of
 * tests */
export function ranFiles(name: string, group: number): string[] {
  const ofGroup = readdirSync(folder).filter((file) => file.startsWith(`${group}.`));
  const own = filesIn([outputOf(name), ...ofGroup.map((file) => join(folder, file))]);
  return own.some((path) => path.startsWith("server/warehouse/"))
    ? [...new Set([...own, ...filesIn([outputOf(makingTables)])])]
    : own;
}

function filesIn(outputs: readonly string[]): string[] {
  const files: readonly CountedFile[] = JSON.parse(readFileSync(filesList, "utf8"));
  const ids = new Set(
    outputs
      .filter((output) => existsSync(output))
      .flatMap((output) => readFileSync(output, "utf8").split("\n").filter(Boolean).map(Number)),
  );
  return files.flatMap(({ path, hasFunctions }, index) => {
    const { imported, ran } = idsOf(index);
    return ids.has(hasFunctions ? ran : imported) ? [path] : [];
  });
}
