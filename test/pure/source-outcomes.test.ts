/** The counts and warnings of a connected source's request that fails in the middle. They cover the decided
 * items only. */
import { expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import { storeSourced } from "../../server/http/write/source-outcomes.ts";
import type { SourcedItem } from "../../server/intake/admission/sourced.ts";
import { nextPart, type SourcedWatcher } from "../../server/intake/source-parts.ts";

const arrival = { organization: 1, zone: new Zone("UTC"), receivedAtMs: 1_000, idempotencyKey: null };
const track = (event: string): SourcedItem => ({
  type: "track",
  userId: "u",
  event,
  properties: {},
  isActivity: true,
  atMs: 1_000,
  messageId: null,
});

test("outcomes are counted up to the first item that was not decided whole", async () => {
  const counted: string[] = [];
  const turnedAway: string[] = [];
  const intake = {
    countSourced: (_source: string, _organization: number, outcome: string) => counted.push(outcome),
    noteRefused: (_endpoint: string, _organization: number, _kind: string, why: string) =>
      turnedAway.push(why),
    noteTaken: (_endpoint: string, _organization: number, kind: string, detail: string) =>
      turnedAway.push(`${kind} ${detail}`),
    sourced: async (
      _items: readonly SourcedItem[],
      _arrival: object,
      _source?: string,
      watcher?: SourcedWatcher,
    ) => {
      watcher?.decided(0, "stored");
      watcher?.decided(1, "duplicate");
      watcher?.decided(2, "stored");
      throw new Error("the disk is full");
    },
  };
  const request = [
    { sent: 0, translated: { items: [track("a")] } },
    { sent: 1, translated: { invalid: "unreadable" } },
    { sent: 1.5, translated: { ignored: "a sandbox", isTestMode: true as const } },
    { sent: 2, translated: { items: [track("b")] } },
    { sent: 3, translated: { items: [track("c"), track("d")] } },
    { sent: 4, translated: { invalid: "never reached" } },
  ];
  const storing = storeSourced(request, arrival, "segment", { intake, watched: undefined });
  await expect(storing).rejects.toThrow("the disk is full");
  expect(counted).toEqual(["accepted", "rejected", "ignored", "duplicate"]);
  expect(turnedAway).toEqual(["unreadable", "test_mode_ignored a sandbox"]);
});

test("a part holds fewer of large items that are not valid", () => {
  const invalid = (characters: number) => ({ ...track(""), properties: { text: "x".repeat(characters) } });
  const sizeOf = (characters: number) =>
    nextPart(
      Array.from({ length: 1_000 }, () => invalid(characters)),
      0,
      arrival,
    ).length;
  expect(sizeOf(0)).toBeGreaterThan(200);
  expect(sizeOf(100_000)).toBeLessThan(20);
});
