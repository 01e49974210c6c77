/** The accounts of users as of past days. */

import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../../warehouse/schema/included.ts";
import { DaySets, type Stay } from "./day-sets.ts";
import { type PastDays, placeAfter, placeParameters } from "./past-days.ts";

interface UserStay extends Stay {
  readonly user: number;
  readonly account: number;
}

/** Which account each user had on which days. Excluded users are in none. */
export class PastStays {
  readonly #stays: readonly UserStay[];

  constructor(stays: readonly UserStay[]) {
    this.#stays = stays;
  }

  /** Users whose account is in the set of a day. @param users the highest number, and one */
  usersOf(accounts: DaySets, users: number): DaySets {
    const sets = new DaySets(users);
    for (const stay of this.#stays) sets.addFrom(stay.user, { sets: accounts, entity: stay.account }, stay);
    return sets;
  }

  /** Accounts of which any member is in the set of a day. @param accounts the highest number, and one */
  accountsOf(users: DaySets, accounts: number): DaySets {
    const sets = new DaySets(accounts);
    for (const stay of this.#stays) sets.addFrom(stay.account, { sets: users, entity: stay.user }, stay);
    return sets;
  }
}

/** Reads the stays from the history of users: the last account before the start of a day counts. */
export async function pastStays(warehouse: Warehouse, past: PastDays): Promise<PastStays> {
  const moves = await warehouse.rows<{ user: number; account: number; place: number }>(
    `SELECT user, argMax(account, (at, version)) AS account, place
     FROM (
       SELECT user, assumeNotNull(account) AS account, at, version,
         toUInt8(${placeAfter("toUnixTimestamp64Milli(at)")}) AS place
       FROM user_versions
       WHERE organization = {organization:UInt32} AND isNotNull(account) AND ${isIncluded("user")})
     WHERE place < {days:UInt8} GROUP BY user, place ORDER BY user, place`,
    { ...placeParameters(past), organization: past.organization, days: past.days.length },
  );
  const stays = moves.map(({ user, account, place }, at) => {
    const next = moves[at + 1];
    return { user, account, from: place, to: next?.user === user ? next.place : past.days.length };
  });
  return new PastStays(stays.filter(({ account }) => account !== 0));
}
