/** Prints tables for people that `cut` and `awk` can read too: columns of text, two spaces between. */

/** Prints a header and rows to standard output. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
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
