/** Requests that share a commit, and two groups on their way to the disk. The disk syncs when the test allows
 * it. */
import { expect, test } from "bun:test";
import { GroupCommit } from "../../server/intake/group-commit.ts";
import { turns } from "../until.ts";
import { identify, SlowDisk } from "./slow-disk.ts";

function begin() {
  const disk = new SlowDisk();
  const commits = new GroupCommit(disk, () => 1);
  const ends: string[] = [];
  const submit = (userId: string, bytes = 1) =>
    commits.submit(identify(userId), bytes).then(
      (outcome) => ends.push(`${userId} ${String(outcome)}`),
      (error: Error) => ends.push(`${userId} ${error.message}`),
    );
  return { disk, commits, ends, submit };
}

test("two groups are on their way at once, and a third waits for the first of them that ends", async () => {
  const { disk, commits, ends, submit } = begin();
  const requests: Promise<unknown>[] = [];
  for (const [index, userId] of ["a", "b"].entries()) {
    requests.push(submit(userId));
    await disk.written(index + 1);
  }
  requests.push(submit("c"), submit("d"));
  await turns(5);
  expect([disk.syncs.length, ends]).toEqual([2, []]);
  disk.syncs[1]?.resolve();
  await disk.written(3);
  requests.push(submit("e"));
  disk.syncs[2]?.resolve();
  await disk.written(4);
  const settled = commits.settled().then(() => ends.push("settled"));
  disk.syncs[3]?.resolve();
  await requests.at(-1);
  await turns(5);
  expect(ends).toEqual(["b stored", "c stored", "d stored", "e stored"]);
  disk.syncs[0]?.resolve();
  await Promise.all([...requests, settled]);
  expect(ends.slice(4)).toEqual(["a stored", "settled"]);
});

test("a group holds 8 MiB of bodies, and a larger one by itself", async () => {
  const { disk, ends, submit } = begin();
  const mebibyte = 1024 * 1024;
  const sizes = [3, 3, 2, 1, 20, 1].map((size) => size * mebibyte);
  const requests = sizes.map((bytes, index) => submit(`u${index}`, bytes));
  const groups: number[] = [];
  for (let commit = 0; commit < 4; commit += 1) {
    await disk.written(commit + 1);
    disk.syncs[commit]?.resolve();
    await Promise.race(requests.slice(ends.length));
    await turns(3);
    groups.push(ends.length);
  }
  await Promise.all(requests);
  expect([groups, disk.syncs.length]).toEqual([[3, 4, 5, 6], 4]);
});

test("waiting for all requests includes a group that is being synced, though the newest could not be written", async () => {
  const { disk, commits, ends, submit } = begin();
  const first = submit("a");
  await disk.written(1);
  disk.broken = new Error("the disk is full");
  await submit("b");
  const settled = commits.settled().then(() => ends.push("settled"));
  await turns(5);
  expect(ends).toEqual(["b the disk is full"]);
  disk.syncs[0]?.resolve();
  await Promise.all([first, settled]);
  expect(ends).toEqual(["b the disk is full", "a stored", "settled"]);
});

test("a group that fails takes no other with it", async () => {
  const { disk, ends, submit } = begin();
  const first = submit("a");
  await disk.written(1);
  const second = submit("b");
  await disk.written(2);
  disk.syncs[0]?.reject(new Error("the disk is broken"));
  await first;
  disk.syncs[1]?.resolve();
  await second;
  const third = submit("c");
  await disk.written(3);
  disk.syncs[2]?.resolve();
  await third;
  expect(ends).toEqual(["a the disk is broken", "b stored", "c stored"]);
});

test("while the disk stands still few large bodies are enough to turn requests away", async () => {
  const { disk, commits, submit } = begin();
  const requests = [submit("a")];
  await disk.written(1);
  requests.push(submit("b"));
  await disk.written(2);
  for (let body = 0; body < 31; body += 1) requests.push(submit(`c${body}`, 8 * 1024 * 1024));
  expect(commits.isFull).toBe(false);
  requests.push(submit("d", 8 * 1024 * 1024));
  expect(commits.isFull).toBe(true);
  disk.syncs[0]?.resolve();
  await disk.written(3);
  expect(commits.isFull).toBe(false);
  for (let commit = 1; commit < requests.length; commit += 1) {
    await disk.written(commit + 1);
    disk.syncs[commit]?.resolve();
  }
  await Promise.all(requests);
});
