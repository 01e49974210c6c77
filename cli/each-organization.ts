/** Commands that work on one organization, or on all of them. */

import type { SharedLedger } from "../server/ledger/ledger.ts";
import type { Organization } from "../server/ledger/stores/organization-rows.ts";
import { Unreachable } from "../server/process/control.ts";
import { organizationNamed } from "./installation.ts";
import { oneLine } from "./print.ts";

/** Exit codes of such commands. */
const exitCodes = {
  /** It failed for at least one organization. */
  failed: 1,
  /** It failed for none, and was left undone for at least one. */
  undone: 2,
} as const;

/** Works on the organization of this name, or on all without one. The failure of one is printed on standard
 * error, and the others follow. The exit code tells the overall result.
 * @param work returns whether it was done
 * @throws Unreachable when the server is gone: all others would fail alike */
export async function eachOrganization(
  ledger: SharedLedger,
  name: string | undefined,
  work: (organization: Organization) => Promise<boolean>,
): Promise<void> {
  const organizations =
    name === undefined ? await ledger.organizations.list() : [await organizationNamed(ledger, name)];
  for (const organization of organizations) {
    try {
      const isDone = await work(organization);
      if (!isDone) process.exitCode ??= exitCodes.undone;
    } catch (error) {
      if (error instanceof Unreachable) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      process.stderr.write(`rekindle: ${oneLine(organization.name)}: ${oneLine(reason)}\n`);
      process.exitCode = exitCodes.failed;
    }
  }
}
