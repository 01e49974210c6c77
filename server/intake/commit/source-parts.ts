/** Cuts a request of a connected source into parts, each of which is admitted, decided and written in one go. */
import type { Arrival } from "../admission/admit-event.ts";
import { type AdmittedSourced, admitSourced, type LeftOut } from "../admission/admit-sourced.ts";
import { type Invalid, isInvalid } from "../admission/json.ts";
import type { SourcedItem } from "../admission/sourced.ts";
import { costOf, costOfInvalid, costOfPart } from "./part-cost.ts";

export interface AdmittedItem {
  readonly item: SourcedItem;
  readonly admitted: AdmittedSourced | Invalid;
  /** What of it was left out. */
  readonly leftOut: readonly LeftOut[];
}

/** Admits items from an index on, until they cost as much as a commit may; at least one. */
export function nextPart(items: readonly SourcedItem[], from: number, arrival: Arrival): AdmittedItem[] {
  const part: AdmittedItem[] = [];
  let cost = 0;
  for (let index = from; index < items.length && cost < costOfPart; index += 1) {
    const item = items[index];
    if (item === undefined) break;
    const leftOut: LeftOut[] = [];
    const admitted = admitSourced(item, arrival, (left) => leftOut.push(left));
    cost += isInvalid(admitted) ? costOfInvalid(item) : costOf(admitted);
    part.push({ item, admitted, leftOut });
  }
  return part;
}
