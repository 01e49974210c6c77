/**
 * Requests of connected sources. Each is divided into parts. A part is admitted, decided and written without
 * a pause. Other requests run between two parts.
 */
import type { Arrival } from "./admission/admit-event.ts";
import { type AdmittedSourced, admitSourced, type LeftOut } from "./admission/admit-sourced.ts";
import { type Invalid, isInvalid } from "./admission/json.ts";
import type { SourcedItem } from "./admission/sourced.ts";
import type { SourcedOutcome } from "./decide/requests.ts";
import type { GroupCommit } from "./group-commit.ts";
import { type NoteTaker, noteSourced } from "./notes.ts";
import { costOf, costOfInvalid, costOfPart } from "./part-cost.ts";
import type { LargeRequest } from "./waiting-requests.ts";

/** Gets the items of a source in their order: the warnings about an item, then its outcome. */
export interface SourcedWatcher extends NoteTaker {
  decided(index: number, outcome: SourcedOutcome): void;
}

export class SourcedRequests {
  readonly #commits: Pick<GroupCommit, "submitSourced">;

  constructor(commits: Pick<GroupCommit, "submitSourced">) {
    this.#commits = commits;
  }

  /**
   * Stores items in their order, and resolves with an outcome for each. Rejects when the ledger failed: then
   * the earlier parts are stored. The source sends the whole request again, and message ids show which items
   * are stored.
   * @param source its name, under which warnings are counted. @param warnings gets the warnings about all
   * items
   */
  async store(
    items: readonly SourcedItem[],
    arrival: Arrival,
    source: string,
    warnings: NoteTaker,
    decided: (index: number, outcome: SourcedOutcome) => void,
  ): Promise<readonly SourcedOutcome[]> {
    const request: LargeRequest = { moved: 0 };
    const outcomes: SourcedOutcome[] = [];
    while (outcomes.length < items.length) {
      const part = nextPart(items, outcomes.length, arrival);
      const isWhole = part.length === items.length;
      const decisions = (await this.#submit(part, isWhole ? undefined : request)).values();
      for (const { item, admitted, leftOut } of part) {
        const outcome = isInvalid(admitted) ? admitted : decisions.next().value;
        if (outcome === undefined) throw new Error("an item of the source was not decided");
        noteSourced(warnings, source, arrival, { item, outcome, leftOut });
        decided(outcomes.length, outcome);
        outcomes.push(outcome);
      }
    }
    return outcomes;
  }

  /** The outcomes of the admitted items of a part. @param request to which the part belongs. Undefined for a
   * whole request */
  async #submit(
    part: readonly AdmittedItem[],
    request: LargeRequest | undefined,
  ): Promise<readonly SourcedOutcome[]> {
    const good = part.flatMap(({ admitted }) => (isInvalid(admitted) ? [] : [admitted]));
    if (good.length === 0) {
      // A part without admitted items waits for no commit. Without a pause it would hold the thread together
      // with the next.
      if (request !== undefined) await new Promise(setImmediate);
      return [];
    }
    const bytes = good.reduce((sum, item) => sum + item.bytes, 0);
    return this.#commits.submitSourced(good, bytes, request);
  }
}

interface AdmittedItem {
  readonly item: SourcedItem;
  readonly admitted: AdmittedSourced | Invalid;
  /** The fields that were left out. */
  readonly leftOut: readonly LeftOut[];
}

/** Admits items from an index on, at least one, up to the cost of a part. */
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
