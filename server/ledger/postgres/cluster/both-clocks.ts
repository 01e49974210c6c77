/** Now, in ms, by the clock that never jumps, and by the one that goes on while the machine sleeps. */
export function bothClocks(): { readonly monotonic: number; readonly wall: number } {
  return { monotonic: performance.now(), wall: Date.now() };
}
