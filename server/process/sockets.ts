/** Where the processes of one installation meet: Unix sockets in the data folder. */
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The longest path that a Unix socket may have on every system that we run on (104 on macOS, with its
 * closing NUL). */
const maxSocketPathBytes = 103;

export type SocketName = "control" | "analysis";

/** The socket's path: in the data folder, or under the system's temporary folder when that is too deep. */
export function socketPath(dataDir: string, name: SocketName): string {
  const path = join(dataDir, `${name}.sock`);
  if (Buffer.byteLength(path) <= maxSocketPathBytes) return path;
  const digest = createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
  return join(tmpdir(), `rekindle-${digest}-${name}.sock`);
}
