/** Weekly trainings that failed: the last model serves, and they are tried again after an hour. */
import { Refusal } from "../../../contract/refusal.ts";
import type { Logger } from "../../process/log.ts";
import { Retries } from "../../process/retries.ts";
import type { EntityKind } from "../queries/engagement-events.ts";

/** A training takes minutes. */
const restMs = 3_600_000;

interface Training {
  readonly organization: number;
  readonly kind: EntityKind;
  /** The week and the settings: for others it does not rest. */
  readonly of: string;
}

export class Trainings {
  readonly #log: Logger | undefined;
  readonly #failures: Retries<string>;

  constructor(nowMs: () => number, log?: Logger, firstMs = restMs) {
    this.#log = log;
    this.#failures = new Retries({ firstMs, longestMs: firstMs }, nowMs);
  }

  /** Trains, unless it failed a short while ago. @returns undefined if it failed or rests @throws Refusal
   * when the service stops */
  async attempt<Result>(
    { organization, kind, of }: Training,
    train: () => Promise<Result>,
  ): Promise<Result | undefined> {
    const key = keyOf(organization, kind);
    if (this.#failures.isResting(key, of)) return undefined;
    try {
      const result = await train();
      this.#failures.succeeded(key);
      return result;
    } catch (error) {
      if (error instanceof Refusal) throw error;
      if (this.#failures.failed(key, of)) {
        this.#log?.warn({ err: error, organization, kind }, "training failed: the last model serves");
      }
      return undefined;
    }
  }

  /** Since when the training of an organization's users or accounts fails; null when it does not. */
  failingSinceMs(organization: number): number | null {
    const since = (["user", "account"] as const).flatMap(
      (kind) => this.#failures.failingSinceMs(keyOf(organization, kind)) ?? [],
    );
    return since.length === 0 ? null : Math.min(...since);
  }

  /** The organizations whose trainings fail. */
  get failing(): readonly number[] {
    return [...new Set(this.#failures.keys.map((key) => Number(key.split(" ")[0])))];
  }
}

function keyOf(organization: number, kind: EntityKind): string {
  return `${organization} ${kind}`;
}
