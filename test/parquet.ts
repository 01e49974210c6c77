/** Reads Parquet exports, by another reader than the one that wrote them: the engine in this process, from a
 * file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { query } from "chdb";
import { runInProcess } from "./command-in-process.ts";
import { environment, type Server } from "./server.ts";

type Table = "events" | "users" | "accounts";

/** The bytes that `rekindle export` writes, beside a server that runs. */
export async function exportedBytes(
  server: Pick<Server, "dataDir">,
  table: Table,
  organization: string,
  format: string,
): Promise<Uint8Array> {
  const parameters = ["export", table, "--organization", organization, "--format", format];
  const env = environment(server.dataDir);
  const { exitCode, bytes } = await runInProcess(env, parameters);
  if (exitCode !== 0) throw new Error(`export of ${table} of ${organization} failed`);
  return bytes;
}

/** The rows that `rekindle export --format parquet` gives. */
export async function parquetRows(
  server: Server,
  table: Table,
  organization: string,
): Promise<Record<string, unknown>[]> {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-parquet-"));
  try {
    const file = join(folder, "export.parquet");
    await Bun.write(file, await exportedBytes(server, table, organization, "parquet"));
    const text = query(`SELECT * FROM file('${file}', Parquet)`, "JSONEachRow");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
