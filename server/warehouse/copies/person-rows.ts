/** Rows of the ledger about one person, as objects of the copy of everything about the person. */
import { instant } from "../../calendar/instant.ts";
import type { ExportedUser } from "../../ledger/feature.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";

/** Rows that are read together. A rejected row may have a megabyte. */
const page = { rejected: 50, audit: 500 } as const;

type OfPerson = ExportedUser & { readonly ledger: SharedLedger };

type Pages = AsyncGenerator<readonly object[]>;

/** Rows that the warehouse refused. */
export async function* rejectedOf({ ledger, organization, user }: OfPerson): Pages {
  for (let after = 0; ; ) {
    const rows = await ledger.personData.rejectedEvents(organization, user, after, page.rejected);
    yield rows.map(({ atMs, table, row, reason }) => ({ at: instant(atMs), table, reason, row }));
    after = rows.at(-1)?.id ?? after;
    if (rows.length < page.rejected) return;
  }
}

/** Entries of the audit log about the person, the newest first. */
export async function* auditOf({ ledger, organization, user }: OfPerson): Pages {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const entries = await ledger.personData.auditEntries(organization, user, before, page.audit);
    yield entries.map(({ id, atMs, person, action, summary, detail }) => ({
      id,
      at: instant(atMs),
      by: person?.name ?? null,
      action,
      summary,
      detail,
    }));
    before = entries.at(-1)?.id ?? before;
    if (entries.length < page.audit) return;
  }
}
