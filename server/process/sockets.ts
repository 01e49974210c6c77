/** Where the processes of one installation meet: Unix sockets in the data folder. */
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../config.ts";

/** The longest path that a Unix socket may have on every system that we run on (104 on macOS, with its
 * closing NUL). */
const maxSocketPathBytes = 103;

export type SocketName = "control" | "analysis";

/** The socket's path in the data folder. If that is too long, it is in a folder of the system's temporary
 * folder that belongs to this user alone. @throws ConfigError when another user has made that folder */
export function socketPath(dataDir: string, name: SocketName): string {
  const path = join(dataDir, `${name}.sock`);
  if (Buffer.byteLength(path) <= maxSocketPathBytes) return path;
  const digest = createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
  return join(privateFolder(dataDir, join(tmpdir(), `rekindle-${digest}`)), `${name}.sock`);
}

/** The temporary folder is open to every user, and this name can be guessed. So a folder of another user is
 * refused: it could hold a socket that receives data and commands meant for this installation. */
function privateFolder(dataDir: string, folder: string): string {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  const { uid, mode } = lstatSync(folder);
  const isFolder = (mode & 0o170_000) === 0o040_000;
  if (isFolder && uid === (process.geteuid?.() ?? uid) && (mode & 0o077) === 0) return folder;
  throw new ConfigError(
    `DATA_DIR is ${JSON.stringify(dataDir)}, which is too long for sockets, and ${folder} is not this user's alone: ` +
      `set DATA_DIR to a path of at most ${maxSocketPathBytes - "/analysis.sock".length} bytes, or remove ${folder}.`,
  );
}
