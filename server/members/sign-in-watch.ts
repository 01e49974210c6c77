/** Reports sign-ins: a metric counts all of them, the log has failures, and the audit log has each time that
 * a person's sign-in is held up. Lines and entries are bounded: an attacker chooses how often they come. */
import { Counter, type Registry } from "prom-client";
import { type AuditNote, serviceItself } from "../ledger/audit.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Person } from "../ledger/stores/member-rows.ts";
import type { Logger } from "../process/log.ts";
import { setNewest } from "../process/set-newest.ts";

/** In a minute. */
const maxLines = 10;
const minuteMs = 60_000;
/** One audit entry of a person in so long. */
const notedEveryMs = 3_600_000;
const maxNoted = 10_000;

/** A failed sign-in. */
export interface FailedSignIn {
  /** Undefined when the e-mail is nobody's. The e-mail is not told: people type passwords there. */
  readonly person: Person | undefined;
  readonly address: string;
  /** In a row. */
  readonly failures: number;
  /** Whether the next attempt has to wait. */
  readonly isHeld: boolean;
}

export class SignInWatch {
  readonly #ledger: Pick<Ledger, "members" | "audit">;
  readonly #log: Logger;
  readonly #nowMs: () => number;
  readonly #counted = { right: 0, wrong: 0, held: 0 };
  /** When the last entry of each person was made. */
  readonly #notedAtMs = new Map<number, number>();
  #lines = { sinceMs: 0, written: 0, omitted: 0 };

  constructor(
    { ledger, log }: { readonly ledger: Pick<Ledger, "members" | "audit">; readonly log: Logger },
    registry: Registry,
    nowMs: () => number,
  ) {
    this.#ledger = ledger;
    this.#log = log;
    this.#nowMs = nowMs;
    const counted = this.#counted;
    new Counter({
      name: "rekindle_sign_ins_total",
      help: "Passwords that were right, wrong, or not compared because too many were wrong before.",
      labelNames: ["result"],
      registers: [registry],
      collect() {
        this.reset();
        for (const [result, count] of Object.entries(counted)) this.inc({ result }, count);
      },
    });
  }

  /** The password was right. */
  succeeded(): void {
    this.#counted.right += 1;
  }

  /** An attempt had to wait, and was not looked at. */
  held(): void {
    this.#counted.held += 1;
  }

  /** The password was wrong. Nothing here delays the answer: it would tell that the e-mail is somebody's. */
  failed({ person, address, failures, isHeld }: FailedSignIn): void {
    this.#counted.wrong += 1;
    const what = isHeld ? "a sign-in failed, and the next one has to wait" : "a sign-in failed";
    this.#write({ address, person: person?.id ?? null, failures }, what);
    if (!isHeld || person === undefined || !this.#mayNote(person.id)) return;
    const { id, name } = person;
    void this.#note(id, {
      action: "member.sign_in_held",
      summary: `Held up sign-ins as ${name} after ${failures} wrong passwords`,
      detail: { person: id, name, failures, address },
    }).catch((error: unknown) => this.#log.error({ err: error }, "a failed sign-in was not noted"));
  }

  #write(detail: object, what: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#lines.sinceMs > minuteMs) {
      const { omitted } = this.#lines;
      if (omitted > 0) this.#log.warn({ failures: omitted }, "more sign-ins failed than were logged");
      this.#lines = { sinceMs: nowMs, written: 0, omitted: 0 };
    }
    if (this.#lines.written === maxLines) {
      this.#lines.omitted += 1;
      return;
    }
    this.#lines.written += 1;
    this.#log.warn(detail, what);
  }

  #mayNote(person: number): boolean {
    const nowMs = performance.now();
    if (nowMs - (this.#notedAtMs.get(person) ?? -notedEveryMs) < notedEveryMs) return false;
    setNewest(this.#notedAtMs, person, nowMs, maxNoted);
    return true;
  }

  async #note(person: number, note: AuditNote): Promise<void> {
    const atMs = this.#nowMs();
    for (const { organization } of await this.#ledger.members.membershipsOf(person)) {
      await this.#ledger.audit.add({ organization: organization.id, actor: serviceItself, atMs, ...note });
    }
  }
}
