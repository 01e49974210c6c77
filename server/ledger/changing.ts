/** The audit entry of a change that takes more than one process, in a commit of its own. */
import type { Actor, AuditNote, AuditStore } from "./audit.ts";
import type { SharedLedger } from "./ledger.ts";

/** Who changes what of which organization, and when. */
export interface Changing<Parts extends keyof SharedLedger> {
  readonly ledger: Pick<SharedLedger, Parts> & { readonly audit: Pick<AuditStore, "add"> };
  readonly organization: number;
  readonly by: Actor;
  readonly nowMs: number;
}

/** Adds the entry for what was changed. */
export function note({ ledger, organization, by, nowMs }: Changing<never>, what: AuditNote): Promise<void> {
  return ledger.audit.add({ organization, actor: by, atMs: nowMs, ...what });
}
