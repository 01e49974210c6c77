/** A server that test/run.ts keeps for the files that it runs one after another. */
import { readFileSync } from "node:fs";
import { toldServer } from "./engines.ts";
import { Server } from "./server.ts";

/** Started for the first file that asks for `Server.shared()`. */
export class SharedServer {
  #server: Server | undefined;
  #cpuSeconds = 0;

  /** What tells a file of tests its server; empty for a file that asks for none. */
  async environmentFor(path: string): Promise<Record<string, string>> {
    if (!readFileSync(path, "utf8").includes("Server.shared(")) return {};
    // A file may have killed it: the next one gets another.
    if (this.#server?.hasEnded === true) await this.stop();
    this.#server ??= await Server.start();
    return { [toldServer]: this.#server.address() };
  }

  /** Stops the server; returns the processor time of all that were started, in seconds. */
  async stop(): Promise<number> {
    await this.#server?.stop();
    this.#cpuSeconds += this.#server?.cpuSeconds() ?? 0;
    this.#server = undefined;
    return this.#cpuSeconds;
  }
}
