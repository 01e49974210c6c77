/** The delimiter of a CSV, as its first lines tell it: Excel writes semicolons in half of Europe. */
import { contentOf } from "./bytes.ts";
import type { ImportFile } from "./file.ts";

/** Delimiters that are found by themselves. Of two that part a header into as many columns, the first. */
const delimiters = [",", ";", "\t", "|"] as const;

const separatorLine = /^"?sep=([\x20-\x7e\t])"?(\r?\n|\r|$)/i;

/** The delimiter: by a first line `sep=;`, by the name `.tsv`, else the one that parts the header into most
 * columns.
 * @throws Refusal when the file cannot be read */
export async function delimiterOf(
  { path, name }: Pick<ImportFile, "path" | "name">,
  { gzip, header }: { readonly gzip: boolean; readonly header: boolean },
): Promise<string> {
  const text = await beginOf(path, gzip);
  const said = separatorLine.exec(text)?.[1];
  if (said !== undefined) return said;
  if (/\.tsv(\.gz)?$/i.test(name)) return "\t";
  return header ? commonest(text) : ",";
}

/** Whether a row is Excel's line about the delimiter, and no header. */
export function isSeparatorLine(cells: readonly string[], delimiter: string): boolean {
  return separatorLine.test(cells.join(delimiter));
}

async function beginOf(path: string, gzip: boolean): Promise<string> {
  for await (const chunk of contentOf(path, gzip, { bytes: 0 })) return chunk.toString("latin1");
  return "";
}

/** The delimiter that is most often in the first line, outside of quotes. */
function commonest(text: string): string {
  const counts = new Map<string, number>();
  let isQuoted = false;
  let isEmpty = true;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character !== "\n" && character !== "\r") {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    } else if (!isEmpty) break;
    else continue;
    isEmpty = false;
  }
  const countOf = (delimiter: string) => counts.get(delimiter) ?? 0;
  return delimiters.reduce((best, one) => (countOf(one) > countOf(best) ? one : best));
}
