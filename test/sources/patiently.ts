/** The fetch that docs/connect-a-source.md gives to clients that send nothing again. */

/** Sends again, with longer and longer waits, until there is an answer that is neither a 429 nor a failure of
 * the server. */
export async function patiently(url: string, init: RequestInit): Promise<Response> {
  for (let waitMs = 250; ; waitMs = Math.min(30_000, waitMs * 2)) {
    const response = await fetch(url, init).catch(() => undefined);
    if (response !== undefined && response.status !== 429 && response.status < 500) return response;
    // The wait of the documents' function.
    await Bun.sleep(waitMs);
  }
}
