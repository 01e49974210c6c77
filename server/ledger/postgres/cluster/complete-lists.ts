/**
 * Stores whose lists have counts that nodes hold in memory: uses of tokens and keys, warnings, items of sources. Each node
 * stores its counts every few seconds. A list first waits until every node has stored them, so that it is exact.
 */
import { PostgresCredentials } from "../admin/credentials.ts";
import { PostgresSources } from "../admin/sources.ts";
import { PostgresWarnings } from "../admin/warnings.ts";

/** Resolves when all nodes have stored the counts that they held in memory. */
export type CountsFlushed = () => Promise<void>;

export class CompleteCredentials extends PostgresCredentials {
  readonly #flushed: CountsFlushed;

  constructor(flushed: CountsFlushed, ...of: ConstructorParameters<typeof PostgresCredentials>) {
    super(...of);
    this.#flushed = flushed;
  }

  override async list(...of: Parameters<PostgresCredentials["list"]>) {
    await this.#flushed();
    return super.list(...of);
  }
}

export class CompleteWarnings extends PostgresWarnings {
  readonly #flushed: CountsFlushed;

  constructor(flushed: CountsFlushed, ...of: ConstructorParameters<typeof PostgresWarnings>) {
    super(...of);
    this.#flushed = flushed;
  }

  override async list(...of: Parameters<PostgresWarnings["list"]>) {
    await this.#flushed();
    return super.list(...of);
  }
}

export class CompleteSources extends PostgresSources {
  readonly #flushed: CountsFlushed;

  constructor(flushed: CountsFlushed, ...of: ConstructorParameters<typeof PostgresSources>) {
    super(...of);
    this.#flushed = flushed;
  }

  override async hours(...of: Parameters<PostgresSources["hours"]>) {
    await this.#flushed();
    return super.hours(...of);
  }
}
