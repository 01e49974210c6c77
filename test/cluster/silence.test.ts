/** A request to a stopped process, or to a slow ledger, ends in time. */
import { expect, spyOn, test } from "bun:test";
import { remoteAnalysis } from "../../server/between/remote/remote-analysis.ts";
import { Authorizer } from "../../server/http/port/authorize.ts";
import { type Credentials, secretPrefix } from "../../server/ledger/stores/credentials.ts";
import type { Peer } from "../../server/process/control.ts";
import { nodePatienceMs, Readiness } from "../../server/start/readiness.ts";

/** Never answers, as a process that was stopped. */
function silence(signal: AbortSignal | null | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal?.addEventListener("abort", () => reject(signal.reason));
  return promise;
}

test("/readyz answers before a silent analysis node is given up, and says that writes are taken", async () => {
  // Without this mock the analysis node would be given up after a time limit.
  const givingUp = spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);
  const peer: Peer = { fetch: (_path, init) => silence(init?.signal) };
  const answer = await new Readiness(peer, { patienceMs: nodePatienceMs }).of("open");
  expect(givingUp).toHaveBeenCalledTimes(1);
  givingUp.mockRestore();
  expect(answer).toEqual({
    ready: false,
    detail: { writes: "open", analysis: { state: "starting", loading: "waiting" } },
  });
});

test("a request to analysis is given up when analysis stands still while it works", async () => {
  const { timeout } = AbortSignal;
  using _ = spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout.call(AbortSignal, ms / 1_000));
  let looks = 0;
  const peer: Peer = {
    fetch: async (path, init) => {
      if (path === "/status" && looks++ === 0) return Response.json({ state: "ready" });
      return silence(init?.signal);
    },
  };
  await expect(remoteAnalysis(peer).analysis.rebuild(1)).rejects.toThrow("does not answer any more");
});

test("while the cache is not trusted, concurrent requests with one token share one look-up for half a second", async () => {
  let lookUps = 0;
  const late = Promise.withResolvers<undefined>();
  const credentials = {
    find: () => {
      lookUps += 1;
      return late.promise;
    },
  } satisfies Pick<Credentials, "find">;
  const limits = () => ({ requestsPerSecond: 1, itemsPerSecond: 1 });
  const authorizer = new Authorizer(
    credentials as unknown as Credentials,
    { prefix: secretPrefix.token, takes: () => true, limits },
    () => false,
  );
  const ask = () => authorizer.authorizeSecret(`${secretPrefix.token}abc`);
  const clock = spyOn(performance, "now").mockReturnValue(1_000);
  try {
    const crowd = Array.from({ length: 500 }, ask);
    clock.mockReturnValue(1_499);
    crowd.push(ask());
    expect(lookUps).toBe(1);
    // It may have been revoked since.
    clock.mockReturnValue(1_500);
    crowd.push(ask());
    expect(lookUps).toBe(2);
    late.resolve(undefined);
    await Promise.all(crowd);
  } finally {
    clock.mockRestore();
  }
});
