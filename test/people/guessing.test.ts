/** How long who guesses has to wait: exactly, by a clock of the test's own. */
import { expect, test } from "bun:test";
import { type Attempt, Guessing } from "../../server/dashboard/guessing.ts";

/** Somebody who guesses, at a time that passes as the test says. */
class Guesser {
  nowMs = 0;
  readonly guessing = new Guessing();

  /** Seconds to wait; 0 when the guess was looked at, and wrong. */
  guess(email: string, address: string): number {
    const attempt = this.guessing.begin(email, address, this.nowMs);
    return "waitSeconds" in attempt ? attempt.waitSeconds : 0;
  }

  /** An attempt that is not held up. */
  attempt(email: string, address: string): Attempt {
    const attempt = this.guessing.begin(email, address, this.nowMs);
    if ("waitSeconds" in attempt) throw new Error(`held up for ${attempt.waitSeconds} s`);
    return attempt;
  }

  /** The waits before each of so many guesses that were looked at. */
  waits(count: number, email: string, address: string): number[] {
    return Array.from({ length: count }, () => {
      const waitSeconds = this.guess(email, address);
      this.nowMs += waitSeconds * 1_000;
      if (waitSeconds > 0) expect(this.guess(email, address)).toBe(0);
      return waitSeconds;
    });
  }
}

test("after five failures each doubles the wait, up to a quarter of an hour", () => {
  const waits = new Guesser().waits(17, "a@example.com", "address");
  expect(waits).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
});

test("one address is slowed down whosever passwords it guesses, and another is not", () => {
  const guesser = new Guesser();
  for (let attempt = 0; attempt < 30; attempt++) {
    expect(guesser.guess(`${attempt}@example.com`, "address")).toBe(0);
  }
  expect(guesser.guess("fresh@example.com", "address")).toBe(1);
  expect(guesser.guess("fresh@example.com", "another")).toBe(0);
});

test("one person's password is slowed down from many addresses, but never for long", () => {
  const guesser = new Guesser();
  let longest = 0;
  for (let attempt = 0; attempt < 60; attempt++) {
    const waitSeconds = guesser.guess("a@example.com", `address ${attempt}`);
    longest = Math.max(longest, waitSeconds);
    guesser.nowMs += waitSeconds * 1_000;
    if (waitSeconds > 0) expect(guesser.guess("a@example.com", `address ${attempt}`)).toBe(0);
  }
  expect(longest).toBe(30);
});

test("who came in from an address before is not held up there by guesses from elsewhere", () => {
  const guesser = new Guesser();
  guesser.attempt("a@example.com", "home").succeeded();
  for (let attempt = 0; attempt < 20; attempt++) guesser.guess("a@example.com", `elsewhere ${attempt}`);
  expect(guesser.guess("a@example.com", "new place")).toBe(1);
  guesser.attempt("a@example.com", "home").succeeded();
});

test("the right password begins the count again; an attempt that was not looked at does not count", () => {
  const guesser = new Guesser();
  for (let round = 0; round < 5; round++) {
    for (let attempt = 0; attempt < 4; attempt++) guesser.attempt("a@example.com", "home");
    guesser.attempt("a@example.com", "home").succeeded();
  }
  for (let attempt = 0; attempt < 20; attempt++) guesser.attempt("b@example.com", "home").withdrawn();
});

test("after an hour of silence it is forgotten", () => {
  const guesser = new Guesser();
  for (let attempt = 0; attempt < 5; attempt++) guesser.attempt("a@example.com", "home");
  expect(guesser.guess("a@example.com", "home")).toBe(1);
  guesser.nowMs += 3_601_000;
  for (let attempt = 0; attempt < 4; attempt++) guesser.attempt("a@example.com", "home");
});
