/**
 * The mark in a data folder whose installation moves to a cluster, or has moved. Its ledger and warehouse
 * stay complete, as they were then. The mark is written before the cluster's ledger is committed, so that
 * never both take writes.
 */
import { existsSync, readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Refusal } from "../../contract/refusal.ts";
import { syncPath, unfinishedPath } from "../process/files.ts";

const markOf = (dataDir: string) => join(dataDir, "moved-to-cluster.txt");
const moving = "Moving to PostgreSQL and ClickHouse";
const moved = "Moved to PostgreSQL and ClickHouse";

/** Writes the mark, for people and for the next start. When it resolves the mark is on disk. */
export async function markMove(dataDir: string, state: "moving" | "moved", nowMs: number): Promise<void> {
  const words =
    state === "moved"
      ? "To go back to it, and lose what the cluster has taken since, remove this file."
      : "Run rekindle migrate-to again with the same addresses, to finish it. To give it up, remove this file.";
  const first = `${state === "moved" ? moved : moving} at ${new Date(nowMs).toISOString()}.`;
  const mark = markOf(dataDir);
  await writeFile(unfinishedPath(mark), `${first} What is here is as it was then.\n${words}\n`);
  await syncPath(unfinishedPath(mark));
  await rename(unfinishedPath(mark), mark);
  await syncPath(dataDir);
}

/** Whether a move of this folder has reached the ledger and is not finished. */
export function isMoving(dataDir: string): boolean {
  return markText(dataDir).startsWith(moving);
}

/** @throws Refusal when the folder's installation was moved to a cluster: a start would take writes that the
 * cluster never gets */
export function refuseMoved(dataDir: string): void {
  const mark = markText(dataDir);
  if (mark === "") return;
  if (mark.startsWith(moving)) {
    throw new Refusal(
      `the installation in ${dataDir} was being moved to PostgreSQL and ClickHouse, and that was not finished: run ` +
        `rekindle migrate-to again, or remove ${markOf(dataDir)} to stay here.`,
    );
  }
  const at = /at (\S+)\. /.exec(mark)?.[1] ?? "some time ago";
  throw new Refusal(
    `the installation in ${dataDir} was moved to PostgreSQL and ClickHouse at ${at}: set DATABASE_URL and CLICKHOUSE_URL, ` +
      `or remove ${markOf(dataDir)} to go back to what was here then.`,
  );
}

function markText(dataDir: string): string {
  const mark = markOf(dataDir);
  return existsSync(mark) ? readFileSync(mark, "utf8") : "";
}
