/** The importer of an import: the running server's, or one of its own when no server runs. */

import { Refusal } from "../../contract/refusal.ts";
import { type ImportService, remoteImporter } from "../../server/between/remote/shared-ledger.ts";
import { workImporter } from "../../server/features/notes-and-tasks/imported/import-work.ts";
import { Importer } from "../../server/intake/importer.ts";
import { Intake } from "../../server/intake/intake-service.ts";
import { minFreeDiskBytes } from "../../server/intake/room.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { socketPath } from "../../server/process/sockets.ts";
import type { Installation } from "../installation.ts";

/** The importer of this installation. */
export async function importService({ config, own, node }: Installation): Promise<ImportService> {
  if (own === undefined) return remoteImporter(socketPath(config.dataDir, "control"));
  const room = { maxBacklogBytes: config.inboxMaxBytes, minFreeDiskBytes };
  const intake = new Intake(own, config.dataDir, room, Date.now);
  const importer = new OwnImporter(own, intake);
  node?.whenChanged({
    forget: () => undefined,
    settled: () => importer.settled(),
    flushCounts: async () => undefined,
  });
  return importer;
}

const choresEveryMs = 1_000;

/** An importer that does a server's regular tasks, too. Without a server no rows are loaded into the
 * warehouse, so waiting for room would never end. */
class OwnImporter extends Importer {
  readonly #ledger: Ledger;
  readonly #intake: Intake;
  #choresDoneMs = Number.NEGATIVE_INFINITY;

  constructor(ledger: Ledger, intake: Intake) {
    super(ledger, () => undefined, Date.now, intake.warnings, workImporter(ledger));
    this.#ledger = ledger;
    this.#intake = intake;
  }

  override async append(...chunk: Parameters<Importer["append"]>): ReturnType<Importer["append"]> {
    if (performance.now() - this.#choresDoneMs > choresEveryMs) {
      await this.#ledger.tidy(Date.now());
      await this.#intake.room.check();
      this.#choresDoneMs = performance.now();
    }
    if (this.#intake.closedBecause !== undefined) {
      throw new Refusal(
        `there is no room (${this.#intake.closedBecause}): start the server, then run this command again. It resumes where it stopped.`,
      );
    }
    const appended = await super.append(...chunk);
    await this.#intake.recordWarnings();
    return appended;
  }
}
