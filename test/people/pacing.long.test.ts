/** The rate of password checks, for right and wrong ones. The tests use a clock of their own, the order, and
 * HTTP. */
import { expect, spyOn, test } from "bun:test";
import { Pacing } from "../../server/members/pacing.ts";
import { Passwords } from "../../server/members/passwords.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { until } from "../until.ts";
import { Browser, joined, password } from "./support.ts";

/** Makes that many attempts at one moment. Returns the seconds that each has to wait, 0 for those that were
 * accepted. */
function waits(pacing: Pacing, count: number, email: string, address: string, nowMs = 0) {
  return Array.from({ length: count }, () => {
    const paced = pacing.attempt(email, { kind: "address", id: address }, nowMs);
    return "waitSeconds" in paced ? paced.waitSeconds : 0;
  });
}

test("a person has twenty attempts from one address, and then one in five seconds", () => {
  const pacing = new Pacing();
  expect(waits(pacing, 22, "a@example.com", "home")).toEqual([...Array(20).fill(0), 5, 5]);
  expect(waits(pacing, 2, "a@example.com", "home", 5_000)).toEqual([0, 5]);
  expect(waits(pacing, 1, "a@example.com", "elsewhere")).toEqual([0]);
  expect(waits(pacing, 1, "b@example.com", "home")).toEqual([0]);
});

test("an address has a hundred; further ones are delayed, and a known browser is not", () => {
  const pacing = new Pacing();
  const office = { kind: "address", id: "office" } as const;
  const attempt = (person: number) => pacing.attempt(`${person}@example.com`, office, 0);
  expect(Array.from({ length: 100 }, (_, person) => attempt(person))).toEqual(
    Array(100).fill({ delayMs: 0 }),
  );
  const delays = Array.from({ length: 20 }, (_, person) => ({ delayMs: (person + 1) * 500 }));
  expect(Array.from({ length: 20 }, (_, person) => attempt(100 + person))).toEqual(delays);
  expect(attempt(120)).toEqual({ waitSeconds: 1 });
  expect(pacing.attempt("late@example.com", { kind: "browser", id: "own" }, 0)).toEqual({ delayMs: 0 });
  expect(pacing.attempt("late@example.com", office, 500)).toEqual({ delayMs: 10_000 });
});

test("right ones are counted by person wherever they come from, and wrong ones lock no person out", () => {
  const pacing = new Pacing();
  for (let place = 0; place < 40; place += 1) waits(pacing, 1, "a@example.com", `place ${place}`);
  expect(waits(pacing, 1, "a@example.com", "home")).toEqual([0]);
  for (let place = 0; place < 30; place += 1) pacing.succeeded("a@example.com", 0);
  expect(waits(pacing, 1, "a@example.com", "another place")).toEqual([5]);
  expect(waits(pacing, 1, "b@example.com", "another place")).toEqual([0]);
});

test("a crowd at one address delays another's hash by one, and is refused beyond a bound", async () => {
  const begun: { readonly text: string; end(hash: string): void }[] = [];
  // Hashes that end when the test says so.
  const make = spyOn(Bun.password, "hash").mockImplementation((text) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    begun.push({ text: String(text), end: resolve });
    return promise;
  });
  try {
    const passwords = new Passwords();
    const hash = (group: string) => passwords.hash(group, { group, member: "somebody" });
    const settled = Promise.allSettled(Array.from({ length: 30 }, () => hash("crowded")));
    const quiet = hash("quiet");
    await until(
      "two have begun",
      () => begun,
      ({ length }) => length === 2,
    );
    expect(begun.map(({ text }) => text)).toEqual(["crowded", "crowded"]);
    begun[0]?.end("first");
    await until(
      "three have begun",
      () => begun,
      ({ length }) => length === 3,
    );
    expect(begun[2]?.text).toBe("quiet");
    begun[2]?.end("second");
    expect(await quiet).toBe("second");
    begun[1]?.end("third");
    for (let ended = 3; ended < 11; ended += 1) {
      await until(
        "the next has begun",
        () => begun,
        ({ length }) => length > ended,
      );
      begun[ended]?.end("later");
    }
    const refused = (await settled).filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(20);
    for (const one of refused) expect(one).toMatchObject({ reason: { retryAfterSeconds: 2 } });
  } finally {
    make.mockRestore();
  }
});

test("a loop of one's own sign-ins is slowed down, and a colleague elsewhere is let in meanwhile", async () => {
  const server = await Server.start({ role: "intake", env: { TRUSTED_PROXY: "127.0.0.1" } });
  try {
    await server.organization("Looping");
    const person = await joined(server, "Looping", "viewer", "Looping");
    const colleague = await joined(server, "Looping", "viewer", "Straight");
    const signIn = (email: string, address: string) =>
      new Browser(server).ask("POST", "/api/session", { email, password }, { "X-Forwarded-For": address });
    const statuses: number[] = [];
    let held: Response | undefined;
    while (held === undefined) {
      const answer = await signIn(person.email, "203.0.113.1");
      statuses.push(answer.status);
      if (answer.status === 429) held = answer;
      if (statuses.length > 200) throw new Error("it was never held up");
    }
    expect(statuses.slice(0, -1)).toEqual(Array(statuses.length - 1).fill(201));
    expect(statuses.length).toBeGreaterThan(20);
    expect(held.headers.get("retry-after")).toMatch(/^[1-5]$/);
    await expectError(held, "rate_limit_exceeded", "Too many attempts to sign in");
    expect((await signIn(colleague.email, "203.0.113.2")).status).toBe(201);
    expect((await signIn(colleague.email, "203.0.113.1")).status).toBe(201);
    expect((await signIn(person.email, "203.0.113.3")).status).toBe(201);
  } finally {
    await server.stop();
  }
});
