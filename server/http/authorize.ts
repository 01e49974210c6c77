/**
 * Who is calling: the Authorization header, looked up once and then remembered until tokens or
 * organizations change. The ledger holds only hashes of tokens.
 */
import { Zone } from "../calendar/zone.ts";
import type { Organization, Tokens } from "../ledger/ledger.ts";
import { hashToken } from "../ledger/project-token.ts";
import { TokenBucket } from "./rate-limit.ts";

export interface Caller {
  readonly tokenId: number;
  readonly organization: Organization;
  readonly zone: Zone;
  readonly bucket: TokenBucket;
  lastUsedAtMs: number;
}

/** Headers remembered at most: a bound, since only valid tokens come in. */
const maxRememberedHeaders = 10_000;

export class Authorizer {
  readonly #tokens: Tokens;
  readonly #callers = new Map<string, Caller>();
  /** Buckets outlive a change of settings, so that a change gives nobody a full bucket. */
  readonly #buckets = new Map<number, TokenBucket>();
  readonly #zones = new Map<string, Zone>();

  constructor(tokens: Tokens) {
    this.#tokens = tokens;
  }

  /** The caller with this Authorization header, or undefined when it holds no living project token. */
  async authorize(header: string | null): Promise<Caller | undefined> {
    if (header === null) return undefined;
    return this.#callers.get(header) ?? (await this.#find(header));
  }

  /** Forgets what was looked up, because a token or an organization changed. */
  forget(): void {
    this.#callers.clear();
  }

  /** Writes down when tokens were last used. */
  async recordUse(): Promise<void> {
    const used = [...this.#callers.values()].filter(({ lastUsedAtMs }) => lastUsedAtMs > 0);
    if (used.length === 0) return;
    await this.#tokens.touch(used.map(({ tokenId, lastUsedAtMs }) => ({ id: tokenId, atMs: lastUsedAtMs })));
  }

  async #find(header: string): Promise<Caller | undefined> {
    const token = tokenOf(header);
    if (token === undefined) return undefined;
    const found = await this.#tokens.find(hashToken(token));
    if (found === undefined) return undefined;
    const caller: Caller = {
      tokenId: found.token.id,
      organization: found.organization,
      zone: this.#zone(found.organization.timezone),
      bucket: this.#bucket(found.token.id, found.organization.requestsPerSecond),
      lastUsedAtMs: 0,
    };
    if (this.#callers.size >= maxRememberedHeaders) this.#callers.clear();
    this.#callers.set(header, caller);
    return caller;
  }

  #zone(name: string): Zone {
    const zone = this.#zones.get(name) ?? new Zone(name);
    this.#zones.set(name, zone);
    return zone;
  }

  #bucket(tokenId: number, perSecond: number): TokenBucket {
    const bucket = this.#buckets.get(tokenId) ?? new TokenBucket(perSecond, performance.now());
    bucket.perSecond = perSecond;
    this.#buckets.set(tokenId, bucket);
    return bucket;
  }
}

/** The token in `Basic rk-…`, `Basic base64("rk-…:")` or `Bearer rk-…`. A raw token cannot be mistaken for
 * base64, whose alphabet has no hyphen. */
export function tokenOf(header: string): string | undefined {
  const match = /^(basic|bearer) +(\S+) *$/i.exec(header);
  const credentials = match?.[2];
  if (credentials === undefined) return undefined;
  if (credentials.startsWith("rk-")) return credentials;
  if (match?.[1]?.toLowerCase() !== "basic") return undefined;
  const decoded = Buffer.from(credentials, "base64").toString("utf8").replace(/:$/, "");
  return decoded.startsWith("rk-") ? decoded : undefined;
}
