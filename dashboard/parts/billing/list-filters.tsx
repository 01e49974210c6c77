/** The fields of the filters by subscriptions. Without subscriptions they are absent, unless the address has
 * one. */
import { type ReactElement, useState } from "react";
import { useRead } from "../../api/query.ts";
import { moneyIn } from "../../text/money.ts";
import { type Choice, Input } from "../form/field.tsx";
import { FilterChip } from "../list/filter-chip.tsx";
import { FilterForm, FilterPopover } from "../list/filter-popover.tsx";
import { setValues, type Values } from "../list/filters.ts";
import { Pick } from "../list/pick.tsx";
import type { Billing } from "./columns.tsx";
import { billingFilters, statuses } from "./filters.ts";
import { type SubscriptionStatus, statusWord } from "./words.tsx";

type BillingValues = Values<typeof billingFilters>;

interface FiltersProps {
  readonly kind: "users" | "accounts";
  /** Of the last answer; undefined before the first. */
  readonly billing: Billing | undefined;
  readonly values: BillingValues;
  readonly onChange: (changed: Partial<BillingValues>) => void;
}

const statusChoices: readonly Choice<SubscriptionStatus | "">[] = [
  { value: "", label: "Any subscription" },
  ...statuses.map((value) => ({ value, label: statusWord(value) })),
];
const usualDays = [7, 30, 60, 90] as const;

export function BillingFilters({ kind, billing, values, onChange }: FiltersProps): ReactElement | null {
  const plans = useRead("/api/plans", { query: { kind: kind === "users" ? "user" : "account" } }).data?.plans;
  const isSet = Object.keys(setValues(billingFilters, values)).length > 0;
  if (billing == null && !isSet && (plans ?? []).length === 0) return null;
  const { subscriptionPlan, subscriptionStatus, renewsWithinDays } = values;
  const days = [...new Set([...usualDays, ...(renewsWithinDays === undefined ? [] : [renewsWithinDays])])];
  const names = (plans ?? []).map(({ plan }) => plan);
  const offered =
    subscriptionPlan === "" || names.includes(subscriptionPlan) ? names : [subscriptionPlan, ...names];
  return (
    <>
      <Pick
        label="Subscription"
        value={subscriptionStatus}
        choices={statusChoices}
        onChoose={(chosen) => onChange({ subscriptionStatus: chosen })}
      />
      <Pick
        label="Plan"
        hint="Of any subscription that goes on"
        value={subscriptionPlan}
        choices={[{ value: "", label: "Any plan" }, ...offered.map((value) => ({ value, label: value }))]}
        onChoose={(chosen) => onChange({ subscriptionPlan: chosen })}
      />
      <Pick
        label="Renewal"
        value={renewsWithinDays === undefined ? "" : String(renewsWithinDays)}
        choices={[
          { value: "", label: "Any renewal" },
          ...days
            .toSorted((a, b) => a - b)
            .map((one) => ({ value: String(one), label: `Renews within ${one} days` })),
        ]}
        onChoose={(chosen) => onChange({ renewsWithinDays: chosen === "" ? undefined : Number(chosen) })}
      />
      {billing != null && <MrrFilter kind={kind} billing={billing} values={values} onChange={onChange} />}
    </>
  );
}

type MrrProps = Omit<FiltersProps, "billing"> & { readonly billing: NonNullable<Billing> };

function MrrFilter({ kind, billing, values, onChange }: MrrProps): ReactElement {
  const { mrrFrom, mrrTo } = values;
  const { short } = moneyIn(billing.reportingCurrency);
  const parts = [
    ...(mrrFrom === undefined ? [] : [`from ${short(mrrFrom)}`]),
    ...(mrrTo === undefined ? [] : [`to ${short(mrrTo)}`]),
  ];
  if (parts.length > 0) {
    return (
      <FilterChip
        text={`MRR ${parts.join(" ")}`}
        onRemove={() => onChange({ mrrFrom: undefined, mrrTo: undefined })}
      />
    );
  }
  return (
    <FilterPopover name="MRR" label="Filter by MRR">
      {(close) => (
        <MrrForm
          kind={kind}
          billing={billing}
          onDone={(range) => {
            close();
            onChange(range);
          }}
        />
      )}
    </FilterPopover>
  );
}

function MrrForm({
  kind,
  billing: { reportingCurrency, currencyDigits },
  onDone,
}: {
  kind: FiltersProps["kind"];
  billing: NonNullable<Billing>;
  onDone: (range: Pick<BillingValues, "mrrFrom" | "mrrTo">) => void;
}): ReactElement {
  const [{ from, to }, set] = useState({ from: "", to: "" });
  const minorUnits = (text: string) =>
    text === "" ? undefined : Math.round(Number(text) * 10 ** currencyDigits);
  const send = () => {
    onDone({ mrrFrom: minorUnits(from), mrrTo: minorUnits(to) });
  };
  const amount = {
    type: "number",
    min: 0,
    max: 1e12,
    step: 10 ** -currencyDigits,
    autoComplete: "off",
  } as const;
  return (
    <FilterForm rows={kind} onSend={send}>
      <Input
        {...amount}
        label={`MRR from, in ${reportingCurrency}`}
        value={from}
        onChange={({ target }) => set({ from: target.value, to })}
      />
      <Input
        {...amount}
        label="To"
        min={from === "" ? 0 : from}
        value={to}
        onChange={({ target }) => set({ from, to: target.value })}
      />
    </FilterForm>
  );
}
