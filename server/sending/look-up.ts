/**
 * Looks up the names of destinations by c-ares, which waits in this thread. `node:dns` holds a thread of the
 * process's pool for each name whose server does not answer. The pool has 16 threads and syncs the journal,
 * so 20 such names delayed writes by 10 s.
 */
import { setServers } from "node:dns";
import { readFileSync, statSync } from "node:fs";
import type { LookupFunction } from "node:net";

/** Looks names up, also in `/etc/hosts`. c-ares reads its name servers once, so they are read again when the
 * file has changed.
 * @param file has the name servers: resolv.conf(5) */
export function lookUpBy(file: string): LookupFunction {
  let known = versionOf(file);
  return (name, { all, family = 0 }, done) => {
    const version = versionOf(file);
    if (version !== known) readServers(file);
    known = version;
    const wanted = family === "IPv4" ? 4 : family === "IPv6" ? 6 : family === 4 || family === 6 ? family : 0;
    Bun.dns.lookup(name, { backend: "c-ares", family: wanted }).then(
      (found) => {
        const addresses = found.map((one) => ({ address: one.address, family: one.family }));
        const [first] = addresses;
        if (first === undefined) done(new Error(`${name} has no address.`), "", 0);
        else if (all === true) done(null, addresses);
        else done(null, first.address, first.family);
      },
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), "", 0),
    );
  };
}

function versionOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return `${found?.ino} ${found?.size} ${found?.mtimeMs}`;
}

/** Takes the name servers of the file. If none can be used, the earlier servers stay. */
function readServers(file: string): void {
  try {
    const lines = readFileSync(file, "utf8").split("\n");
    const servers = lines.flatMap((line) => {
      const [keyword, server] = line.trim().split(/\s+/);
      return keyword === "nameserver" && server !== undefined ? [server] : [];
    });
    if (servers.length > 0) setServers(servers);
  } catch {
    // The file is gone, or is being written. The next version of it is read.
  }
}
