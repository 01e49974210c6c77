/** What several tools ask and say. */
import { ApiError } from "../../../../contract/refusal.ts";
import type { Asking } from "../asking.ts";

export type Kind = "user" | "account";

/** The model of a kind as a tool's answer names it. */
export async function modelOf(asking: Asking, kind: Kind) {
  const { model, lacksData, why } = await asking.ask("GET /api/model", { query: { kind } });
  return { model, ...(lacksData && { notEnoughData: why }) };
}

/** A sentence about amounts. They are those of the API, in minor units. */
export function moneyNote(currency: string | null): string {
  return currency === null
    ? "Amounts are in minor units of the currency: 4900 is 49.00."
    : `Amounts are in minor units of ${currency}: 4900 is 49.00.`;
}

/** The sentence about controls in a list that is not for calling. */
export const controlsNote =
  "A row with controlUntil is in a control group until that day: do not contact it.";

/** An answer that may not be there yet: undefined where the route says that there is nothing. */
export async function ifThere<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.kind === "not_found") return undefined;
    throw error;
  }
}
