/** A way to PostgreSQL that a test makes silent: nothing says that it is gone. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A way to a server on which nothing gets through for a while, though it stays open. */
export class SilentProxy {
  readonly url: string;
  isSilent = false;
  readonly #folder: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(url: string, folder: string, target: string) {
    this.url = url;
    this.#folder = folder;
    // A silent proxy does not pass on the end of a connection, so it must not answer it either.
    this.#server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ path: target, allowHalfOpen: true });
      near.on("data", (bytes) => this.isSilent || far.write(bytes));
      far.on("data", (bytes) => this.isSilent || near.write(bytes));
      for (const [from, to] of [[near, far] as const, [far, near] as const]) {
        this.#sockets.add(from);
        from.on("end", () => this.isSilent || to.end());
        from.on("error", () => to.destroy());
        from.on("close", () => to.destroy());
      }
    });
  }

  /** @param url of the server, as `DATABASE_URL` has it */
  static async open(url: string): Promise<SilentProxy> {
    const folder = mkdtempSync(join(tmpdir(), "rekindle-way-"));
    const behind = new URL(url);
    const target = join(behind.searchParams.get("host") ?? "", ".s.PGSQL.5432");
    behind.searchParams.set("host", folder);
    const way = new SilentProxy(behind.href, folder, target);
    await new Promise<void>((resolve) => {
      way.#server.listen(join(folder, ".s.PGSQL.5432"), resolve);
    });
    return way;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
