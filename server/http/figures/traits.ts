/** Handlers of the JSON API about the traits that users have. */
import type { Static } from "typebox";
import { maxCountedValues, type TraitsAnswer, type TraitsParameters } from "../../../contract/api/traits.ts";
import { traitNames } from "../../analytics/analytics.ts";
import type { ApiContext } from "../api/route.ts";

/** GET /api/traits */
export async function namesOfTraits({
  warehouse,
  organization,
  query,
}: ApiContext<typeof TraitsParameters, "">): Promise<Static<typeof TraitsAnswer>> {
  const rows = await traitNames(warehouse, {
    organization: organization.id,
    limit: query.limit,
    maxValues: maxCountedValues,
  });
  return {
    traits: rows.map(({ trait, users, distinctValues, values }) => ({
      trait,
      users,
      distinctValues: distinctValues > maxCountedValues ? null : distinctValues,
      values: values.map(([value, having]) => ({ value, users: having })),
    })),
  };
}
