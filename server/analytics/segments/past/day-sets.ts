/**
 * Users or accounts of each of some days: a bit for each entity and day. Sets of all conditions of a segment
 * are combined here, outside of the engine, because 100,000 users and 91 days are 1.6 MB. See
 * docs/decisions/0086.
 */
import type { Parameter } from "../../../warehouse/engine/warehouse.ts";

/** Bits of an entity, so many days at most. */
export const maxDays = 128;
const wordBits = 32;
const wordsOfEntity = maxDays / wordBits;
/** 64 bits, as the engine takes them. */
const halvesOfEntity = 2;
const halfBits = 64n;

/** The entities of each day, by their number and by the place of the day, from 0. */
export class DaySets {
  readonly #words: Uint32Array;

  /** @param entities highest number, and one @param words of all entities; none are in it without them */
  constructor(entities: number, words = new Uint32Array(entities * wordsOfEntity)) {
    this.#words = words;
  }

  get entities(): number {
    return this.#words.length / wordsOfEntity;
  }

  has(entity: number, place: number): boolean {
    const word = this.#words[entity * wordsOfEntity + Math.floor(place / wordBits)] ?? 0;
    return ((word >>> (place % wordBits)) & 1) === 1;
  }

  /** Whether it is in the set of any day between two places, the second excluded. */
  hasAny(entity: number, from: number, to: number): boolean {
    for (let at = 0; at < wordsOfEntity; at += 1) {
      if (((this.#words[entity * wordsOfEntity + at] ?? 0) & wordBetween(at, from, to)) !== 0) return true;
    }
    return false;
  }

  /** Those that are in both. */
  and(other: DaySets): DaySets {
    return new DaySets(
      this.entities,
      this.#words.map((word, at) => word & (other.#words[at] ?? 0)),
    );
  }

  /** All others. */
  not(): DaySets {
    return new DaySets(
      this.entities,
      this.#words.map((word) => ~word),
    );
  }

  /** Adds entities with the days of another set's entity, between two places. */
  addFrom(entity: number, from: { readonly sets: DaySets; readonly entity: number }, stay: Stay): void {
    if (entity >= this.entities) return;
    for (let at = 0; at < wordsOfEntity; at += 1) {
      const word = from.sets.#words[from.entity * wordsOfEntity + at] ?? 0;
      const own = entity * wordsOfEntity + at;
      this.#words[own] = (this.#words[own] ?? 0) | (word & wordBetween(at, stay.from, stay.to));
    }
  }

  /** The values that `isMember` binds, of entities in a range of numbers. */
  parameters({ from, below }: { readonly from: number; readonly below: number }): Record<string, Parameter> {
    // No entity has the number 0. Arrays that are never empty have a type.
    const members = [0];
    const halves: [bigint[], bigint[]] = [[0n], [0n]];
    for (let entity = Math.max(1, from); entity < Math.min(below, this.entities); entity += 1) {
      const own = [0, 1].map((half) => this.#half(entity * halvesOfEntity + half));
      if (own.every((bits) => bits === 0n)) continue;
      members.push(entity);
      for (const [half, bits] of own.entries()) halves[half]?.push(bits);
    }
    return { members, membersLow: halves[0], membersHigh: halves[1] };
  }

  #half(at: number): bigint {
    const [low = 0, high = 0] = this.#words.subarray(2 * at, 2 * at + 2);
    return BigInt(low) | (BigInt(high) << (halfBits / 2n));
  }
}

/** Days between two places, the second excluded. */
export interface Stay {
  readonly from: number;
  readonly to: number;
}

/** The condition that an entity is in the set of a day. It binds `DaySets.parameters`.
 * @param entity a number, an expression @param place from 0, an expression */
export function isMember(entity: string, place: string): string {
  const of = (half: string) =>
    `transform(${entity}, {members:Array(UInt32)}, {members${half}:Array(UInt64)}, toUInt64(0))`;
  return `bitTest(if(${place} < ${halfBits}, ${of("Low")}, ${of("High")}), ${place} % ${halfBits})`;
}

/** The bits of a word between two places. */
function wordBetween(word: number, from: number, to: number): number {
  return bitsBelow(to - word * wordBits) & ~bitsBelow(from - word * wordBits);
}

function bitsBelow(count: number): number {
  if (count <= 0) return 0;
  return count >= wordBits ? -1 : (1 << count) - 1;
}
