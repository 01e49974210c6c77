/**
 * Message ids in memory: an open-addressing hash table in one typed array. A slot has 16 bytes: 96 bits of
 * hash and the second of the commit (0 = empty slot). Native maps took at least 60 bytes for each id.
 *
 * It grows without a pause. A rehash of 400 thousand ids at once took 49 ms. So after a doubling the former
 * slots stay in use, and each addition moves a few of them.
 */

import type { MessageIdHash } from "../rules/message-id-hash.ts";

export const wordsPerSlot = 4;
const smallestSlots = 2 ** 12;
/** Above three quarters, linear probing takes many probes. */
const fullest = 0.75;
/** At least 2, because there are twice as many new slots. The former ones have to be empty before the new
 * ones are full. */
const slotsMovedPerAddition = 8;

/**
 * Searches for a hash from its home slot on.
 * @returns the second of its commit. 0 if an empty slot came first, undefined if the words ended first.
 */
export function secondIn(words: Uint32Array, homeSlot: number, hash: MessageIdHash): number | undefined {
  for (let at = homeSlot * wordsPerSlot; at < words.length; at += wordsPerSlot) {
    const second = words[at + 3];
    if (second === 0) return 0;
    if (words[at] === hash.first && words[at + 1] === hash.second && words[at + 2] === hash.third) {
      return second;
    }
  }
  return undefined;
}

function find(words: Uint32Array, hash: MessageIdHash): number {
  const home = hash.first & (words.length / wordsPerSlot - 1);
  return secondIn(words, home, hash) ?? secondIn(words, 0, hash) ?? 0;
}

/** Adds an id, or updates the second of an existing one. @returns whether it is new. */
function put(words: Uint32Array, first: number, second: number, third: number, atSecond: number): boolean {
  const lastWord = words.length - 1;
  let at = (first * wordsPerSlot) & lastWord;
  while (words[at + 3] !== 0) {
    if (words[at] === first && words[at + 1] === second && words[at + 2] === third) {
      words[at + 3] = Math.max(words[at + 3] ?? 0, atSecond);
      return false;
    }
    at = (at + wordsPerSlot) & lastWord;
  }
  words[at] = first;
  words[at + 1] = second;
  words[at + 2] = third;
  words[at + 3] = atSecond;
  return true;
}

export class MessageIdTable {
  #words = new Uint32Array(smallestSlots * wordsPerSlot);
  #former = new Uint32Array(0);
  #formerMovedWords = 0;
  #count = 0;

  /** The number of ids in the table, without those that were not moved yet after a doubling. */
  get count(): number {
    return this.#count;
  }

  /** The second in which the id was committed. 0 if it is not in the table. */
  find(hash: MessageIdHash): number {
    const second = find(this.#words, hash);
    return second === 0 && this.#former.length > 0 ? find(this.#former, hash) : second;
  }

  add(hash: MessageIdHash, atSecond: number): void {
    if (this.#count * wordsPerSlot >= this.#words.length * fullest) this.#double();
    if (put(this.#words, hash.first, hash.second, hash.third, atSecond)) this.#count += 1;
    if (this.#former.length > 0) this.#move(slotsMovedPerAddition);
  }

  /** All slots, in the form of a run. The table must not change any more. */
  seal(): Uint32Array {
    this.#move(this.#former.length);
    return this.#words;
  }

  #double(): void {
    this.#move(this.#former.length);
    this.#former = this.#words;
    this.#formerMovedWords = 0;
    this.#words = new Uint32Array(this.#former.length * 2);
    this.#count = 0;
  }

  #move(slots: number): void {
    const end = Math.min(this.#former.length, this.#formerMovedWords + slots * wordsPerSlot);
    for (let at = this.#formerMovedWords; at < end; at += wordsPerSlot) {
      const atSecond = this.#former[at + 3] ?? 0;
      if (atSecond === 0) continue;
      const first = this.#former[at] ?? 0;
      const second = this.#former[at + 1] ?? 0;
      const third = this.#former[at + 2] ?? 0;
      if (put(this.#words, first, second, third, atSecond)) this.#count += 1;
    }
    this.#formerMovedWords = end;
    if (end === this.#former.length) this.#former = new Uint32Array(0);
  }
}
