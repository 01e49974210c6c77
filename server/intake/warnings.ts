/**
 * Ingestion warnings, counted in memory and written down every few seconds, outside of the request path.
 * Memory is bounded. Beyond the bound, warnings are counted without their detail.
 */
import { msPerDay } from "../calendar/zone.ts";
import {
  type IngestionWarning,
  UnwritableWarnings,
  type WarningKind,
  type WarningStore,
} from "../ledger/stores/warnings.ts";

/** Details of an organization that are counted separately between two writes. */
const maxDetailsOfOrganization = 1_000;
/** Lines of all organizations, about 500 bytes each. */
const maxLines = 20_000;
const maxDetailCharacters = 200;
/** The message contains a path of the sender, which may be long. */
const maxMessageCharacters = 500;
const maxUserIdCharacters = 256;

/** A warning about one request or item. */
export interface Noted {
  readonly organization: number;
  readonly atMs: number;
  /** The ledger makes the warnings about held items. */
  readonly kind: Exclude<WarningKind, `parked_${string}`>;
  readonly endpoint: string;
  /** Null: counted with all warnings that have no detail. */
  readonly detail: string | null;
  /** The answer to the sender, if the request was rejected. */
  readonly message?: string | undefined;
  readonly userId?: string | undefined;
}

type Line = { -readonly [Field in keyof IngestionWarning]: IngestionWarning[Field] };

export class IngestionWarnings {
  readonly #store: Pick<WarningStore, "add">;
  /** By organization, and then by the key of warnings that are counted together. */
  #lines = new Map<number, Map<string, Line>>();
  #size = 0;
  /** Resolves when the earlier counts are written down, or when that has failed. */
  #last: Promise<void> = Promise.resolve();

  constructor(store: Pick<WarningStore, "add">) {
    this.#store = store;
  }

  /** The number of lines in memory. */
  get size(): number {
    return this.#size;
  }

  /** Counts one warning. It costs one look-up in a map, 0.2 µs. */
  note(noted: Noted): void {
    const { organization, atMs, kind, endpoint, message, userId } = noted;
    this.#count({
      organization,
      utcDay: Math.floor(atMs / msPerDay),
      kind,
      endpoint,
      // An empty detail, for example a key "", is the same as none.
      detail: shortened(noted.detail ?? "", maxDetailCharacters) || null,
      count: 1,
      firstSeenMs: atMs,
      lastSeenMs: atMs,
      message: message === undefined ? null : shortened(message, maxMessageCharacters),
      userId: userId === undefined ? null : shortened(userId, maxUserIdCharacters),
    });
  }

  /** Writes the counts down, once earlier calls have ended. Counts that cannot be written now are kept and
   * still grow. @throws UnwritableWarnings when some can never be written. These are left out */
  flush(): Promise<void> {
    const mine = this.#last.then(() => this.#write());
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  /** Forgets warnings that are not written down yet and whose last cause was this user. */
  forgetUser(organization: number, userId: string): void {
    const lines = this.#lines.get(organization);
    for (const [key, line] of lines ?? []) {
      if (line.userId !== userId) continue;
      lines?.delete(key);
      this.#size -= 1;
    }
  }

  async #write(): Promise<void> {
    if (this.#size === 0) return;
    const lines = [...this.#lines.values()].flatMap((ofOrganization) => [...ofOrganization.values()]);
    this.#lines = new Map();
    this.#size = 0;
    let writtenLines = 0;
    try {
      await this.#store.add(lines, (written) => {
        writtenLines += written;
      });
    } catch (error) {
      // Lines that can never be written would keep all others in memory until the next start.
      if (!(error instanceof UnwritableWarnings)) {
        for (const line of lines.slice(writtenLines)) this.#count(line);
      }
      throw error;
    }
  }

  #count(line: Line): void {
    let lines = this.#lines.get(line.organization);
    if (lines === undefined) {
      lines = new Map();
      this.#lines.set(line.organization, lines);
    }
    let key = keyOf(line, line.detail);
    let known = lines.get(key);
    const isFull = lines.size >= maxDetailsOfOrganization || this.#size >= maxLines;
    if (known === undefined && isFull && line.detail !== null) {
      key = keyOf(line, null);
      known = lines.get(key);
    }
    if (known === undefined) {
      lines.set(key, { ...line, detail: isFull ? null : line.detail });
      this.#size += 1;
      return;
    }
    known.count += line.count;
    known.firstSeenMs = Math.min(known.firstSeenMs, line.firstSeenMs);
    if (line.lastSeenMs < known.lastSeenMs) return;
    known.lastSeenMs = line.lastSeenMs;
    known.message = line.message;
    known.userId = line.userId;
  }
}

function keyOf({ utcDay, kind, endpoint }: Line, detail: string | null): string {
  return `${utcDay} ${kind} ${endpoint} ${detail ?? ""}`;
}

/** The text's beginning, without halves of surrogate pairs: PostgreSQL's JSON rejects them. */
function shortened(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters
    ? text.toWellFormed()
    : `${text.slice(0, maxCharacters - 1).toWellFormed()}…`;
}
