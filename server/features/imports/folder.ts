/** The folder of an uploaded file: the file itself, what was read of it, and its rejected rows. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FileDetail } from "../../../contract/api/imports.ts";
import { unfinishedPath } from "../../process/files.ts";

/** How the content of an uploaded file is written. */
export interface ContentForm {
  readonly format: "csv" | "jsonl";
  readonly delimiter: string;
}

/** What a file's first rows tell. */
export interface Prepared extends ContentForm {
  readonly preview: NonNullable<FileDetail["preview"]>;
}

type Check = NonNullable<FileDetail["check"]>;

/** The folder of all uploaded files. */
export function importsFolder(dataDir: string): string {
  return join(dataDir, "imports");
}

export class UploadFolder {
  readonly path: string;

  constructor(folder: string, name: string) {
    this.path = join(folder, name);
  }

  /** The file as it was sent, until it is inflated. */
  get sent(): string {
    return join(this.path, "sent");
  }

  /** The file inflated. Its ending tells the readers how it is written. */
  content(format: ContentForm["format"]): string {
    return join(this.path, `content.${format}`);
  }

  /** The rejected rows of the run, by line. */
  get rejectedLines(): string {
    return join(this.path, "rejected.jsonl");
  }

  /** The rejected rows with their cells; there once the run has ended. */
  get rejectedRows(): string {
    return join(this.path, "rejected.csv");
  }

  /** Undefined before the first rows are read. */
  get prepared(): Prepared | undefined {
    return this.#read<Prepared>("prepared.json");
  }

  set prepared(prepared: Prepared) {
    this.#write("prepared.json", prepared);
  }

  /** Null before a dry run. */
  get check(): Check | null {
    return this.#read<Check>("check.json") ?? null;
  }

  set check(check: Check) {
    this.#write("check.json", check);
  }

  /** Why the last step failed. Null when it did not. */
  get failure(): string | null {
    return this.#read<{ readonly text: string }>("failure.json")?.text ?? null;
  }

  set failure(text: string) {
    this.#write("failure.json", { text });
  }

  /** Forgets the outcome of earlier steps. */
  forget(...names: readonly ("check" | "failure")[]): void {
    for (const name of names) rmSync(join(this.path, `${name}.json`), { force: true });
  }

  #read<Value>(name: string): Value | undefined {
    try {
      return JSON.parse(readFileSync(join(this.path, name), "utf8")) as Value;
    } catch {
      return undefined;
    }
  }

  #write(name: string, value: object): void {
    const path = join(this.path, name);
    writeFileSync(unfinishedPath(path), JSON.stringify(value));
    renameSync(unfinishedPath(path), path);
  }
}
