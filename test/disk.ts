/** How much of the disk files take. */

/** The mebibytes that a folder takes on the disk. A link to a folder counts as the folder, a hard link
 * once. */
export function megabytesOf(folder: string): number {
  const { stdout, stderr, success } = Bun.spawnSync(["du", "-skL", folder]);
  if (!success) throw new Error(stderr.toString());
  return Number.parseInt(stdout.toString(), 10) / 1024;
}
