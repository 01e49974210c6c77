/** Bounds the open questions of a caller. A question above the bound gets 429, so that the queue for the
 * engine's readers is bounded. The turns are fair: see process/fair-turns.ts. */
import type { Asker } from "../../process/fair-turns.ts";

/** Far more than a page asks at once; an organization has many people and read keys. */
export const openQuestionLimits = { caller: 32, organization: 256 } as const;

export class OpenQuestions {
  /** By organization, and by organization and member. */
  readonly #open = new Map<string, number>();

  /** Counts a question until its answer was sent or its client has left.
   * @returns what ends it, however often it is called; undefined when there are too many */
  begin({ group, member, signal }: Asker): (() => void) | undefined {
    const keys = [group, `${group} ${member}`] as const;
    const [ofOrganization, ofCaller] = keys.map((key) => this.#open.get(key) ?? 0);
    if ((ofCaller ?? 0) >= openQuestionLimits.caller) return undefined;
    if ((ofOrganization ?? 0) >= openQuestionLimits.organization) return undefined;
    for (const key of keys) this.#add(key, 1);
    let isOpen = true;
    const end = () => {
      if (!isOpen) return;
      isOpen = false;
      signal?.removeEventListener("abort", end);
      for (const key of keys) this.#add(key, -1);
    };
    signal?.addEventListener("abort", end, { once: true });
    return end;
  }

  #add(key: string, more: number): void {
    const open = (this.#open.get(key) ?? 0) + more;
    if (open === 0) this.#open.delete(key);
    else this.#open.set(key, open);
  }
}
