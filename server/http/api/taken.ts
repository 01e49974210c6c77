/** Changes of team members that intake decides as it decides requests of the write API. */
import { errorMessages } from "../../../contract/errors.ts";
import { ApiError } from "../../../contract/refusal.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import { OrganizationsHeld } from "../../ledger/transact.ts";
import type { IntakeParts } from "./intake-api.ts";

const retryAfterSeconds = 5;

/** Stores a change, unless intake takes nothing now. @throws ApiError (rate_limit_exceeded) when it takes
 * nothing, or other transactions hold the organization for too long */
export async function whenTaken<Outcome>(
  { intake }: Pick<IntakeParts, "intake">,
  organization: Organization,
  store: () => Promise<Outcome>,
): Promise<Outcome> {
  const closed = intake.closedFor(organization.id);
  if (closed !== undefined) throw new ApiError("rate_limit_exceeded", closed, retryAfterSeconds);
  try {
    return await store();
  } catch (error) {
    if (!(error instanceof OrganizationsHeld)) throw error;
    throw new ApiError("rate_limit_exceeded", errorMessages.organizationHeld, retryAfterSeconds);
  }
}
