/** Archives of a release's folders, and ClickHouse's stand-in on a folder that outlives it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";

export const clickhouseDatabase = "release";

export class ClickHouseProcess {
  /** The address without a database. */
  readonly url: string;
  readonly #process: Subprocess<"pipe", "pipe", "inherit">;

  private constructor(url: string, process: Subprocess<"pipe", "pipe", "inherit">) {
    this.url = url;
    this.#process = process;
  }

  static async start(folder: string): Promise<ClickHouseProcess> {
    const program = join(import.meta.dir, "../warehouse/clickhouse-process.ts");
    const child = Bun.spawn([process.execPath, program, folder], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    let printed = "";
    for await (const chunk of child.stdout) {
      printed += Buffer.from(chunk).toString();
      if (printed.includes("\n")) return new ClickHouseProcess(printed.trim(), child);
    }
    throw new Error(`ClickHouse did not start: ${printed}`);
  }

  /** Ends it in order. */
  async stop(): Promise<void> {
    await this.#process.stdin.end();
    await this.#process.exited;
  }
}

/** Packs a folder without the sockets that a killed process left in it. */
export function pack(folder: string, archive: string): void {
  tar("-czf", archive, "--exclude=*.sock", "-C", folder, ".");
}

/** Unpacks an archive into a new folder. */
export function unpack(archive: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  tar("-xzf", archive, "-C", folder);
}

function tar(...parameters: string[]): void {
  const { success, stderr } = Bun.spawnSync(["tar", ...parameters]);
  if (!success) throw new Error(`tar ${parameters.join(" ")} failed: ${stderr.toString()}`);
}
