/** Reads Parquet exports, by another reader than the one that wrote them: the engine in this process, from a
 * file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { query } from "chdb";
import { environment, type Server } from "./server.ts";

/** The rows that `rekindle export --format parquet` gives. */
export async function parquetRows(
  server: Server,
  table: "events" | "users" | "accounts",
  organization: string,
): Promise<Record<string, unknown>[]> {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-parquet-"));
  try {
    const file = join(folder, "export.parquet");
    const parameters = ["export", table, "--organization", organization, "--format", "parquet"];
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "../cli/main.ts"), ...parameters], {
      env: environment(server.dataDir),
      stdout: Bun.file(file),
      stderr: "inherit",
    });
    if ((await child.exited) !== 0) throw new Error(`export of ${table} of ${organization} failed`);
    const text = query(`SELECT * FROM file('${file}', Parquet)`, "JSONEachRow");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
