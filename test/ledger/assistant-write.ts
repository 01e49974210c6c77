/** A note that an assistant wrote, for tests of ledgers. */

import type { AssistantWrite } from "../../server/features/assistants/store.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { createReadKey } from "../../server/ledger/stores/credentials.ts";

/** The change as the ledger lists it. Its note has the number 1, whether or not there is one. */
export async function noteOfAssistant(
  ledger: Ledger,
  organization: number,
  nowMs: number,
): Promise<AssistantWrite> {
  const more = ["assist"] as const;
  const { id: key } = await createReadKey(
    ledger.readKeys,
    { organization, name: "assistant", nowMs, more },
    commandLine,
  );
  const wanted = { key, what: "note", idempotencySha256: "a", contentSha256: "b" } as const;
  const begun = await ledger.assistantWrites.begin(organization, wanted, nowMs);
  if (begun.state !== "begun") throw new Error(`an assistant could not write: ${begun.state}`);
  await ledger.assistantWrites.finish(organization, begun.id, 1);
  const [write] = await ledger.assistantWrites.list(organization, 1);
  if (write === undefined) throw new Error("what an assistant wrote is not there");
  return write;
}
