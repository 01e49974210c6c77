/**
 * Files of tests that failed once and passed when they ran again, alone and with the same seed. A run may
 * have two of them and still pass. They are kept in test/unstable.json, and mended before anything else: a
 * file that is in it and fails again is red.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../tidy/source-files.ts";

/** Where they are kept. */
export const unstableFile = join(root, "test/unstable.json");
/** So many a run may have. */
export const maxUnstable = 2;

/** What is kept of an unstable file. */
interface Unstable {
  readonly seed: number;
  /** What the run printed that failed. */
  readonly output: string;
}

/** Promises about data: one failure in a thousand runs is a loss in production. */
const promises =
  /durability|kill|crash|ledger|journal|inbox|eras|delet|retries|message-ids|exactly|isolation|tenant|stranger|backup|restore|releases|upgrade|replay|loader/;
const words =
  /\b(lost|loses?|losing|twice|doubled?|doubling|duplicates?|exactly once|foreign|(an)?other('s)? organizations?|other tenants?)\b/i;

/** Why a failure of a file is a failure, whatever a second run says; undefined when it may run again.
 * @param failures the failing tests with what they printed @param kept the file of unstable files */
export function whyRed(
  file: string,
  {
    output,
    failures,
    kept,
  }: { readonly output: string; readonly failures: readonly string[]; readonly kept: string },
): string | undefined {
  if (readUnstable(kept)[file] !== undefined) return "it is in test/unstable.json";
  if (promises.test(file)) return "it proves a promise about data";
  const text = readFileSync(join(root, file), "utf8");
  if (/\bSEED=\d/.test(output) || text.includes('"fast-check"')) return "its input is random";
  const found = failures.map((failure) => words.exec(failure)?.[0]).find((word) => word !== undefined);
  return found === undefined ? undefined : `it says "${found}"`;
}

/** Keeps a file in test/unstable.json. */
export function keepUnstable(kept: string, file: string, unstable: Unstable): void {
  writeFileSync(kept, `${JSON.stringify({ ...readUnstable(kept), [file]: unstable }, null, 2)}\n`);
}

function readUnstable(kept: string): Readonly<{ [file: string]: Unstable }> {
  return existsSync(kept) ? JSON.parse(readFileSync(kept, "utf8")) : {};
}
