/**
 * Standard output to its end. `process.exit` drops what a slow reader of a pipe has not taken yet (all above the
 * 64 KiB that a pipe holds), and a write that fails, on a full disk say, fails in silence.
 */

export class StandardOutput {
  #error: NodeJS.ErrnoException | undefined;

  /** To be made before anything is written. */
  constructor() {
    process.stdout.on("error", (error) => {
      this.#error ??= error;
    });
  }

  /** Waits until the reader has all of it. Nothing can be written afterwards. Returns why it could not be
   * written, or nothing. */
  async end(): Promise<NodeJS.ErrnoException | undefined> {
    // A failure is told one turn after its write, and a stream that has failed never ends.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#error !== undefined) return this.#error;
    await new Promise<void>((resolve) => {
      process.stdout.once("error", () => resolve());
      process.stdout.end(() => resolve());
    });
    return this.#error;
  }
}
