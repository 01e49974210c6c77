/** Now in ms: by the monotonic clock, which never jumps, and by the wall clock, which runs while the machine
 * sleeps. */
export function bothClocks(nowMs: () => number): { readonly monotonic: number; readonly wall: number } {
  return { monotonic: performance.now(), wall: nowMs() };
}
