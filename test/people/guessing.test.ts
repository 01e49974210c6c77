/** The exact wait after wrong guesses, by a clock of the test's own. */
import { expect, test } from "bun:test";
import { type Attempt, type AttemptSource, Guessing } from "../../server/members/guessing.ts";

function sourceOf(text: string): AttemptSource {
  return { kind: text.startsWith("browser") ? "browser" : "address", id: text };
}

/** An attacker who guesses, at a time that the test sets. */
class Guesser {
  nowMs = 0;
  readonly guessing = new Guessing();

  /** Seconds to wait. 0 when the guess was checked, and wrong. */
  guess(email: string, address: string): number {
    const attempt = this.guessing.begin(email, sourceOf(address), this.nowMs);
    return "waitSeconds" in attempt ? attempt.waitSeconds : 0;
  }

  /** An attempt that is not held up. */
  attempt(email: string, address: string): Attempt {
    const attempt = this.guessing.begin(email, sourceOf(address), this.nowMs);
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

test("after five failures each doubles the wait, up to half a minute", () => {
  for (const source of ["address", "browser of the person"]) {
    const waits = new Guesser().waits(13, "a@example.com", source);
    expect(waits).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 30, 30, 30]);
  }
});

test("guesses of many people's passwords from one address delay no other person there", () => {
  const guesser = new Guesser();
  for (let attempt = 0; attempt < 1_000; attempt++) {
    expect(guesser.guess(`${attempt}@example.com`, "address")).toBe(0);
  }
  guesser.attempt("fresh@example.com", "address").succeeded();
});

test("the fifth failure says that the next attempt has to wait", () => {
  const guesser = new Guesser();
  const attempts = Array.from({ length: 5 }, () => guesser.attempt("a@example.com", "address"));
  expect(attempts.map(({ failures, isLast }) => [failures, isLast])).toEqual([
    ...([1, 2, 3, 4].map((failures) => [failures, false]) as [number, boolean][]),
    [5, true],
  ]);
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

test("a browser in which the person signed in is not held up by guesses from anywhere else", () => {
  const guesser = new Guesser();
  for (let attempt = 0; attempt < 20; attempt++) guesser.guess("a@example.com", `elsewhere ${attempt}`);
  expect(guesser.guess("a@example.com", "new place")).toBe(1);
  guesser.attempt("a@example.com", "browser").succeeded();
});

test("the right password begins the count again; an attempt that was not looked at does not count", () => {
  const guesser = new Guesser();
  for (let round = 0; round < 5; round++) {
    for (let attempt = 0; attempt < 4; attempt++) guesser.attempt("a@example.com", "browser");
    guesser.attempt("a@example.com", "browser").succeeded();
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
