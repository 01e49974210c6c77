/** What to do about a ledger that SQLite or the file system refuses, in a sentence in place of a stack
 * trace. */
import { Refusal } from "../../../contract/refusal.ts";

const sentences: readonly (readonly [RegExp, (file: string, code: string) => string])[] = [
  [
    /^SQLITE_(?:NOTADB|CORRUPT)/,
    (file, code) => `${file} is no ledger, or damaged (${code}): restore a backup into another folder.`,
  ],
  [
    /^SQLITE_(?:READONLY|CANTOPEN|PERM|AUTH)|^(?:EROFS|EACCES|EPERM)$/,
    (file, code) =>
      `${file} cannot be written (${code}): mount DATA_DIR for writing, and let this user write there.`,
  ],
  [
    /^SQLITE_FULL|^(?:ENOSPC|EDQUOT)$/,
    (file, code) => `the disk of ${file} is full (${code}): make room, and start again.`,
  ],
  [
    /^SQLITE_IOERR|^EIO$/,
    (file, code) =>
      `the disk of ${file} cannot be read or written (${code}): check the disk, and restore a backup if the file is lost.`,
  ],
  [
    /^SQLITE_(?:BUSY|LOCKED)/,
    (file, code) => `another program holds ${file} (${code}): end it, because only Rekindle may open it.`,
  ],
];

/** The refusal for an error about the ledger's file. Undefined for errors that no operator can mend. */
export function ledgerTrouble(file: string, error: unknown): Refusal | undefined {
  const code = codeOf(error);
  const sentence = sentences.find(([form]) => form.test(code))?.[1];
  return sentence && new Refusal(sentence(file, code));
}

/** The refusal for any error of SQLite while the ledger is opened, when its content is all that can be
 * wrong. */
export function openingTrouble(file: string, error: unknown): Refusal | undefined {
  const code = codeOf(error);
  if (!(error instanceof Error) || !code.startsWith("SQLITE_")) return ledgerTrouble(file, error);
  return (
    ledgerTrouble(file, error) ??
    new Refusal(
      `${file} cannot be opened (${code}, ${error.message}): restore a backup into another folder, and report this message.`,
    )
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
