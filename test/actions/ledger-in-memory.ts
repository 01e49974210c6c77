/** The ledger's part in decisions of one rule, and a process that may die beside each commit. */
import { expect } from "bun:test";
import type { RuleCondition, RuleExemptions, RuleScope } from "../../contract/alerts/rules.ts";
import { setOfNumbers } from "../../server/analytics/entities/entity-sets.ts";
import { decideContinuousRules, decideDailyRules } from "../../server/features/alerts/rules/decide-rules.ts";
import type { DecisionParts } from "../../server/features/alerts/rules/decision-parts.ts";
import { SeenOwners } from "../../server/features/alerts/rules/seen-owners.ts";
import type { EntityWorth } from "../../server/features/alerts/rules/worth.ts";
import type {
  ClosedAlert,
  DecisionChunk,
  EntityStateRow,
  FiredAlert,
  RuleToDecide,
  Watermark,
} from "../../server/features/alerts/store/decisions.ts";
import type { ErasedAccounts } from "../../server/ledger/erasures.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import { isPastImported, lateEventsOfPast } from "../../server/scoring/run/changed-days.ts";
import { runsBetween } from "../../server/scoring/run/records.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import type { Random } from "../../simulation/random.ts";

class Killed extends Error {}

interface Options {
  readonly random?: Random;
  readonly scope?: RuleScope["kind"];
  /** The segment of the scope. */
  readonly segment?: number;
  /** Default: UTC. */
  readonly timezone?: string;
}

/** The ledger's part: it takes a chunk that follows the last one, and no other. */
export class LedgerInMemory {
  readonly fired: FiredAlert[] = [];
  readonly closed: ClosedAlert[] = [];
  readonly #states = new Map<string, EntityStateRow>();
  watermark: Watermark = {
    sequence: 1,
    version: 1,
    decidedThrough: null,
    part: null,
    takesOver: true,
    cursor: null,
  };
  commits = 0;
  bulkLoadedAtMs: number | null = null;
  erasures: readonly ErasedAccounts[] = [];
  /** The process dies before or after some commits. */
  #seenOwners = new SeenOwners();
  /** Batches of users that were loaded. Undefined: one before each look. */
  userBatches: number | undefined;
  #looks = 0;
  /** Pages of states that were read. */
  statesRead = 0;
  readonly #random: Random | undefined;
  readonly #organization: number;
  readonly #condition: RuleCondition;
  timezone: string;

  readonly #scope: RuleScope;
  /** The members of the segment that the rule names, and by its id where it names two. */
  members: readonly number[] = [];
  readonly membersOf = new Map<number, readonly number[]>();
  /** Whether they follow from scores. */
  readsScores = false;
  /** Whether days without data change them. */
  countsDays = false;
  /** When it was edited last. The rule is of the beginning of 1970. */
  segmentChangedAtMs = 0;
  /** When the rule was saved or resumed: at the first look, if it is not set. */
  savedAtMs: number | undefined;
  insideBySettings = 0;
  sources: DecisionParts["sources"] = { statuses: async () => [] };
  exemptions: RuleExemptions = {};
  /** What users and accounts are worth besides, by number. */
  worth: ReadonlyMap<number, EntityWorth> = new Map();
  mrrs: Readonly<Record<EntityKind, ReadonlyMap<number, number | null>>> = {
    user: new Map(),
    account: new Map(),
  };

  constructor(
    organization: number,
    condition: RuleCondition,
    { random, scope = "users", segment, timezone = "UTC" }: Options = {},
  ) {
    this.#organization = organization;
    this.#condition = condition;
    this.#random = random;
    this.timezone = timezone;
    this.#scope = { kind: scope, ...(segment !== undefined && { segment }) };
  }

  /** One look at this time, again after each death. */
  async decide(warehouse: Warehouse, atMs: number): Promise<void> {
    this.#looks += 1;
    this.savedAtMs ??= atMs;
    const parts: DecisionParts = {
      warehouse,
      rules: this,
      sources: this.sources,
      commit: (_, chunk) => this.commit(chunk),
      newestRun: (organization, kind, uptoDay) => newestRun(warehouse, organization, kind, uptoDay),
      runsBetween: (of, span) => runsBetween(warehouse, of, span),
      mrrOf: async (_, kind) => this.mrrs[kind],
      worthOf: async () => this.worth,
      horizonOf: async () => 14,
      segmentOf: async (_, segment) => ({
        name: "A segment",
        changedAtMs: this.segmentChangedAtMs,
        readsScores: this.readsScores,
        countsDays: this.countsDays,
        members: await setOfNumbers(warehouse, this.#scope.kind === "users" ? "user" : "account", {
          organization: this.#organization,
          numbers: this.membersOf.get(segment) ?? this.members,
        }),
      }),
      isPastImported: (question) => isPastImported(warehouse, question),
      lateEvents: (question) => lateEventsOfPast(warehouse, question),
      erasedSince: async (_, sinceMs) => this.erasures.filter((one) => one.requestedAtMs >= sinceMs),
      lastBulkLoadAtMs: async () => this.bulkLoadedAtMs,
      seenOwners: this.#seenOwners,
      loadedUserBatches: () => this.userBatches ?? this.#looks,
      nowMs: () => atMs,
    };
    const organization = { id: this.#organization, timezone: this.timezone, name: "Acme" } as Organization;
    for (let isDone = false; !isDone; ) {
      isDone = true;
      const own = { ...parts, seenOwners: this.#seenOwners };
      const failed = (_: unknown, error: unknown) => {
        if (!(error instanceof Killed)) throw error;
        this.#seenOwners = new SeenOwners();
        isDone = false;
      };
      await decideContinuousRules(own, organization, failed);
      await decideDailyRules(own, organization, failed);
    }
  }

  /** The process begins anew, and knows what is stored alone. */
  restart(): void {
    this.#seenOwners = new SeenOwners();
  }

  /** The state of an entity of another kind, with the same number, as a change of the scope leaves it for a
   * moment. */
  keep(state: EntityStateRow): void {
    this.#states.set(JSON.stringify(state.entity), state);
  }

  get rule(): RuleToDecide {
    return {
      version: {
        organization: this.#organization,
        rule: 1,
        version: 1,
        name: "A rule",
        condition: this.#condition,
        scope: this.#scope,
        exemptions: this.exemptions,
        cooldownDays: null,
        cap: 20,
        when: "at once" as const,
        destinations: [],
        holdOutShare: 0,
        experiment: 1,
        createdAtMs: 0,
        updatedAtMs: this.savedAtMs ?? 0,
      },
      watermark: this.watermark,
    };
  }

  readonly toDecide = async () => [this.rule];

  /** The next decision takes the state over, as after a resumption. */
  takeOver(): void {
    this.watermark = { ...this.watermark, sequence: this.watermark.sequence + 1, takesOver: true };
  }

  readonly states = async (_: number, __: number, after: number, limit: number) => {
    this.statesRead += 1;
    return [...this.#states.values()]
      .filter(({ entity }) => numberOf(entity) > after)
      .sort((a, b) => numberOf(a.entity) - numberOf(b.entity))
      .slice(0, limit);
  };

  readonly openMoments = async () =>
    this.fired.flatMap(({ entity, day: firedOn, eventId }, at) => {
      if (eventId === null || this.closed.some((one) => one.eventId === eventId)) return [];
      return [{ id: at + 1, entity, firedOn, eventId }];
    });

  readonly commit = async (chunk: DecisionChunk): Promise<Watermark> => {
    if (this.#random?.chance(0.2) === true) throw new Killed();
    if (chunk.after !== this.watermark.sequence) throw new Error("The chunk does not follow the last one.");
    expect(Math.max(chunk.fired.length, chunk.closed.length)).toBeLessThanOrEqual(100);
    this.fired.push(...chunk.fired);
    this.closed.push(...chunk.closed);
    this.insideBySettings += chunk.insideBySettings;
    for (const state of chunk.states) {
      const { hasLeft, firedOn, restsUntil } = state;
      const key = JSON.stringify(state.entity);
      if (hasLeft && firedOn === null && restsUntil === null) this.#states.delete(key);
      else this.#states.set(key, state);
    }
    const { sequence, takesOver } = this.watermark;
    const isOver = chunk.next.part === null;
    this.watermark = { ...chunk.next, version: 1, sequence: sequence + 1, takesOver: takesOver && !isOver };
    this.commits += 1;
    if (this.#random?.chance(0.2) === true) throw new Killed();
    return this.watermark;
  };
}

function numberOf(entity: EntityStateRow["entity"]): number {
  return entity.kind === "source" ? 0 : entity.number;
}
