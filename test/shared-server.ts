/** A server that test/run.ts keeps for the files that it runs one after another. */
import { readFileSync } from "node:fs";
import { sharedServerVariable } from "./engines.ts";
import { Server } from "./server.ts";

/** Started for the first file that asks for `Server.shared()`. */
export class SharedServer {
  #server: Server | undefined;
  /** Of servers that have ended. */
  #earlierCpuSeconds = 0;

  /** The variables with the server's address for a file of tests. None for a file that needs no server. */
  async environmentFor(path: string): Promise<Record<string, string>> {
    if (!readFileSync(path, "utf8").includes("Server.shared(")) return {};
    // A file may have killed it: the next one gets another.
    if (this.#server?.hasEnded === true) await this.stop();
    this.#server ??= await Server.startShared();
    return { [sharedServerVariable]: this.#server.address() };
  }

  /** The processor time of all its servers until now. */
  cpuSeconds(): number {
    return this.#earlierCpuSeconds + (this.#server?.cpuSeconds() ?? 0);
  }

  /** The names of the organizations that files have created on it. */
  async organizations(): Promise<readonly string[]> {
    if (this.#server === undefined || this.#server.hasEnded) return [];
    const list = await this.#server.command("organization", "list");
    // The first one is the server's own, with number 1.
    return [...list.matchAll(/^(\d+) +(.+?) {2}/gm)].flatMap(([, id, name = ""]) =>
      id === "1" ? [] : [name],
    );
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    this.#earlierCpuSeconds = this.cpuSeconds();
    this.#server = undefined;
  }
}
