/**
 * Writes standard output to its end. `process.exit` drops output that a slow reader of a pipe has not taken
 * yet (beyond the 64 KiB of a pipe). A failed write, on a full disk for example, gives no error otherwise.
 */
import { controlCharacter } from "../contract/names.ts";

/** Of standard error, as it is before anything is escaped. */
const writeRaw = process.stderr.write.bind(process.stderr);

/**
 * Escapes control characters in all output: token names come from other users and could control the terminal.
 * A control character becomes its JSON escape, such as \u001b, so that JSON stays the same JSON. Line breaks
 * stay; in a cell or a name `printable` escapes them.
 */
export function escapeOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    stream.write = (chunk: string | Uint8Array, ...rest: never[]) =>
      write(typeof chunk === "string" ? escapedLines(chunk) : chunk, ...rest);
  }
}

/** The text on one line: its control characters escaped, line breaks among them. */
export function printable(text: string): string {
  return text.replace(controlCharacter, escaped);
}

/** Goes to the beginning of a terminal's line and empties it. */
export function clearLine(): void {
  writeRaw("\r\x1b[K");
}

function escapedLines(text: string): string {
  return text.replace(controlCharacter, (character) => (character === "\n" ? character : escaped(character)));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export class StandardOutput {
  #error: NodeJS.ErrnoException | undefined;

  /** Must be created before any output. */
  constructor() {
    process.stdout.on("error", (error) => {
      this.#error ??= error;
    });
  }

  /** Waits until the reader has all of it. Nothing can be written afterwards. Returns why it could not be
   * written, or nothing. */
  async end(): Promise<NodeJS.ErrnoException | undefined> {
    // A failure is reported one turn after its write, and a stream that has failed never ends.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#error !== undefined) return this.#error;
    await new Promise<void>((resolve) => {
      process.stdout.once("error", () => resolve());
      process.stdout.end(() => resolve());
    });
    return this.#error;
  }
}
