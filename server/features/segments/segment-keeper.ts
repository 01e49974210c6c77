/**
 * Records who enters and leaves segments: after the day's first scores, at midnight, after an edit, and every
 * 15 minutes while data is loaded. Its memory follows from the stored evaluations, so after a kill it goes on
 * where they end. See docs/decisions/0092.
 */

import { comparedDays } from "../../../contract/segments/segments.ts";
import type { EntitySet } from "../../analytics/entities/entity-sets.ts";
import { zoneOf } from "../../calendar/zone.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import { type Segment, segmentWithThoseBelow } from "../../ledger/rules/segment-rules.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { Logger } from "../../process/log.ts";
import { Retries } from "../../process/retries.ts";
import { rulesKey } from "../../scoring/preview/scores-by-rules.ts";
import type { SourceWatch } from "../../scoring/run/source-watch.ts";
import { newestRun } from "../../scoring/run/status.ts";
import { statementByStatement } from "../../scoring/run/turns.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { causeOf, isDue, touchedSince, unknownSinceMs } from "./cause.ts";
import {
  contentKeys,
  deleteEvaluations,
  differenceOf,
  type Evaluation,
  type EvaluationGround,
  keyOf,
  type NewEvaluation,
  organizationsWithEvaluations,
  storedEvaluations,
  storeEvaluation,
} from "./evaluations.ts";

/** Segments as they are now. */
export interface SegmentsNow {
  /** The segments of the organization, as the evaluation read them. */
  readonly segments: readonly Segment[];
  /** @throws ApiError when there is no such segment */
  readonly membersOf: (segment: number) => Promise<EntitySet>;
  /** Whether scores decide who is a member. */
  readonly readsScores: (segment: number) => boolean;
}

export interface SegmentKeeperParts {
  readonly ledger: Pick<
    SharedLedger,
    | "segments"
    | "organizations"
    | "rebuildsPending"
    | "settings"
    | "exclusions"
    | "lastBulkLoadAtMs"
    | "freshness"
    | "erasures"
  >;
  readonly warehouse: Warehouse;
  readonly host: {
    drain(): Promise<void>;
    whileNothingChanges<Result>(work: () => Promise<Result>): Promise<Result>;
    loadedBatches(organization: number): number;
  };
  /** Prepares the evaluation of segments: the events of all their conditions are counted in one pass. */
  readonly evaluate: (
    organization: Organization,
    segments: readonly number[],
    warehouse: Warehouse,
  ) => Promise<SegmentsNow>;
  readonly sources: Pick<SourceWatch, "stoppedFor">;
  readonly nowMs: () => number;
  readonly log: Logger;
  readonly rests?: Rests;
}

/** How long an organization rests. */
interface Rests {
  /** From a check for due segments to the next: `eachMs` times the organizations with segments, at most
   * `longestMs`. */
  readonly betweenChecks: { readonly eachMs: number; readonly longestMs: number };
  /** After an evaluation: `times` its duration, at most `longestMs`. */
  readonly afterEvaluation: { readonly times: number; readonly longestMs: number };
}

/** Evaluations of up to 100 seconds take a tenth of the time, longer ones more. */
const defaultRests: Rests = {
  betweenChecks: { eachMs: 100, longestMs: 60_000 },
  afterEvaluation: { times: 9, longestMs: 15 * 60_000 },
};
const restsAfterFailure = { firstMs: 60_000, longestMs: 3_600_000 };

/** The last evaluation of a segment, and how many batches were loaded before; undefined after a start. */
interface Kept {
  readonly evaluation: Evaluation;
  readonly batches: number | undefined;
}

/** The known state of an organization. After a failure it is read again. */
interface Memory {
  readonly last: Map<number, Kept>;
  /** Segments that have stored rows. */
  readonly stored: Set<number>;
  /** By the monotonic clock. */
  restsUntilMs: number;
}

class Stopping extends Error {}

export class SegmentKeeper {
  readonly #parts: SegmentKeeperParts;
  readonly #rests: Rests;
  readonly #memories = new Map<number, Memory>();
  /** Failures of organizations, by id, and of segments, by organization and id. */
  readonly #failures: Retries<string>;
  /** Organizations with rows; undefined until they are read. */
  #withRows: Set<number> | undefined;
  #isStopping = false;
  readonly #stopped = Promise.withResolvers<void>();

  constructor(parts: SegmentKeeperParts) {
    this.#parts = parts;
    this.#rests = parts.rests ?? defaultRests;
    this.#failures = new Retries(restsAfterFailure, parts.nowMs);
  }

  /** Ends after the statement in hand, and waits for no turn and for no loader. */
  stop(): void {
    this.#isStopping = true;
    this.#stopped.resolve();
  }

  /** Runs work in a turn. @throws when the service stops before the turn comes: a backup may hold it for
   * long */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    let hasBegun = false;
    const turn = this.#parts.host.whileNothingChanges(async () => {
      if (this.#isStopping) throw new Stopping();
      hasBegun = true;
      return work();
    });
    const stopped = this.#stopped.promise.then(() => {
      if (hasBegun) return turn;
      throw new Stopping();
    });
    return Promise.race([turn, stopped]);
  }

  /** Evaluates the segments that are due, one organization after another. An organization that fails rests
   * and does not stop the others. */
  async run(): Promise<void> {
    const { ledger, warehouse } = this.#parts;
    this.#withRows ??= new Set(await organizationsWithEvaluations(warehouse));
    const ids = new Set([...(await ledger.segments.organizations()), ...this.#withRows]);
    const rebuilding = await ledger.rebuildsPending();
    const { eachMs, longestMs } = this.#rests.betweenChecks;
    const restMs = Math.min(longestMs, eachMs * ids.size);
    for (const id of ids) {
      if (this.#isStopping) return;
      if (rebuilding.includes(id) || this.#failures.isResting(String(id))) continue;
      try {
        await this.#check(id, restMs);
        this.#failures.succeeded(String(id));
      } catch (error) {
        this.#memories.delete(id);
        this.#failed(String(id), error);
      }
    }
  }

  #failed(key: string, error: unknown, of = ""): void {
    if (this.#isStopping || !this.#failures.failed(key, of)) return;
    this.#parts.log.warn({ err: error, of: key }, "segments are evaluated at a later look");
  }

  async #check(id: number, restMs: number): Promise<void> {
    const { ledger, warehouse, host } = this.#parts;
    const memory = this.#memories.get(id) ?? (await remembered(warehouse, id));
    this.#memories.set(id, memory);
    if (performance.now() < memory.restsUntilMs) return;
    const organization = await ledger.organizations.find(id);
    // The rows of an organization that is being deleted go with it.
    if (organization === undefined) return this.#forget(id);
    const segments = await ledger.segments.list(id);
    await this.#deleteOthers(id, memory, segments);
    if (segments.length === 0) return this.#forget(id);
    this.#withRows?.add(id);
    memory.restsUntilMs = performance.now() + restMs;
    const due = await this.#due(organization, memory, segments);
    if (due.segments.length === 0) return;
    await Promise.race([host.drain(), this.#stopped.promise]);
    if (this.#isStopping) return;
    const beganMs = performance.now();
    await this.#evaluate(organization, memory, due);
    const endedMs = performance.now();
    const { times, longestMs } = this.#rests.afterEvaluation;
    memory.restsUntilMs = endedMs + Math.max(restMs, Math.min(longestMs, times * (endedMs - beganMs)));
  }

  #forget(organization: number): void {
    this.#memories.delete(organization);
    this.#withRows?.delete(organization);
  }

  /** Deletes the rows of segments that were deleted. */
  async #deleteOthers(id: number, memory: Memory, segments: readonly Segment[]): Promise<void> {
    const gone = [...memory.stored].filter((one) => !segments.some((segment) => segment.id === one));
    if (gone.length === 0) return;
    const { warehouse } = this.#parts;
    await this.#inTurn(() => deleteEvaluations(warehouse, id, gone));
    for (const segment of gone) {
      memory.stored.delete(segment);
      memory.last.delete(segment);
    }
  }

  async #due(organization: Organization, memory: Memory, segments: readonly Segment[]): Promise<Due> {
    const { host, nowMs } = this.#parts;
    const { isStopped, ...ground } = await this.#ground(organization);
    const batches = host.loadedBatches(organization.id);
    const contentOf = contentKeys(segments);
    return {
      ground,
      segments: segments.flatMap((segment) => {
        const kept = memory.last.get(segment.id);
        const content = contentOf(segment);
        const moment = { nowMs: nowMs(), isStopped, hasNewData: kept?.batches !== batches };
        if (this.#failures.isResting(`${organization.id}/${segment.id}`, content)) return [];
        return isDue(kept?.evaluation, { ...ground, content }, moment) ? [segment.id] : [];
      }),
    };
  }

  async #ground({ id, timezone }: Organization): Promise<Due["ground"] & { readonly isStopped: boolean }> {
    const { ledger, warehouse, sources, nowMs } = this.#parts;
    const zone = zoneOf(timezone);
    const day = zone.dayOf(nowMs());
    const isStopped = (await sources.stoppedFor({ id, zone }, day)) !== null;
    const { version } = await ledger.settings.get(id);
    const { revision } = await ledger.exclusions.rules(id);
    const runs = [];
    const compared = [];
    for (const kind of ["user", "account"] as const) {
      const run = await newestRun(warehouse, id, kind, day);
      if (run === undefined) continue;
      runs.push(run);
      for (const days of comparedDays) {
        compared.push((await newestRun(warehouse, id, kind, run.day - days)) ?? run);
      }
    }
    const began = runs.map(({ body }) => body.finishedAtMs - body.tookMs);
    return {
      isStopped,
      day,
      // When data is back after a stop, changes are not the members' own behavior.
      ground: keyOf([version, revision, timezone, isStopped]),
      rules: keyOf([...runs, ...compared].map(rulesKey)),
      scoredDay: runs.length === 0 ? -1 : Math.min(...runs.map((run) => run.day)),
      scoredAtMs: began.length === 0 ? 0 : Math.max(0, Math.floor(Math.min(...began))),
    };
  }

  /** Evaluates the due segments, then records their changes one by one. Records nothing when scores, settings
   * or exclusions changed meanwhile: the members may be from before or after the change. */
  async #evaluate(organization: Organization, memory: Memory, { ground, segments }: Due): Promise<void> {
    const { ledger, host, warehouse, evaluate } = this.#parts;
    const { id } = organization;
    const { loadedUptoMs } = await ledger.freshness(id);
    const batches = host.loadedBatches(id);
    const inTurns = statementByStatement(warehouse, (work) => this.#inTurn(work));
    const now = await evaluate(organization, segments, inTurns);
    const found = await this.#membersOf(id, now, segments);
    // Rows of an import that are in the warehouse by now were stored before.
    const bulkLoadedAtMs = await ledger.lastBulkLoadAtMs(id);
    const sinceMs = found.flatMap(({ segment }) => {
      const last = memory.last.get(segment.id)?.evaluation;
      return last === undefined ? [] : [unknownSinceMs(last, now.readsScores(segment.id))];
    });
    const erased = sinceMs.length === 0 ? [] : await ledger.erasures.accountsSince(id, Math.min(...sinceMs));
    if (!(await this.#isStill(id, ground))) return;
    const contentThen = contentKeys(now.segments);
    const contentNow = contentKeys(await ledger.segments.list(id));
    for (const { segment, members } of found) {
      const content = contentThen(segment);
      if (this.#isStopping || content !== contentNow(segment)) continue;
      const last = memory.last.get(segment.id)?.evaluation;
      const whole = { ...ground, content, loadedUptoMs: loadedUptoMs ?? 0 };
      const readsScores = now.readsScores(segment.id);
      const cause = causeOf(last, whole, { readsScores, bulkLoadedAtMs });
      const touched =
        last === undefined || cause !== "change"
          ? undefined
          : touchedSince(erased, last, segmentWithThoseBelow(now.segments, segment.id), readsScores);
      const found = { segment: segment.id, members, ...whole };
      const evaluation = await this.#record(id, last, found, { cause, touched });
      memory.stored.add(segment.id);
      memory.last.set(segment.id, { evaluation, batches });
    }
  }

  /** Whether an evaluation may be stored under the ground on which it began: the day, timezone, settings and
   * scores did not change, and there was no rebuild. */
  async #isStill(id: number, ground: Due["ground"]): Promise<boolean> {
    const { ledger } = this.#parts;
    const organization = await ledger.organizations.find(id);
    if (organization === undefined || (await ledger.rebuildsPending()).includes(id)) return false;
    const { isStopped: _, ...now } = await this.#ground(organization);
    return keyOf(now) === keyOf(ground);
  }

  /** A segment that cannot be evaluated, because its filter needs a setting that is gone for example, does
   * not stop the others. */
  async #membersOf(organization: number, now: SegmentsNow, segments: readonly number[]): Promise<Found[]> {
    const found: Found[] = [];
    const contentOf = contentKeys(now.segments);
    for (const segment of now.segments.filter(({ id }) => segments.includes(id))) {
      if (this.#isStopping) break;
      const key = `${organization}/${segment.id}`;
      try {
        found.push({ segment, members: await now.membersOf(segment.id) });
        this.#failures.succeeded(key);
      } catch (error) {
        this.#failed(key, error, contentOf(segment));
      }
    }
    return found;
  }

  /** Compares and stores while no user is erased, or a member that was read before would be stored after the
   * erasure. */
  #record(
    organization: number,
    last: Evaluation | undefined,
    { members, ...ground }: EvaluationGround & { readonly segment: number; readonly members: EntitySet },
    why: Pick<NewEvaluation, "cause" | "touched">,
  ): Promise<Evaluation> {
    const { ledger, warehouse, nowMs } = this.#parts;
    return this.#inTurn(async () => {
      if ((await ledger.organizations.find(organization)) === undefined) {
        throw new Error("the organization is being deleted");
      }
      const difference = await differenceOf(warehouse, { organization, segment: ground.segment }, members);
      const { size, entries, leaves } = difference;
      const evaluation = { ...ground, size, sequence: (last?.sequence ?? 0) + 1, atMs: nowMs() };
      if (entries + leaves === 0 && last !== undefined && isSame(last, evaluation)) {
        return { ...evaluation, sequence: last.sequence };
      }
      await storeEvaluation(warehouse, { ...evaluation, ...why, organization, of: members.of }, difference);
      return evaluation;
    });
  }
}

/** The segments to evaluate, and the ground of the evaluation. */
interface Due {
  readonly ground: Omit<EvaluationGround, "content" | "loadedUptoMs">;
  readonly segments: readonly number[];
}

/** A segment with its members now. */
interface Found {
  readonly segment: Segment;
  readonly members: EntitySet;
}

async function remembered(warehouse: Warehouse, organization: number): Promise<Memory> {
  const { last, segments } = await storedEvaluations(warehouse, organization);
  return {
    last: new Map([...last].map(([id, evaluation]) => [id, { evaluation, batches: undefined }])),
    stored: new Set(segments),
    restsUntilMs: Number.NEGATIVE_INFINITY,
  };
}

/** Whether an evaluation without changes is stored: when its ground differs from the last. */
function isSame(last: Evaluation, now: Evaluation): boolean {
  const names = ["size", "day", "content", "ground", "rules", "scoredDay"] as const;
  return names.every((name) => last[name] === now[name]);
}
