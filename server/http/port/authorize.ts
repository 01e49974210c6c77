/**
 * Authorizes requests: the token of a header is looked up once, and the result is cached until credentials or
 * organizations change. The ledger holds only hashes of tokens.
 */
import { type Zone, zoneOf } from "../../calendar/zone.ts";
import {
  type Credentials,
  hashSecret,
  type Right,
  type SecretPrefix,
  secretsIn,
} from "../../ledger/stores/credentials.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import { TokenBucket } from "./rate-limit.ts";

export interface Caller {
  /** The credential's id. */
  readonly id: number;
  /** The credential's name for the team. */
  readonly label: { readonly name: string; readonly lastFour: string };
  readonly organization: Organization;
  readonly rights: readonly Right[];
  /** The person who made it, or took it over. Null for the command line. */
  readonly madeBy: number | null;
  /** A project token that is public, because a page contains it. */
  readonly isBrowser: boolean;
  readonly zone: Zone;
  readonly usage: Usage;
}

/** The use of a credential. It outlives the cache: a change of settings fills no bucket and loses no time of
 * use. */
interface Usage {
  readonly bucket: TokenBucket;
  readonly itemsBucket: TokenBucket;
  lastUsedAtMs: number;
  /** The last use that the ledger knows of. */
  recordedAtMs: number;
}

/** Most headers and secrets in the cache. Only valid ones are cached. */
const maxRemembered = 10_000;

/** While the cache is not trusted, concurrent requests share one look-up for up to this time. Otherwise a
 * crowd of requests would load a ledger that is slow already. */
const sharedMs = 500;

/** Three times the length of our tokens. */
const maxSecretCharacters = 100;

/** Most secrets of one body that are looked up. Clients send one. */
const maxSecretsOfBody = 8;

/** One kind of credentials: the prefix of its secrets, which of them it takes, and their limits. */
export interface Kind {
  readonly prefix: SecretPrefix;
  readonly takes: (rights: readonly Right[]) => boolean;
  readonly limits: (organization: Organization) => SendingLimits;
}

interface SendingLimits {
  readonly requestsPerSecond: number;
  readonly itemsPerSecond: number;
}

/** A look-up that is under way. */
interface LookUp {
  readonly found: Promise<Caller | undefined>;
  readonly beganMs: number;
}

export class Authorizer {
  readonly #credentials: Credentials;
  readonly #kind: Kind;
  readonly #isFresh: () => boolean;
  /** Over how many nodes the limits are shared out. */
  #nodes = 1;
  #callers = new Map<string, Caller>();
  /** Look-ups that are under way: concurrent requests with one secret share one. */
  #finding = new Map<string, LookUp>();
  readonly #underWay = new Set<Promise<unknown>>();
  /** By the credential's id. */
  readonly #usages = new Map<number, Usage>();

  /** @param isFresh whether the cache is trusted; by default until `forget` */
  constructor(credentials: Credentials, kind: Kind, isFresh = () => true) {
    this.#credentials = credentials;
    this.#kind = kind;
    this.#isFresh = isFresh;
  }

  /** The caller with this Authorization header; undefined when it has no valid secret of this kind. A cached
   * caller is returned without a promise, which would cost every request a turn of the event loop. */
  authorize(header: string | null): Caller | undefined | Promise<Caller | undefined> {
    return header === null ? undefined : (this.#known(header) ?? this.#find(header, this.secretIn(header)));
  }

  /** The caller with this secret; undefined when no valid credential of this kind has it. */
  authorizeSecret(secret: string): Caller | undefined | Promise<Caller | undefined> {
    return this.#known(secret) ?? this.#find(secret, secret);
  }

  /** The secret of this kind in an Authorization header; undefined when it holds none. */
  secretIn(header: string): string | undefined {
    return secretOf(header, this.#kind.prefix);
  }

  /** The callers of the valid secrets in a text, by the secret. Only the first few candidates are looked up,
   * so that a text full of them costs little. To scan 1 MiB takes 2 ms. */
  async callersIn(text: Uint8Array): Promise<ReadonlyMap<string, Caller>> {
    const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
    const secrets = new Set<string>();
    for (const secret of secretsIn(bytes.toString("latin1"))) {
      if (secret.startsWith(this.#kind.prefix)) secrets.add(secret);
      if (secrets.size === maxSecretsOfBody) break;
    }
    const callers = new Map<string, Caller>();
    for (const secret of secrets) {
      const caller = await this.authorizeSecret(secret);
      if (caller !== undefined) callers.set(secret, caller);
    }
    return callers;
  }

  /** Whether a text can be a secret of this kind. */
  canBeSecret(text: string): boolean {
    return text.startsWith(this.#kind.prefix) && text.length <= maxSecretCharacters;
  }

  /** Empties the cache, because a credential or an organization changed. */
  forget(): void {
    // New maps: a look-up that is still under way fills the old ones.
    this.#callers = new Map();
    this.#finding = new Map();
  }

  /** Resolves when no look-up is under way that began before the call. */
  async lookedUp(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  /** Divides every limit by the number of nodes. */
  shareOver(nodes: number): void {
    this.#nodes = nodes;
    for (const { bucket, itemsBucket } of this.#usages.values()) {
      bucket.nodes = nodes;
      itemsBucket.nodes = nodes;
    }
  }

  /** Stores when credentials were last used. */
  async recordUse(): Promise<void> {
    const used = [...this.#usages]
      .filter(([, usage]) => usage.lastUsedAtMs > usage.recordedAtMs)
      .map(([id, usage]) => ({ id, usage, atMs: usage.lastUsedAtMs }));
    if (used.length === 0) return;
    await this.#credentials.touch(used.map(({ id, atMs }) => ({ id, atMs })));
    for (const { usage, atMs } of used) usage.recordedAtMs = atMs;
  }

  #known(key: string): Caller | undefined {
    if (!this.#isFresh()) this.#callers = new Map();
    return this.#callers.get(key);
  }

  /** @param key a header or a secret; neither can be mistaken for the other, since a header begins with its
   * scheme */
  #find(key: string, secret: string | undefined): Promise<Caller | undefined> | undefined {
    if (secret === undefined) return undefined;
    const finding = this.#finding;
    const before = finding.get(key);
    const beganMs = performance.now();
    if (before !== undefined && (this.#isFresh() || beganMs - before.beganMs < sharedMs)) return before.found;
    const found = this.#lookUp(key, secret, this.#callers).finally(() => {
      if (finding.get(key)?.found === found) finding.delete(key);
      this.#underWay.delete(found);
    });
    finding.set(key, { found, beganMs });
    this.#underWay.add(found);
    return found;
  }

  async #lookUp(key: string, secret: string, callers: Map<string, Caller>): Promise<Caller | undefined> {
    const found = await this.#credentials.find(hashSecret(secret));
    if (found === undefined) return undefined;
    const { credential, organization } = found;
    if (!this.#kind.takes(credential.rights)) return undefined;
    const caller: Caller = {
      id: credential.id,
      label: { name: credential.name, lastFour: credential.lastFour },
      organization,
      rights: credential.rights,
      madeBy: credential.madeBy?.id ?? null,
      isBrowser: credential.rights.includes("browser"),
      zone: zoneOf(organization.timezone),
      usage: this.#usage(credential.id, this.#kind.limits(organization)),
    };
    if (callers.size >= maxRemembered) callers.clear();
    callers.set(key, caller);
    return caller;
  }

  #usage(credentialId: number, limits: SendingLimits): Usage {
    const known = this.#usages.get(credentialId);
    if (known !== undefined) {
      known.bucket.perSecond = limits.requestsPerSecond;
      known.itemsBucket.perSecond = limits.itemsPerSecond;
      return known;
    }
    const nowMs = performance.now();
    const usage: Usage = {
      bucket: new TokenBucket(limits.requestsPerSecond, nowMs, this.#nodes),
      itemsBucket: new TokenBucket(limits.itemsPerSecond, nowMs, this.#nodes),
      lastUsedAtMs: 0,
      recordedAtMs: 0,
    };
    this.#usages.set(credentialId, usage);
    return usage;
  }
}

/** The secret in `Basic rk-…`, `Basic base64("rk-…:")` or `Bearer rk-…`. A raw one cannot be mistaken for
 * base64, whose alphabet has no hyphen. */
function secretOf(header: string, prefix: SecretPrefix): string | undefined {
  const match = /^(basic|bearer) +(\S+) *$/i.exec(header);
  const credentials = match?.[2];
  if (credentials === undefined) return undefined;
  if (credentials.startsWith(prefix)) return credentials;
  if (match?.[1]?.toLowerCase() !== "basic") return undefined;
  const decoded = Buffer.from(credentials, "base64").toString("utf8").replace(/:$/, "");
  return decoded.startsWith(prefix) ? decoded : undefined;
}
