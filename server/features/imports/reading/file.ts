/** The file itself: its name, its contents, and whether it has changed. */
import { createReadStream, type Stats, statSync } from "node:fs";
import { basename } from "node:path";
import { Refusal } from "../../../../contract/refusal.ts";
import { type Format, formats } from "./row.ts";

export class ImportFile {
  readonly path: string;
  readonly #stats: Stats;

  /** @throws Refusal when there is no such file */
  constructor(path: string) {
    this.path = path;
    this.#stats = stats(path);
    if (!this.#stats.isFile()) throw new Refusal(`${path} is not a file: give the path of one.`);
  }

  get name(): string {
    return basename(this.path);
  }

  get bytes(): number {
    return this.#stats.size;
  }

  /** SHA-256 of the content, hexadecimal. */
  async sha256(): Promise<string> {
    const hasher = new Bun.CryptoHasher("sha256");
    for await (const chunk of createReadStream(this.path, { highWaterMark: 1024 * 1024 }))
      hasher.update(chunk);
    this.refuseChanged();
    return hasher.digest("hex");
  }

  /** @param rowsDone how many of its rows were imported before
   * @throws Refusal when the file was changed since it was opened: its rows are others now */
  refuseChanged(rowsDone = 0): void {
    const now = stats(this.path);
    const { size, mtimeMs, ino } = this.#stats;
    if (now.size === size && now.mtimeMs === mtimeMs && now.ino === ino) return;
    const copy = "import a copy that stays as it is";
    throw new Refusal(
      `${this.path} was changed while it was imported: ` +
        `${rowsDone === 0 ? copy : `${copy}, without ${doneBefore(rowsDone)}`}.`,
    );
  }

  /** @throws Refusal when the report would be written over the file itself */
  refuseAsReport(path: string): void {
    const report = statSync(path, { throwIfNoEntry: false });
    if (report?.ino !== this.#stats.ino || report.dev !== this.#stats.dev) return;
    throw new Refusal(`the report ${path} is the file that is imported: give --report another path.`);
  }

  /** The format by the file's name, and whether it is compressed. @throws Refusal when the name gives none
   * and no format is given */
  format(given: Format | undefined): { readonly format: Format; readonly gzip: boolean } {
    const name = this.name.toLowerCase();
    const gzip = name.endsWith(".gz");
    const extension = name.replace(/\.gz$/, "").split(".").at(-1) ?? "";
    const format = given ?? byExtension[extension];
    if (format === undefined) {
      throw new Refusal(
        `the name ${this.name} does not say what is in it: give --format ${formats.join(", or ")}.`,
      );
    }
    if (format === "parquet" && gzip)
      throw new Refusal("Parquet is compressed in itself: inflate the .gz first.");
    return { format, gzip };
  }
}

/** The rows to leave out of a repaired file: it is another file, whose imported rows are unknown. */
export function doneBefore(rows: number): string {
  return rows === 1 ? "its first row, which is imported" : `its first ${rows} rows, which are imported`;
}

const byExtension: Readonly<Record<string, Format>> = {
  csv: "csv",
  tsv: "csv",
  jsonl: "jsonl",
  ndjson: "jsonl",
  parquet: "parquet",
};

function stats(path: string): Stats {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new Refusal(`there is no file ${path}.`);
  return found;
}
