/**
 * Queries that write to disk what exceeds their memory, instead of failing: groups, sorted rows, and the
 * right side of a join. The embedded engine writes to `tmp` in the folder of the warehouse. A server writes
 * to its own temporary folder.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** The share of a query's memory that one group, sort or join may have. A query may have several, and needs
 * memory to read again what it has written: with a half, a group of 4 million keys in 150 MB still failed. */
const shareOfMemory = 1 / 4;
/** The most bytes that one query writes. Four queries run side by side. */
const temporaryBytesOfQuery = 4 * 1024 ** 3;
/** The bytes that stay free on the disk, where the ledger of a single machine writes, too. */
const freeBytes = 1024 ** 3;

/** The settings of a query with this limit of memory, on a server. Joins follow the server's own ratio, which
 * ClickHouse has from 26.5 on: a setting that an older server does not know would be an error. */
export function spillSettings(maxBytes: number): Readonly<Record<string, number>> {
  const bytes = Math.floor(maxBytes * shareOfMemory);
  return {
    max_bytes_before_external_group_by: bytes,
    max_bytes_before_external_sort: bytes,
    // Shares of the server's memory. Beside one the number for sorting has no effect.
    max_bytes_ratio_before_external_group_by: 0,
    max_bytes_ratio_before_external_sort: 0,
    // By default 100 MB are sorted in memory, and blocks of 16 MB are read again from each file.
    min_external_sort_block_bytes: Math.floor(bytes / 2),
    prefer_external_sort_block_bytes: Math.floor(bytes / 64),
    max_temporary_data_on_disk_size_for_query: temporaryBytesOfQuery,
  };
}

/** The settings of a query with this limit of memory, in the embedded engine. */
export function embeddedSpillSettings(maxBytes: number): Readonly<Record<string, number>> {
  return {
    ...spillSettings(maxBytes),
    max_bytes_before_external_join: Math.floor(maxBytes * shareOfMemory),
    min_free_disk_space_for_temporary_data: freeBytes,
  };
}

/** Deletes what the queries of a killed process have left. No query may run.
 * @param folder of the warehouse */
export function removeSpilled(folder: string): void {
  const temporary = join(folder, "tmp");
  for (const name of readdirSync(temporary)) rmSync(join(temporary, name), { recursive: true, force: true });
}
