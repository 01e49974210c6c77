/** Prints tables for people that `cut` and `awk` can read too: columns of text, two spaces between. */
import { printable } from "./output.ts";

/** Prints a header and rows to standard output. */
export function printTable(header: readonly string[], cells: readonly (readonly string[])[]): void {
  const rows = cells.map((row) => row.map(printable));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of [header, ...rows]) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()}\n`,
    );
  }
}

/** Prints a line to standard output. */
export function printLine(line: string): void {
  process.stdout.write(`${printable(line)}\n`);
}

/** An instant as text, or a dash for none. */
export function instant(ms: number | null): string {
  return ms === null ? "-" : new Date(ms).toISOString();
}

/** A whole number for people: 310,832. */
export function grouped(number: number): string {
  return Math.round(number).toLocaleString("en");
}

/** Bytes as megabytes with one digit. */
export function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}

const maxCellCharacters = 200;

/** A text of another user as one cell: its beginning, without characters that move the terminal's cursor. */
export function oneLine(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
  return plain.length > maxCellCharacters ? `${plain.slice(0, maxCellCharacters)}…` : plain;
}
