/** The currencies of an organization's revenue, by its settings. */
import { currencyDigits } from "../../../contract/billing/currencies.ts";
import { revenueQuestion } from "../../analytics/revenue/currencies.ts";
import type { RevenueQuestion } from "../../analytics/revenue/steps.ts";
import type { OrganizationContext } from "./context.ts";

interface Revenue {
  readonly question: RevenueQuestion;
  readonly head: {
    readonly settingsVersion: number;
    readonly reportingCurrency: string;
    readonly currencyDigits: number;
    readonly hasSubscriptions: boolean;
  };
  readonly rates: { readonly currency: string; readonly rate: number }[];
}

/** The currencies of the organization, by its settings. */
export async function revenueOf({
  warehouse,
  ledger,
  organization,
}: Pick<OrganizationContext, "warehouse" | "ledger" | "organization">): Promise<Revenue> {
  const { version, settings } = await ledger.settings.get(organization.id);
  const { reportingCurrency, currencyRates } = settings;
  const asked = { organization: organization.id, reportingCurrency, currencyRates };
  const question = await revenueQuestion(warehouse, asked);
  return {
    question,
    head: {
      settingsVersion: version,
      reportingCurrency: question.reporting,
      currencyDigits: currencyDigits(question.reporting),
      hasSubscriptions: question.used.length > 0,
    },
    rates: Object.entries(question.rates).map(([currency, rate]) => ({ currency, rate })),
  };
}
