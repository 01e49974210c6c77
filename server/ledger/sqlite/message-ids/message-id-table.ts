/**
 * Message ids in memory: an open-addressing hash table in one typed array, 16 bytes a slot: 96 bits of hash
 * and the second of the commit (0 = empty slot). Native maps took 60 bytes and more for each.
 *
 * It grows without a pause: rehashing 400 thousand ids at once took 49 ms, so after a doubling the former
 * slots stay in use, and each addition moves a few of them over.
 */

import type { MessageIdHash } from "../../rules/message-id-hash.ts";

export const wordsPerSlot = 4;
const smallestSlots = 2 ** 12;
/** Above three quarters the probes of linear probing grow long. */
const fullest = 0.75;
/** At least 2: the former slots have to be empty before the new ones, which are twice as many, are full. */
const slotsMovedPerAddition = 8;

/**
 * Looks for a hash from its home slot on.
 * @returns the second of its commit; 0 when an empty slot came first; undefined when the words ended before.
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

/** Puts an id in, or makes the one that is there as new. @returns whether it is new. */
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

  /** Ids in the table, but for those that a doubling has not moved yet. */
  get count(): number {
    return this.#count;
  }

  /** The second in which the id was committed; 0 when it is not here. */
  find(hash: MessageIdHash): number {
    const second = find(this.#words, hash);
    return second === 0 && this.#former.length > 0 ? find(this.#former, hash) : second;
  }

  add(hash: MessageIdHash, atSecond: number): void {
    if (this.#count * wordsPerSlot >= this.#words.length * fullest) this.#double();
    if (put(this.#words, hash.first, hash.second, hash.third, atSecond)) this.#count += 1;
    if (this.#former.length > 0) this.#move(slotsMovedPerAddition);
  }

  /** All slots, as they are written to a run. The table must not change any more. */
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
