/** `rekindle import` that stops once, after the answer by which that many rows of its file are done. A test
 * that kills it, or the server, then has time to do so. */
const rows = Number(process.env.TEST_STOP_AT_ROWS);
const plainFetch = globalThis.fetch;
let hasStopped = false;

async function fetchAndStop(...of: Parameters<typeof fetch>): Promise<Response> {
  const response = await plainFetch(...of);
  if (hasStopped) return response;
  const answer: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  const { rowsDone = -1 } = (answer as { result?: { rowsDone?: number } } | undefined)?.result ?? {};
  if (rowsDone >= rows) {
    hasStopped = true;
    process.kill(process.pid, "SIGSTOP");
  }
  return response;
}

globalThis.fetch = Object.assign(fetchAndStop, plainFetch);
await import("../../cli/main.ts");

export {};
