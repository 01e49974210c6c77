/**
 * Does what is due of uploaded files on this machine: reads new files, runs dry runs and imports, and deletes
 * files that are too old. What is due is in the ledger, so a restart goes on: an import from the rows that
 * are stored, a dry run from its begin.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { uploadLimits } from "../../../contract/api/imports.ts";
import { Refusal } from "../../../contract/refusal.ts";
import { heldVerdict, type Importer, isRejection } from "../../intake/importer.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { ImportRecord } from "../../ledger/stores/imports.ts";
import type { Logger } from "../../process/log.ts";
import { every } from "../../process/time.ts";
import { importsFolder, UploadFolder } from "./folder.ts";
import { alike } from "./reading/first-rows.ts";
import { holdsEvents } from "./reading/plan.ts";
import { RejectedFile } from "./reading/rejected-file.ts";
import { inBrowser, whyFailed } from "./receive.ts";
import type { ActiveState, Upload } from "./store.ts";
import type { ReadChunk } from "./upload-thread.ts";
import { UploadThread } from "./upload-thread.ts";
import type { Planned } from "./upload-worker.ts";

interface RunnerParts {
  readonly ledger: Pick<Ledger, "uploads">;
  readonly importer: Pick<Importer, "begin" | "ofFile" | "append" | "finish" | "check">;
  readonly dataDir: string;
  readonly isCluster: boolean;
  readonly log: Logger;
  readonly nowMs: () => number;
}

/** Files that are worked on at once: each has a thread. */
const maxSteps = 2;
/** After a chunk that was not taken. */
const triesAgainMs = 500;

/** A step of a file that goes on. */
interface Step {
  share: number;
  waitsFor: string | null;
  thread?: UploadThread;
  readonly ends: Promise<void>;
}

/** The step was ended from outside: the file was deleted, or the service stops. */
class Ended extends Error {}

export class ImportRunner {
  readonly folder: string;
  readonly node: string | null;
  readonly #parts: RunnerParts;
  readonly #steps = new Map<number, Step>();
  /** Folders of files that are being received. */
  readonly #receiving = new Set<string>();
  #looking: Promise<void> | undefined;
  #stopLooking: () => void = () => undefined;
  #isStopped = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.folder = importsFolder(parts.dataDir);
    this.node = parts.isCluster ? nodeName(this.folder) : null;
  }

  /** Looks for what is due every `ms` milliseconds. */
  start(ms: number): void {
    this.#stopLooking = every(ms, () => this.wake());
    this.wake();
  }

  /** Looks for what is due now. */
  wake(): void {
    if (this.#looking !== undefined || this.#isStopped) return;
    this.#looking = this.#look()
      .catch((error: unknown) =>
        this.#parts.log.warn({ err: error }, "uploaded files will be looked at again"),
      )
      .finally(() => {
        this.#looking = undefined;
      });
  }

  /** The file's folder stays although no record names it, until the function that is returned is called. */
  receiving(name: string): () => void {
    this.#receiving.add(name);
    return () => this.#receiving.delete(name);
  }

  /** How far the present step of a file is; undefined when none goes on. */
  progressOf(id: number): Pick<Step, "share" | "waitsFor"> | undefined {
    return this.#steps.get(id);
  }

  /** Ends all steps. The next start goes on with them. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopLooking();
    await this.#looking;
    for (const { thread } of this.#steps.values()) thread?.end();
    await Promise.all([...this.#steps.values()].map(({ ends }) => ends));
  }

  async #look(): Promise<void> {
    const { ledger, nowMs } = this.#parts;
    // Before the records: a folder that is new since then may have none yet.
    const names = namesIn(this.folder);
    const receiving = new Set(this.#receiving);
    const uploads = await ledger.uploads.ofNode(this.node);
    const here: Upload[] = [];
    for (const upload of uploads) {
      const isOld = (upload.fileUntilMs ?? 0) <= nowMs();
      if (!isOld && existsSync(join(this.folder, upload.folder))) here.push(upload);
      else await ledger.uploads.fileGone(upload.id);
    }
    const kept = new Set(here.map(({ folder }) => folder));
    for (const name of names) {
      if (kept.has(name) || receiving.has(name) || this.#receiving.has(name)) continue;
      await rm(join(this.folder, name), { recursive: true, force: true });
    }
    for (const [id, { thread }] of this.#steps) if (!here.some((one) => one.id === id)) thread?.end();
    for (const upload of here) {
      if (this.#isStopped || this.#steps.size >= maxSteps) break;
      if (isActive(upload.state) && !this.#steps.has(upload.id)) this.#begin(upload, upload.state);
    }
  }

  #begin(upload: Upload, state: ActiveState): void {
    const { promise: ends, resolve } = Promise.withResolvers<void>();
    const step: Step = { share: 0, waitsFor: null, ends };
    this.#steps.set(upload.id, step);
    void this.#perform(upload, state, step).finally(() => {
      step.thread?.end();
      this.#steps.delete(upload.id);
      resolve();
    });
  }

  async #perform(upload: Upload, state: ActiveState, step: Step): Promise<void> {
    const { ledger, log, nowMs } = this.#parts;
    const folder = new UploadFolder(this.folder, upload.folder);
    const settle = (to: Upload["state"]) => ledger.uploads.settle(upload.id, state, to, nowMs());
    try {
      folder.forget("failure");
      const thread = new UploadThread(this.folder, upload.folder);
      step.thread = thread;
      if (state === "reading") await this.#read(upload, folder, step, thread);
      else if (state === "checking") await this.#check(upload, folder, step, thread);
      else await this.#run(upload, folder, step, thread);
      await settle(({ reading: "ready", checking: "checked", running: "done" } as const)[state]);
    } catch (error) {
      if (this.#isStopped || error instanceof Ended || !existsSync(folder.path)) return;
      const failure = whyFailed(error);
      if (failure === undefined)
        log.error({ err: error, upload: upload.id }, "an uploaded file could not be worked on");
      folder.failure = failure ?? "An unexpected error occurred: try again.";
      await settle("failed").catch((failed: unknown) =>
        log.warn({ err: failed }, "an upload stays as it is"),
      );
    }
  }

  async #read(upload: Upload, folder: UploadFolder, step: Step, thread: UploadThread): Promise<void> {
    if (folder.prepared !== undefined) return;
    await thread.prepare(upload.fileName, upload.bytes, (share) => {
      step.share = Math.min(1, share);
    });
    await rm(folder.sent, { force: true });
  }

  async #check(upload: Upload, folder: UploadFolder, step: Step, thread: UploadThread): Promise<void> {
    folder.forget("check");
    const { importer } = this.#parts;
    const known = await this.#knownImports(upload, await thread.plan(mappingOf(upload), this.#parts.nowMs()));
    const before = known.find((record) => !beginsAgain(record));
    const counted = new Counted(before);
    for await (const chunk of thread.rows(before?.rowsDone ?? 0, [])) {
      await this.#goOn(upload, "checking");
      counted.add(chunk, await importer.check(upload.organization, chunk.rows));
      step.share = chunk.share;
    }
    folder.check = counted.outcome();
  }

  async #run(upload: Upload, folder: UploadFolder, step: Step, thread: UploadThread): Promise<void> {
    const { importer, ledger } = this.#parts;
    const { organization, fileName } = upload;
    const planned = await thread.plan(mappingOf(upload), this.#parts.nowMs());
    await this.#knownImports(upload, planned);
    const { sha256, text } = planned;
    let record = await importer.begin({ organization, sha256, mapping: text, fileName });
    await ledger.uploads.begun(upload.id, record.id);
    if (record.finishedAtMs === null) {
      const rejected = new RejectedFile(folder.rejectedLines, record);
      const unwritten = new Map(rejected.unwritten.map(({ row, reason }) => [row, reason]));
      try {
        for await (const chunk of thread.rows(record.rowsDone, [...unwritten.keys()])) {
          for (const [row, line] of chunk.passed) rejected.add({ line, reason: unwritten.get(row) ?? "" });
          record = await this.#append(upload, step, record, chunk, rejected);
          step.share = chunk.share;
        }
      } finally {
        rejected.close(false);
      }
      await importer.finish(record.id);
    }
    if (record.rejected > 0 && existsSync(folder.rejectedLines)) await thread.writeRejected();
  }

  /** Stores a chunk: for users with very many held events a part at a time. */
  async #append(
    upload: Upload,
    step: Step,
    before: ImportRecord,
    { rows, lines }: Pick<ReadChunk, "rows" | "lines">,
    rejected: RejectedFile,
  ): Promise<ImportRecord> {
    let record = before;
    for (let from = 0; from < rows.length; ) {
      await this.#goOn(upload, "running");
      const appended = await this.#parts.importer.append(record.id, record.rowsDone, rows.slice(from));
      if ("closedBecause" in appended) {
        step.waitsFor = appended.closedBecause;
        await Bun.sleep(triesAgainMs);
        continue;
      }
      step.waitsFor = null;
      const taken = appended.rowsDone - record.rowsDone;
      if (appended.lastFromRow !== record.rowsDone || taken < 1 || taken > rows.length - from) {
        throw new Refusal("Another import of this file is under way: wait until it ends.");
      }
      for (const { row, reason } of appended.lastRejected) {
        rejected.add({ line: lines[from + row - record.rowsDone] ?? 0, reason });
      }
      from += taken;
      record = appended;
    }
    return record;
  }

  /** @throws Ended when the file was deleted meanwhile, or the service stops */
  async #goOn({ id }: Upload, state: ActiveState): Promise<void> {
    // Requests that came meanwhile are answered first.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#isStopped || !(await this.#parts.ledger.uploads.isStill(id, state))) throw new Ended();
  }

  /** The imports of this file under this mapping. @throws Refusal when its events were imported under another
   * one: they would be stored twice. Users who are imported again are merged */
  async #knownImports({ organization }: Upload, planned: Planned): Promise<readonly ImportRecord[]> {
    const ofFile = await this.#parts.importer.ofFile(organization, planned.sha256);
    const known = ofFile.filter(({ mapping }) => mapping === planned.text);
    if (known.length > 0 || !planned.holdsEvents) return known;
    const other = ofFile.find((record) => record.stored > 0 && holdsEvents(record));
    if (other === undefined) return known;
    throw new Refusal(
      `${other.stored} events of this file were imported under another mapping (${new Date(other.startedAtMs).toISOString()}), and would be stored twice: choose that mapping again.`,
    );
  }
}

/** Whether the next run of an import begins at the file's begin. */
function beginsAgain({ finishedAtMs, stored }: ImportRecord): boolean {
  return finishedAtMs !== null && stored === 0;
}

function mappingOf({ mapping }: Upload) {
  if (mapping === null) throw new Refusal("The file has no mapping: check it first.");
  return mapping;
}

function isActive(state: Upload["state"]): state is ActiveState {
  return state === "reading" || state === "checking" || state === "running";
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => name !== nodeFile) : [];
}

const nodeFile = "node";

/** The name of the data folder among those of a cluster: several may be on one machine, and a container may
 * get another host name. */
function nodeName(folder: string): string {
  const path = join(folder, nodeFile);
  if (existsSync(path)) return readFileSync(path, "utf8");
  mkdirSync(folder, { recursive: true });
  const name = `${hostname()}-${randomBytes(2).toString("hex")}`;
  writeFileSync(path, name);
  return name;
}

interface Reason {
  readonly reason: string;
  readonly line: number;
  rows: number;
}

/** The outcome of a dry run. */
class Counted {
  readonly #reasons = new Map<string, Reason>();
  #rows = 0;
  #stored = 0;
  #duplicates = 0;
  #held = 0;
  #ignored = 0;
  #rejected = 0;

  /** @param before the import of the file, as far as it was run */
  constructor(before: ImportRecord | undefined) {
    if (before === undefined) return;
    this.#rows = before.rowsDone;
    this.#duplicates = before.stored + before.duplicates;
    this.#rejected = before.rejected;
    this.#ignored = before.rowsDone - this.#duplicates - before.rejected;
  }

  add({ lines }: Pick<ReadChunk, "lines">, verdicts: readonly string[]): void {
    verdicts.forEach((verdict, index) => {
      this.#rows += 1;
      if (isRejection(verdict)) this.#reject(verdict, lines[index] ?? 0);
      else if (verdict === "duplicate") this.#duplicates += 1;
      else if (verdict.startsWith("ignored")) this.#ignored += 1;
      else this.#stored += 1;
      if (verdict === heldVerdict) this.#held += 1;
    });
  }

  #reject(verdict: string, line: number): void {
    this.#rejected += 1;
    const key = alike(verdict);
    const known = this.#reasons.get(key);
    if (known !== undefined) known.rows += 1;
    else if (this.#reasons.size < uploadLimits.reasons) {
      this.#reasons.set(key, { reason: inBrowser(verdict), line, rows: 1 });
    }
  }

  outcome() {
    return {
      rows: this.#rows,
      stored: this.#stored,
      duplicates: this.#duplicates,
      held: this.#held,
      ignored: this.#ignored,
      rejected: this.#rejected,
      reasons: [...this.#reasons.values()].sort((a, b) => b.rows - a.rows),
    };
  }
}
