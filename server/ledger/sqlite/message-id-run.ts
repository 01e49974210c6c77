/**
 * A run: a full table of message ids, written to a file in its form in memory. So a look-up is one read at
 * the id's home slot. Its Bloom filter follows the slots and is kept in memory (1.4 bytes an id).
 *
 * Invariant: a run that can be opened is whole. It is written under a temporary name, fsynced and renamed,
 * and the folder is fsynced. Only then may the database name it.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { syncPath } from "../../process/files.ts";
import type { MessageIdHash } from "../rules/message-id-hash.ts";
import { addToFilter, emptyFilter, mayContain } from "./message-id-filter.ts";
import { secondIn, wordsPerSlot } from "./message-id-table.ts";
import { nextTurn } from "./small-steps.ts";

/** "RKMI". The version of this form follows it. */
const magic = 0x494d4b52;
const version = 1;
const headerWords = 4;
const bytesPerSlot = wordsPerSlot * 4;
/** One read nearly always includes an empty slot: at three quarters full a look-up probes 8.5 slots. */
const slotsPerRead = 64;
/** 32,768 ids are added to the filter in 2 ms. Then requests run. */
const slotsPerTurn = 32_768;

/** Writes the slots of a sealed table. When it resolves, the run is on disk under its name. */
export async function writeRun(file: string, slots: Uint32Array, ids: number): Promise<void> {
  const filter = await filterOf(slots, ids);
  const header = Uint32Array.of(magic, version, slots.length / wordsPerSlot, filter.length);
  const temporary = `${file}.writing`;
  const handle = await open(temporary, "w");
  try {
    for (const part of [header, slots, filter]) await handle.writeFile(part);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncPath(dirname(file));
}

async function filterOf(slots: Uint32Array, ids: number): Promise<Uint32Array> {
  const filter = emptyFilter(ids);
  for (let start = 0; start < slots.length; start += slotsPerTurn * wordsPerSlot) {
    const end = Math.min(slots.length, start + slotsPerTurn * wordsPerSlot);
    for (let at = start; at < end; at += wordsPerSlot) {
      if (slots[at + 3] !== 0) addToFilter(filter, slots[at + 1] ?? 0, slots[at + 2] ?? 0);
    }
    await nextTurn();
  }
  return filter;
}

export class MessageIdRun {
  readonly #descriptor: number;
  readonly #slots: number;
  readonly #filter: Uint32Array;
  readonly #read = new Uint32Array(slotsPerRead * wordsPerSlot);

  /** @throws Error when the file is missing or is not a whole run. */
  constructor(file: string) {
    this.#descriptor = openSync(file, "r");
    try {
      const header = this.#wordsAt(0, new Uint32Array(headerWords));
      const [foundMagic, foundVersion, slots = 0, filterWords = 0] = header;
      if (foundMagic !== magic || foundVersion !== version) throw new Error(`${file} is not a run.`);
      this.#slots = slots;
      const filterAt = headerWords * 4 + slots * bytesPerSlot;
      this.#filter = this.#wordsAt(filterAt, new Uint32Array(filterWords));
    } catch (error) {
      closeSync(this.#descriptor);
      throw error;
    }
  }

  /** The second in which the id was committed. 0 if it is not in this run. */
  find(hash: MessageIdHash): number {
    if (!mayContain(this.#filter, hash)) return 0;
    let slot = hash.first & (this.#slots - 1);
    for (;;) {
      const slots = Math.min(slotsPerRead, this.#slots - slot);
      const words = this.#read.subarray(0, slots * wordsPerSlot);
      const second = secondIn(this.#wordsAt(headerWords * 4 + slot * bytesPerSlot, words), 0, hash);
      if (second !== undefined) return second;
      slot = (slot + slots) & (this.#slots - 1);
    }
  }

  *ids(): Iterable<{ readonly hash: MessageIdHash; readonly atSecond: number }> {
    const words = new Uint32Array(slotsPerTurn * wordsPerSlot);
    for (let slot = 0; slot < this.#slots; slot += slotsPerTurn) {
      const slots = words.subarray(0, Math.min(slotsPerTurn, this.#slots - slot) * wordsPerSlot);
      this.#wordsAt(headerWords * 4 + slot * bytesPerSlot, slots);
      for (let at = 0; at < slots.length; at += wordsPerSlot) {
        const [first = 0, second = 0, third = 0, atSecond = 0] = slots.subarray(at, at + wordsPerSlot);
        if (atSecond !== 0) yield { hash: { first, second, third }, atSecond };
      }
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #wordsAt(byte: number, words: Uint32Array): Uint32Array {
    const read = readSync(this.#descriptor, words, 0, words.byteLength, byte);
    if (read !== words.byteLength) throw new Error("A run of message ids is shorter than its header says.");
    return words;
  }
}

/** All ids in a run in any order, with the second in which each was committed.
 * @throws Error when the file is missing or is not a whole run */
export function* idsInRun(
  file: string,
): Iterable<{ readonly hash: MessageIdHash; readonly atSecond: number }> {
  const run = new MessageIdRun(file);
  try {
    yield* run.ids();
  } finally {
    run.close();
  }
}
