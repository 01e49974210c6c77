/** Segments by the names that commands give. */
import { Refusal } from "../contract/refusal.ts";
import type { SharedLedger } from "../server/ledger/ledger.ts";
import type { Segment } from "../server/ledger/ports/actions/segments.ts";
import { withOrganization } from "./installation.ts";

/** @param organization its id @throws Refusal when there is no such segment */
export async function segmentNamed(
  ledger: Pick<SharedLedger, "segments">,
  organization: number,
  name: string,
): Promise<Segment> {
  const found = (await ledger.segments.list(organization)).find((one) => one.name === name);
  if (found === undefined) throw new Refusal(`there is no segment ${JSON.stringify(name)}.`);
  return found;
}

/** The kind and the id of a segment, for a figure that is asked for afterwards. @param organization its name
 * @throws Refusal when there is no such organization or segment */
export async function segmentOf(organization: string, name: string): Promise<Pick<Segment, "kind" | "id">> {
  const found: Segment[] = [];
  await withOrganization(organization, async ({ ledger }, { id }) => {
    found.push(await segmentNamed(ledger, id, name));
  });
  const [segment] = found;
  if (segment === undefined) throw new Error("The segment was not looked for.");
  return segment;
}
