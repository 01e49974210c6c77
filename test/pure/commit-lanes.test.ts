/** Which requests share a commit, which wait for each other, and which fail together. */
import { expect, test } from "bun:test";
import type { AdmittedSourced } from "../../server/intake/admission/admit-sourced.ts";
import { CommitLane } from "../../server/intake/commit-lane.ts";
import { GroupCommit } from "../../server/intake/group-commit.ts";
import { WaitingCount } from "../../server/intake/waiting-requests.ts";
import { FairTurns } from "../../server/process/fair-turns.ts";
import { turns, until } from "../until.ts";
import { identify, SlowDisk } from "./slow-disk.ts";

/** An item of a connected source that identifies a user. */
function personItem(userId: string): AdmittedSourced {
  const { organization, zone, receivedAtMs, messageId } = identify(userId);
  return {
    kind: "person",
    organization,
    zone,
    receivedAtMs,
    messageId,
    atMs: 1,
    bytes: 1,
    userId,
    anonymousId: undefined,
    previousId: undefined,
    content: {
      kind: "identify",
      email: undefined,
      traits: {},
      traitsOnce: undefined,
      isAccountOwner: undefined,
      account: undefined,
    },
  };
}

function begin(locksOrganizations = false, groupsAtOnce = 2) {
  const disk = new SlowDisk(locksOrganizations, groupsAtOnce);
  const commits = new GroupCommit(disk, () => 1);
  const ends: string[] = [];
  const end = (what: string) => (result: unknown) => {
    ends.push(`${what} ${result instanceof Error ? result.message : String(result)}`);
  };
  const submit = (userId: string, organization = 1) =>
    commits.submit(identify(userId, organization), 1).then(end(userId), end(userId));
  return { disk, commits, ends, submit };
}

/** Waits until requests whose lock is held have tried for it ten times more. */
async function triedAgain(disk: SlowDisk): Promise<void> {
  const before = disk.triesWhileHeld;
  await until(
    "held requests have tried ten times more",
    () => disk.triesWhileHeld,
    (tries) => tries >= before + 10,
  );
}

/** As SQLite and PostgreSQL name an error that the values of a row caused. */
function refusal(message: string): Error {
  return Object.assign(new Error(message), { code: "SQLITE_CONSTRAINT_CHECK" });
}

test("parts of a large request take turns with the others, and begin when nothing else is on its way", async () => {
  const { disk, commits, submit } = begin();
  const request = { moved: 0 };
  const parts = ["p0", "p1", "p2"].map((userId) => commits.submitSourced([personItem(userId)], 1, request));
  await disk.written(1);
  const others = ["a", "b"].map((userId) => submit(userId));
  await disk.written(2);
  await turns(5);
  expect(disk.commits).toEqual([["p0"], ["a", "b"]]);
  disk.syncs[0]?.resolve();
  await turns(5);
  // The group of a and b has not ended yet.
  expect(disk.commits).toHaveLength(2);
  disk.syncs[1]?.resolve();
  await disk.written(3);
  others.push(submit("c"));
  for (let commit = 2; commit < 5; commit += 1) {
    await disk.written(commit + 1);
    disk.syncs[commit]?.resolve();
  }
  await Promise.all([...parts, ...others]);
  expect(disk.commits.slice(2)).toEqual([["p1"], ["c"], ["p2"]]);
});

test("a batch of several megabytes takes turns with other requests, and a small one does not", async () => {
  const { disk, commits, submit } = begin();
  const batch = (name: string, items: number, bytes: number) =>
    commits.submitAll(
      Array.from({ length: items }, (_, n) => identify(`${name}${n}`)),
      bytes,
    );
  const requests = [
    batch("large", 600, 8_000_000),
    batch("larger", 700, 8_000_000),
    batch("small", 400, 50_000),
    submit("a"),
  ];
  await disk.syncedUntil(Promise.all(requests));
  const firstOfEach = disk.commits.map((users) => users.filter((user) => !/[1-9]/.test(user)));
  expect(firstOfEach).toEqual([["small0", "a"], ["large0"], ["larger0"]]);
});

test("a request that cannot be written is rejected alone, and the others of its group are stored in their order", async () => {
  const { disk, commits, ends, submit } = begin();
  disk.refused.set("u3", refusal("u3 is refused"));
  disk.refused.set("u6", refusal("u6 is refused"));
  const requests = Array.from({ length: 8 }, (_, n) => submit(`u${n}`));
  await disk.syncedUntil(Promise.all(requests));
  expect(disk.commits.flat()).toEqual(["u0", "u1", "u2", "u4", "u5", "u7"]);
  expect(ends.toSorted()).toEqual([
    "u0 stored",
    "u1 stored",
    "u2 stored",
    "u3 u3 is refused",
    "u4 stored",
    "u5 stored",
    "u6 u6 is refused",
    "u7 stored",
  ]);
  expect(commits.isFailing).toBe(false);
});

test("a failure of which it is not known what was written rejects the whole group, and is not tried again", async () => {
  const { disk, commits, ends, submit } = begin();
  disk.refused.set("u1", new Error("the connection was lost"));
  await Promise.all(["u0", "u1", "u2"].map((userId) => submit(userId)));
  expect([disk.commits, ends.map((end) => end.slice(3))]).toEqual([
    [],
    Array(3).fill("the connection was lost"),
  ]);
  expect(commits.isFailing).toBe(true);
});

test("a batch with an item that cannot be written is rejected whole", async () => {
  const { disk, commits } = begin();
  disk.refused.set("u1", refusal("u1 is refused"));
  const batch = commits.submitAll(
    ["u0", "u1"].map((userId) => identify(userId)),
    1,
  );
  await expect(batch).rejects.toThrow("u1 is refused");
  expect(disk.commits).toEqual([]);
});

test("an answer that cannot be made rejects one request, and the lane goes on", async () => {
  const disk = new SlowDisk();
  const silent = () => undefined;
  const events = { nowMs: () => 1, committed: silent, failed: silent, idle: silent, held: silent };
  const lane = new CommitLane(disk, 2, events, undefined);
  const submit = (userId: string, answer: () => string) =>
    lane.submit({ entries: [identify(userId)], bytes: 1, cost: 2, maxWork: 1, partOf: undefined }, answer);
  const bad = submit("a", () => {
    throw new Error("no such outcome");
  });
  const good = submit("b", () => "answered");
  await disk.written(1);
  disk.syncs[0]?.resolve();
  await expect(bad).rejects.toThrow("no such outcome");
  expect(await good).toBe("answered");
  await lane.settled();
  const next = submit("c", () => "answered, too");
  await disk.written(2);
  disk.syncs[1]?.resolve();
  expect(await next).toBe("answered, too");
});

test("requests of an organization whose lock is held wait for it in a lane of their own, and no others do", async () => {
  const { disk, commits, ends, submit } = begin(true);
  disk.held.add(1);
  const waiting = [submit("a1", 1)];
  const others = ["b", "c"].map((userId, index) => submit(userId, index + 2));
  waiting.push(submit("a2", 1));
  await disk.written(1);
  waiting.push(submit("a3", 1));
  others.push(submit("d", 4));
  await disk.written(2);
  expect(disk.commits).toEqual([["b", "c"], ["d"]]);
  for (const sync of disk.syncs) sync.resolve();
  await Promise.all(others);
  let isSettled = false;
  const settled = commits.settled().then(() => {
    isSettled = true;
  });
  await turns(5);
  expect([isSettled, ends]).toEqual([false, ["b stored", "c stored", "d stored"]]);
  expect(commits.isFailing).toBe(false);
  disk.held.clear();
  await disk.syncedUntil(Promise.all([...waiting, settled]));
  expect(disk.commits.slice(2).flat()).toEqual(["a1", "a2", "a3"]);
  // The organization shares commits again.
  await turns(1);
  await disk.syncedUntil(Promise.all([submit("a4", 1), submit("e", 5)]));
  expect(disk.commits.at(-1)).toEqual(["a4", "e"]);
});

test("where commits lock organizations, the parts of a large request stop no other requests", async () => {
  const { disk, commits, submit } = begin(true);
  const request = { moved: 0 };
  const parts = [commits.submitSourced([personItem("p0")], 1, request)];
  await disk.written(1);
  disk.held.add(1);
  parts.push(commits.submitSourced([personItem("p1")], 1, request));
  disk.syncs[0]?.resolve();
  const others = [submit("b", 2)];
  await disk.written(2);
  disk.syncs[1]?.resolve();
  await Promise.all(others);
  disk.held.clear();
  await disk.written(3);
  disk.syncs[2]?.resolve();
  await Promise.all(parts);
  expect(disk.commits).toEqual([["p0"], ["b"], ["p1"]]);
});

test("requests that wait for the lock of their organization are bounded, and leave room for the others", async () => {
  const { disk, commits, ends } = begin(true);
  disk.held.add(1).add(2);
  const waiting: Promise<unknown>[] = [];
  const batch = (organization: number, entries: number, bytes = 1) => {
    const items = Array.from({ length: entries }, (_, n) =>
      identify(`u${waiting.length}-${n}`, organization),
    );
    waiting.push(commits.submitAll(items, bytes));
  };
  const full = () => [commits.isFullFor(1), commits.isFullFor(2), commits.isFullFor(3), commits.isFull];
  batch(1, 2_000);
  batch(2, 1);
  await until(
    "a commit waits for a lock",
    () => disk.mostWaitingForLocks,
    (waiting) => waiting > 0,
  );
  await turns(5);
  batch(1, 2_000);
  expect(full()).toEqual([false, false, false, false]);
  batch(1, 1_000);
  expect(full()).toEqual([true, false, false, false]);
  batch(2, 1, 32 * 1024 * 1024);
  expect(full()).toEqual([true, true, false, false]);
  // Requests that retry for the lock still wait.
  await triedAgain(disk);
  expect(full()).toEqual([true, true, false, false]);
  const other = commits.submit(identify("other", 3), 1).then(() => ends.push("other"));
  await disk.syncedUntil(other);
  expect([ends, full()]).toEqual([["other"], [true, true, false, false]]);
  disk.held.clear();
  await disk.syncedUntil(Promise.all(waiting));
  await turns(1);
  expect(full()).toEqual([false, false, false, false]);
});

test("a request waits for the lock of its organization for as long as one before it, not after it", async () => {
  const disk = new SlowDisk(true);
  disk.held.add(1);
  const silent = () => undefined;
  const events = { nowMs: () => 1, committed: silent, failed: silent, idle: silent, held: silent };
  const heldTurns = new FairTurns({ places: 1, heldWhileOthersWait: 1, heldAtMost: 1 });
  const lane = new CommitLane(disk, 1, events, { waiting: new WaitingCount(), heldTurns, heldMs: 500 });
  const ends: string[] = [];
  const requests = ["a", "b", "c", "d"].map((userId) =>
    // Each has a group of its own.
    lane
      .submit(
        { entries: [identify(userId)], bytes: 8 * 1024 * 1024, cost: 2, maxWork: 1, partOf: undefined },
        silent,
      )
      .catch(() => ends.push(userId)),
  );
  await requests[0];
  const tries = disk.triesWhileHeld;
  await Promise.all(requests);
  expect(ends).toEqual(["a", "b", "c", "d"]);
  // Each of the others tries once more, because it has waited as long. With 500 ms of its own it would try
  // three times.
  expect(disk.triesWhileHeld - tries).toBeLessThan(5);
});

test("organizations that are locked have a bound together, which binds only them", async () => {
  const { disk, commits } = begin(true);
  const waiting: Promise<unknown>[] = [];
  for (const organization of [1, 2, 3, 4]) {
    disk.held.add(organization);
    waiting.push(commits.submitAll([identify(`u${organization}`, organization)], 16 * 1024 * 1024));
  }
  const request = { moved: 0 };
  const part = commits.submitSourced(
    [personItem("p0")].map((item) => ({ ...item, organization: 5 })),
    1,
    request,
  );
  await turns(10);
  const full = [1, 2, 3, 4, 5, 6].map((organization) => commits.isFullFor(organization));
  expect([full, commits.isFull]).toEqual([[true, true, true, true, false, false], false]);
  disk.held.clear();
  await disk.syncedUntil(Promise.all([...waiting, part]));
});

test("organizations that are locked wait for their locks in half of the transactions that run at once", async () => {
  const { disk, submit } = begin(true, 4);
  const organizations = [1, 2, 3, 4, 5, 6];
  for (const organization of organizations) disk.held.add(organization);
  const waiting = organizations.map((organization) => submit(`u${organization}`, organization));
  await triedAgain(disk);
  expect(disk.mostWaitingForLocks).toBe(2);
  disk.held.clear();
  await disk.syncedUntil(Promise.all(waiting));
  expect(disk.commits.flat().toSorted()).toEqual(["u1", "u2", "u3", "u4", "u5", "u6"]);
});
