/**
 * Who is calling: the Authorization header, looked up once and then remembered until tokens or
 * organizations change. The ledger holds only hashes of tokens.
 */
import { Zone } from "../calendar/zone.ts";
import { itemsPerSecond, type Organization, type Tokens } from "../ledger/ledger.ts";
import { hashToken } from "../ledger/project-token.ts";
import { TokenBucket } from "./rate-limit.ts";

export interface Caller {
  readonly organization: Organization;
  readonly zone: Zone;
  readonly usage: Usage;
}

/** What is known of a token's use. It outlives a change of settings, so that a change gives nobody a full
 * bucket and forgets no use. */
interface Usage {
  readonly bucket: TokenBucket;
  readonly itemsBucket: TokenBucket;
  lastUsedAtMs: number;
  /** The last use that the ledger knows of. */
  recordedAtMs: number;
}

/** Headers remembered at most: a bound, since only valid tokens come in. */
const maxRememberedHeaders = 10_000;

export class Authorizer {
  readonly #tokens: Tokens;
  #callers = new Map<string, Caller>();
  /** By the token's id. */
  readonly #usages = new Map<number, Usage>();
  readonly #zones = new Map<string, Zone>();

  constructor(tokens: Tokens) {
    this.#tokens = tokens;
  }

  /** The caller with this Authorization header, or undefined when it holds no living project token. At once when
   * it was looked up before: a promise would cost every request a turn. */
  authorize(header: string | null): Caller | undefined | Promise<Caller | undefined> {
    return header === null ? undefined : (this.#callers.get(header) ?? this.#find(header));
  }

  /** Forgets what was looked up, because a token or an organization changed. */
  forget(): void {
    // A new map: a look-up that is still under way ends in the old one and is forgotten with it.
    this.#callers = new Map();
  }

  /** Writes down when tokens were last used. */
  async recordUse(): Promise<void> {
    const used = [...this.#usages]
      .filter(([, usage]) => usage.lastUsedAtMs > usage.recordedAtMs)
      .map(([id, usage]) => ({ id, usage, atMs: usage.lastUsedAtMs }));
    if (used.length === 0) return;
    await this.#tokens.touch(used.map(({ id, atMs }) => ({ id, atMs })));
    for (const { usage, atMs } of used) usage.recordedAtMs = atMs;
  }

  async #find(header: string): Promise<Caller | undefined> {
    const token = tokenOf(header);
    if (token === undefined) return undefined;
    const callers = this.#callers;
    const found = await this.#tokens.find(hashToken(token));
    if (found === undefined) return undefined;
    const caller: Caller = {
      organization: found.organization,
      zone: this.#zone(found.organization.timezone),
      usage: this.#usage(found.token.id, found.organization),
    };
    if (callers.size >= maxRememberedHeaders) callers.clear();
    callers.set(header, caller);
    return caller;
  }

  #zone(name: string): Zone {
    const zone = this.#zones.get(name) ?? new Zone(name);
    this.#zones.set(name, zone);
    return zone;
  }

  #usage(tokenId: number, organization: Organization): Usage {
    const { requestsPerSecond } = organization;
    const known = this.#usages.get(tokenId);
    if (known !== undefined) {
      known.bucket.perSecond = requestsPerSecond;
      known.itemsBucket.perSecond = itemsPerSecond(organization);
      return known;
    }
    const nowMs = performance.now();
    const usage: Usage = {
      bucket: new TokenBucket(requestsPerSecond, nowMs),
      itemsBucket: new TokenBucket(itemsPerSecond(organization), nowMs),
      lastUsedAtMs: 0,
      recordedAtMs: 0,
    };
    this.#usages.set(tokenId, usage);
    return usage;
  }
}

/** The token in `Basic rk-…`, `Basic base64("rk-…:")` or `Bearer rk-…`. A raw token cannot be mistaken for
 * base64, whose alphabet has no hyphen. */
function tokenOf(header: string): string | undefined {
  const match = /^(basic|bearer) +(\S+) *$/i.exec(header);
  const credentials = match?.[2];
  if (credentials === undefined) return undefined;
  if (credentials.startsWith("rk-")) return credentials;
  if (match?.[1]?.toLowerCase() !== "basic") return undefined;
  const decoded = Buffer.from(credentials, "base64").toString("utf8").replace(/:$/, "");
  return decoded.startsWith("rk-") ? decoded : undefined;
}
