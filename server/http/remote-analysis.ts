/** The analysis process as its callers see it: requests on its Unix socket. */

import { CallFailed, fetchSocket, Unreachable } from "../process/control.ts";
import type { AnalysisService } from "../warehouse/analysis.ts";

/** How long a caller waits for an analysis process that is just starting. */
const startingPatienceMs = 30_000;

/** The analysis service behind this socket. */
export function remoteAnalysis(socket: string): AnalysisService {
  return {
    async *export(organization, table, format) {
      const query = new URLSearchParams({ organization: String(organization), table, format });
      const response = await ask(socket, `/export?${query}`);
      yield* response.body ?? [];
    },
    async rebuild(organization) {
      await ask(socket, `/rebuild?organization=${organization}`, "POST");
    },
    async check(organization) {
      const response = await ask(socket, `/check?organization=${organization}`);
      return (await response.json()) as string[];
    },
  };
}

/** Asks analysis, and asks again while it is not there or starting. @throws CallFailed, Unreachable */
async function ask(socket: string, path: string, method = "GET"): Promise<Response> {
  const deadlineMs = performance.now() + startingPatienceMs;
  while (true) {
    const response = await fetchSocket(socket, path, { method, timeout: false }).catch(unreachable);
    if (response instanceof Response) {
      if (response.ok) return response;
      if (response.status !== 503) throw new CallFailed(await response.text());
    }
    if (performance.now() > deadlineMs) {
      throw new Unreachable("analysis is still starting: see the server's log, or try again.");
    }
    await Bun.sleep(100);
  }
}

function unreachable(error: unknown): undefined {
  if (!(error instanceof Unreachable)) throw error;
}
