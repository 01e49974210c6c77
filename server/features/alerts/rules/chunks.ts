/** Cuts the decision of a day into commits: pure. */
import {
  type ClosedAlert,
  chunkAlerts,
  type DecisionChunk,
  type EntityStateRow,
  type FiredAlert,
} from "../store/decisions.ts";

/** The decision about one entity. */
export interface EntityDecision {
  /** Its number: decisions are committed in the order of numbers. */
  readonly number: number;
  /** Null when the state stays. */
  readonly state: EntityStateRow | null;
  readonly fired: readonly FiredAlert[];
  readonly closed: readonly ClosedAlert[];
  readonly insideBySettings: number;
}

/** States of one commit: a row takes 10 µs. */
const chunkStates = 1_000;

export type ChunkContents = Pick<DecisionChunk, "states" | "fired" | "closed" | "insideBySettings"> & {
  /** Up to this number, included, entities are decided. Null: all are. */
  readonly uptoNumber: number | null;
};

/** The contents of the commits of a day, at least one. @param decisions in the order of numbers */
export function* chunksOf(decisions: Iterable<EntityDecision>): Iterable<ChunkContents> {
  let some: EntityDecision[] = [];
  let [states, fired, closed] = [0, 0, 0];
  for (const decision of decisions) {
    states += decision.state === null ? 0 : 1;
    fired += decision.fired.length;
    closed += decision.closed.length;
    const last = some.at(-1);
    if (last !== undefined && (states > chunkStates || fired > chunkAlerts || closed > chunkAlerts)) {
      yield { ...contentsOf(some), uptoNumber: last.number };
      some = [];
      states = decision.state === null ? 0 : 1;
      [fired, closed] = [decision.fired.length, decision.closed.length];
    }
    some.push(decision);
  }
  yield { ...contentsOf(some), uptoNumber: null };
}

function contentsOf(some: readonly EntityDecision[]): Omit<ChunkContents, "uptoNumber"> {
  return {
    states: some.flatMap(({ state }) => (state === null ? [] : [state])),
    fired: some.flatMap(({ fired }) => fired),
    closed: some.flatMap(({ closed }) => closed),
    insideBySettings: some.reduce((sum, one) => sum + one.insideBySettings, 0),
  };
}
