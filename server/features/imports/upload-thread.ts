/** A thread that reads one uploaded file for one step. */
import type { SentMapping } from "../../../contract/api/imports.ts";
import { Refusal } from "../../../contract/refusal.ts";
import type { Chunk } from "./reading/chunks.ts";
import type { Planned, Said, Told } from "./upload-worker.ts";

/** Rows of the file. */
export interface ReadChunk extends Chunk {
  /** How much of the file is read, 0 to 1. */
  readonly share: number;
  /** Numbers and lines of rows that an earlier run has done. */
  readonly passed: readonly (readonly [number, number])[];
}

export class UploadThread {
  readonly #worker: Worker;
  readonly #place: { readonly folder: string; readonly name: string };
  readonly #said: Said[] = [];
  #failed: Error | undefined;
  #wake: () => void = () => undefined;

  /** @param folder of all files @param name of the file's folder there */
  constructor(folder: string, name: string, script = new URL("./upload-worker.ts", import.meta.url)) {
    this.#place = { folder, name };
    this.#worker = new Worker(script);
    this.#worker.onmessage = ({ data }: MessageEvent<Said>) => {
      this.#said.push(data);
      this.#wake();
    };
    this.#worker.onerror = ({ message }) => this.#fail(new Error(message));
    this.#worker.addEventListener("close", () => this.#fail(new Error("the thread ended")));
  }

  /** Inflates the file and reads its first rows. @throws Refusal when it cannot be read */
  async prepare(fileName: string, bytes: number, onShare: (share: number) => void): Promise<void> {
    this.#tell({ task: "prepare", ...this.#place, fileName, bytes });
    for (let said = await this.#next(); !("done" in said); said = await this.#next()) {
      if ("share" in said) onShare(said.share);
    }
  }

  /** What the file is under this mapping. @throws Refusal when the mapping does not fit it */
  async plan(mapping: SentMapping, nowMs: number): Promise<Planned> {
    this.#tell({ task: "plan", ...this.#place, mapping, nowMs });
    const said = await this.#next();
    if (!("planned" in said)) throw new Error("the thread gave no plan");
    return said.planned;
  }

  /** The rows that are not done yet, of the file that was planned. While one chunk is worked on, the next is
   * read. @param passed numbers of done rows whose lines are wanted
   * @throws Refusal where the file cannot be read further, after the rows before it */
  async *rows(rowsDone: number, passed: readonly number[]): AsyncIterable<ReadChunk> {
    this.#tell({ task: "rows", rowsDone, passed });
    for (let said = await this.#next(); !("done" in said); said = await this.#next()) {
      if (!("chunk" in said)) throw new Error("the thread gave no rows");
      this.#tell({ task: "next" });
      const { chunk, share } = said;
      yield { rows: chunk.rows, lines: chunk.lines, share, passed: said.passed };
    }
  }

  /** Writes the rejected rows with their cells. */
  async writeRejected(): Promise<void> {
    this.#tell({ task: "rejected", ...this.#place });
    await this.#next();
  }

  end(): void {
    this.#worker.terminate();
    this.#fail(new Error("the thread was ended"));
  }

  #tell(told: Told): void {
    this.#worker.postMessage(told);
  }

  async #next(): Promise<Exclude<Said, { readonly failure: string }>> {
    while (true) {
      const said = this.#said.shift();
      if (said !== undefined) {
        if (!("failure" in said)) return said;
        throw said.error === undefined ? new Refusal(said.failure) : new Error(said.error);
      }
      if (this.#failed !== undefined) throw this.#failed;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #fail(error: Error): void {
    this.#failed ??= error;
    this.#wake();
  }
}
