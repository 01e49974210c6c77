/** The events that are churn targets. */
import type { OrganizationContext } from "../http/api/context.ts";

/** The names of the events that are churn targets of users or accounts. */
export async function churnEventsOf({
  ledger,
  organization,
}: Pick<OrganizationContext, "ledger" | "organization">): Promise<readonly string[]> {
  const { settings } = await ledger.settings.get(organization.id);
  const { user, account } = settings.churnTargets;
  return [...new Set([user, account].flatMap((target) => (target.by === "event" ? [target.event] : [])))];
}
