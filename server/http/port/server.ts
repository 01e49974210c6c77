/** The public port. Bun's own limit on bodies lies far above ours, so that ours answers. */
import { Refusal } from "../../../contract/refusal.ts";
import type { Logger } from "../../process/log.ts";
import { readDashboard } from "../api/dashboard-pages.ts";
import type { WriteParts } from "../write/write.ts";
import { unexpected } from "./answers.ts";
import type { Handler } from "./handler.ts";
import { dispatch, type Pages, routes } from "./routes.ts";

export interface HttpServer {
  /** The port that was bound; with PORT=0 the system chose it. */
  readonly port: number;
  /** Takes no new connection and waits for the requests that are under way. */
  stop(): Promise<void>;
  /** Ends the connections that are still there. */
  cutOff(): Promise<void>;
}

export interface HttpOptions {
  /**
   * Idle timeout in seconds. A request's head and an answer have this long; bodies slower than 16 KiB/s also
   * count as idle. Bun checks every 4 seconds. A new connection always has 10 seconds for its head.
   */
  readonly idleTimeoutSeconds?: number;
  /** The folder with the built dashboard; without it there are no pages. */
  readonly dashboardFolder?: string;
}

/** Starts to serve the public port. */
export function startHttp(
  address: { readonly host: string; readonly port: number; readonly remoteImages: boolean },
  parts: WriteParts,
  pages: Pages,
  api: Handler,
  { idleTimeoutSeconds = 30, dashboardFolder }: HttpOptions = {},
): HttpServer {
  const server = listen({
    hostname: address.host,
    port: address.port,
    idleTimeout: idleTimeoutSeconds,
    maxRequestBodySize: 3 * 1024 ** 3,
    fetch: dispatch(routes(parts, pages), api, {
      basePath: pages.basePath,
      dashboard:
        dashboardFolder === undefined
          ? undefined
          : readDashboard(dashboardFolder, { ...pages, remoteImages: address.remoteImages }),
    }),
    error: (error) => logged(parts.log, error),
  });
  return {
    port: server.port ?? address.port,
    stop: () => server.stop(),
    cutOff: () => server.stop(true),
  };
}

/** @throws Refusal when the port cannot be had. */
function listen(options: Bun.Serve.Options<undefined>) {
  try {
    return Bun.serve(options);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new Refusal(`the port cannot be opened (${error.code}): set PORT or HOST to another one.`);
  }
}

function logged(log: Logger, error: unknown): Response {
  log.error({ err: error }, "a request failed");
  return unexpected();
}
