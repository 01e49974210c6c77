/** Deletions of organizations in SQLite. */
import type { Deletion } from "../../erasures.ts";
import { DeletionStore, markDeleted } from "../../stores/deletion-store.ts";
import type { InboxTidy } from "../inbox-tidy.ts";
import type { Parts } from "./transact.ts";

export class SqliteDeletions extends DeletionStore {
  readonly #parts: Parts;
  readonly #inboxTidy: InboxTidy;

  constructor(parts: Parts, inboxTidy: InboxTidy) {
    super(parts.engine);
    this.#parts = parts;
    this.#inboxTidy = inboxTidy;
  }

  async begin(organization: number): Promise<Deletion | undefined> {
    const { engine, journal, inbox, organizations, knownUsers, heldEvents } = this.#parts;
    journal.flush();
    return engine.transaction(
      () => markDeleted(organization, { uptoInboxId: inbox.newestInboxId, uptoSegment: 0 }),
      (deletion) => {
        if (deletion === undefined) return;
        organizations.forget(organization);
        knownUsers.forgetOrganization(organization);
        heldEvents.eventLabels.forgetOrganization(organization);
      },
    );
  }

  protected deleteInboxRows({ uptoInboxId }: Deletion): Promise<void> {
    return this.#inboxTidy.erase(uptoInboxId);
  }
}
