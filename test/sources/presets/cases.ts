/** The form of the table of payloads of billing tools, with what each becomes. */
import { expect } from "bun:test";
import type { JsonObject } from "../../../contract/json.ts";

/** The ledger's knowledge: traits of users by their ids, users by their e-mail addresses, and links of
 * visitors. */
export interface Known {
  readonly users?: Readonly<Record<string, JsonObject>>;
  readonly emails?: Readonly<Record<string, readonly string[]>>;
  readonly links?: Readonly<Record<string, string>>;
}

export type Event = readonly [name: string, properties: JsonObject];

/** What is expected of items beyond their events, and what the ledger knows. */
export interface Items {
  readonly known?: Known;
  /** There is no event. */
  readonly events?: 0;
  /** Some traits of the user; all of them. */
  readonly traits?: object;
  readonly allTraits?: object;
  /** The amount of the first event. */
  readonly amount?: number | undefined;
  /** Parts of the first item, of the last one, and of all. */
  readonly first?: object;
  readonly last?: object;
  readonly items?: readonly object[];
}

/**
 * A payload, and what it becomes: a part of the reason for which it is ignored, or its events, or more about
 * its items. The type of the payload is the begin of `what`. Where nothing is said of what the ledger knows,
 * a known and an unknown user have the same outcome.
 */
export type PresetCase = readonly [what: string, data: object, ...becomes: (string | Event | Items)[]];

export interface PresetCases {
  /** Makes a payload of a type. */
  readonly payload: (type: string, data: object) => object;
  /** A ledger that knows the user of the payloads. */
  readonly known: Known;
  readonly cases: readonly PresetCase[];
  /** Types that are ignored, with a payload that would do for others. */
  readonly unused: readonly string[];
  readonly data: object;
  /** Bodies that are no payloads of the tool. */
  readonly noPayloads: readonly unknown[];
  /** Payloads whose fields are replaced by values of every wrong kind. */
  readonly toSpoil: readonly object[];
}

/** An event with any properties, or with these among others. */
export const some = (name: string, properties: object = {}): Event => [
  name,
  expect.objectContaining(properties),
];

/** A ledger that knows a user with this e-mail address, and one that knows nobody. */
export const withAddress = (address: string, userId: string) => ({
  known: { emails: { [address]: [userId] } },
});
export const nobody = { known: {} };
