/** The fields of the reporting currency and of the rates. */
import { type FormEvent, type ReactElement, useState } from "react";
import { currencyCode } from "../../../contract/billing/currencies.ts";
import type { Reads } from "../../api/paths.ts";
import { Button } from "../../parts/form/button.tsx";
import { Input, Select } from "../../parts/form/field.tsx";
import { Panel } from "../../parts/panel.tsx";

const codes = Intl.supportedValuesOf("currency").filter((code) => currencyCode(code) !== undefined);
const names = new Intl.DisplayNames("en-GB", { type: "currency" });

function currencyLabel(code: string): string {
  const name = names.of(code);
  return name === undefined || name === code ? code : `${code}, ${name}`;
}

export function CurrencyPanel({
  value,
  used,
  error,
  onChoose,
}: {
  /** Empty: automatic. */
  value: string;
  used: Reads["/api/revenue"]["answer"];
  error: string | undefined;
  onChoose: (currency: string) => void;
}): ReactElement {
  const known = codes.includes(value) || value === "" ? codes : [value, ...codes];
  return (
    <Panel title="Reporting currency" note="All sums of revenue are in it.">
      <div className="max-w-md">
        <Select
          label="Reporting currency"
          isLabelHidden
          value={value}
          choices={[
            { value: "", label: automaticText(value, used) },
            ...known.map((code) => ({ value: code, label: currencyLabel(code) })),
          ]}
          onChoose={onChoose}
          error={error}
        />
      </div>
    </Panel>
  );
}

function automaticText(value: string, used: Reads["/api/revenue"]["answer"]): string {
  const now = value === "" && used.hasSubscriptions ? `, now ${used.reportingCurrency}` : "";
  return `Automatic: the currency of the most subscription changes${now}`;
}

export function RatesPanel({
  reportingCurrency,
  currencies,
  rates,
  problemOf,
  onRates,
}: {
  reportingCurrency: string;
  currencies: readonly string[];
  rates: Readonly<Record<string, string>>;
  problemOf: (currency: string) => string | undefined;
  onRates: (rates: Readonly<Record<string, string>>) => void;
}): ReactElement {
  return (
    <Panel
      title="Rates"
      note="A payer with a currency without a rate is shown in that currency only, and is in no other figure."
    >
      {reportingCurrency === "" ? (
        <p>Choose a reporting currency first. Rates are units of it.</p>
      ) : (
        <div className="grid gap-5">
          <div className="grid max-w-2xl gap-x-5 gap-y-4 sm:grid-cols-2">
            {currencies.map((currency) => (
              <Input
                key={currency}
                label={`1 ${currency} in ${reportingCurrency}`}
                inputMode="decimal"
                autoComplete="off"
                placeholder="No rate"
                value={rates[currency] ?? ""}
                onChange={({ target }) => onRates({ ...rates, [currency]: target.value })}
                help={currencyLabel(currency).split(", ")[1]}
                error={problemOf(currency)}
              />
            ))}
          </div>
          <AddCurrency
            whyNot={(code) => {
              if (code === reportingCurrency) return "The rate of the reporting currency is 1.";
              return currencies.includes(code) ? `${code} is in the list.` : undefined;
            }}
            onAdd={(code) => onRates({ ...rates, [code]: "" })}
          />
        </div>
      )}
    </Panel>
  );
}

function AddCurrency({
  whyNot,
  onAdd,
}: {
  whyNot: (code: string) => string | undefined;
  onAdd: (code: string) => void;
}): ReactElement {
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<string>();
  const add = (event: Pick<FormEvent, "preventDefault">) => {
    event.preventDefault();
    const code = currencyCode(typed.trim());
    const problem = code === undefined ? "Enter a code of ISO 4217, such as EUR." : whyNot(code);
    setError(problem);
    if (code === undefined || problem !== undefined) return;
    onAdd(code);
    setTyped("");
  };
  return (
    <div className="flex flex-wrap items-start gap-3">
      <Input
        label="Another currency"
        suggestions={codes}
        value={typed}
        maxLength={3}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => {
          setTyped(target.value);
          setError(undefined);
        }}
        onKeyDown={(event) => {
          // Enter would save the whole form.
          if (event.key === "Enter") add(event);
        }}
        error={error}
      />
      <Button icon="plus" className="mt-6" onClick={add}>
        Add currency
      </Button>
    </div>
  );
}
