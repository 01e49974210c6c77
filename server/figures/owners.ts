/** Owners of users and accounts in the answers of the JSON API. */

import type { JsonObject } from "../../contract/json.ts";
import { ownerTrait } from "../../contract/notes-and-tasks.ts";
import { ApiError } from "../../contract/refusal.ts";
import type { OrganizationContext } from "../http/api/context.ts";
import { type Owner, type Owners, ownerIn, ownersOf } from "../ledger/rules/owners.ts";

/** The texts that mean members of the organization. */
export async function ownersOfOrganization({
  ledger,
  organization,
}: Pick<OrganizationContext, "ledger" | "organization">): Promise<Owners> {
  return ownersOf(await ledger.members.list(organization.id));
}

/** The owner of a row, by its own trait or attribute, else by that of its account. */
export function ownerFields(owners: Owners, traits: JsonObject, ofAccount?: unknown) {
  return named(ownerIn(owners, traits[ownerTrait]) ?? ownerIn(owners, ofAccount));
}

function named(owner: Owner | undefined) {
  return { owner: owner?.name ?? null, ownerId: owner?.id ?? null };
}

/** The owner of one user or account, and a text that means nobody. */
export function ownerDetail(owners: Owners, traits: JsonObject, ofAccount?: JsonObject) {
  const text = traits[ownerTrait];
  const own = ownerIn(owners, text);
  const inherited = own === undefined ? ownerIn(owners, ofAccount?.[ownerTrait]) : undefined;
  return {
    ...named(own ?? inherited),
    isOwnerOfAccount: inherited !== undefined,
    unknownOwner: own === undefined && typeof text === "string" && text !== "" ? text : null,
  };
}

/** The filter by an owner. @throws ApiError when a read key asks for its own */
export function ownerFilterOf(
  { actor }: Pick<OrganizationContext, "actor">,
  owners: Owners,
  owner: string | undefined,
): { readonly owners: Owners; readonly ownerId: number | undefined } {
  if (owner === undefined) return { owners, ownerId: undefined };
  if (owner !== "me") return { owners, ownerId: owner === "nobody" ? 0 : Number(owner) };
  if (actor.person !== null) return { owners, ownerId: actor.person.id };
  throw new ApiError("validation_error", "owner is not valid: a read key has no `me`, so send an id.");
}
