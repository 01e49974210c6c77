/** The settings of revenue: the reporting currency and its rates. Owners change them, and others see them. */
import { type ReactElement, useState } from "react";
import { type Reads, useChange, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { DraftForm, SavedValues, useDraft } from "../../parts/form/form.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures, Loading } from "../../parts/states.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { numbers } from "../../text/format.ts";
import { authorText } from "../../text/setting-names.ts";
import { CurrencyPanel, RatesPanel } from "./currency-fields.tsx";
import { changeOf, currenciesOf, type Money, problemOf, typedOf } from "./currency-rates.ts";

type Settings = Reads["/api/settings"]["answer"];
type Revenue = Reads["/api/revenue"]["answer"];

export default function CurrencySettings(): ReactElement {
  const settings = useRead("/api/settings");
  // One period is enough to know which currencies subscriptions have.
  const revenue = useRead("/api/revenue", { query: { periods: 1 } });
  const mayChange = useMayAs("owner");
  return (
    <>
      <PageHeader title="Currencies">
        {mayChange
          ? "Figures of revenue are in one currency, at one set of rates for all dates."
          : "Only owners can change these settings."}
      </PageHeader>
      <Figures asked={settings} loading={<Loading rows={6} height={32} />}>
        {(saved) => (
          <Figures asked={revenue} loading={<Loading rows={6} height={32} />}>
            {(used) => (
              <div className="grid gap-5">
                {mayChange ? <Form saved={saved} used={used} /> : <Read saved={saved} used={used} />}
                <Changed saved={saved} />
              </div>
            )}
          </Figures>
        )}
      </Figures>
    </>
  );
}

function Changed({ saved }: { saved: Settings }): ReactElement | null {
  if (saved.changedAt === null) return null;
  return (
    <p className="text-sm text-soft">
      Version {numbers.count(saved.version)} of the settings, changed{" "}
      <RelativeTime instant={saved.changedAt} /> by {authorText(saved.changedBy)}.
    </p>
  );
}

function Read({ saved, used }: { saved: Settings; used: Revenue }): ReactElement {
  const { reportingCurrency, currencyRates } = saved.settings;
  const rates = Object.entries(currencyRates);
  return (
    <Panel>
      <SavedValues
        values={[
          ["Reporting currency", reportingCurrency ?? `Automatic, now ${used.reportingCurrency}`],
          ...rates.map(
            ([currency, rate]) => [`1 ${currency}`, `${numbers.precise(rate)} ${reportingCurrency}`] as const,
          ),
          ...used.unrated
            .filter(({ currency }) => currency !== reportingCurrency && !(currency in currencyRates))
            .map(({ currency }) => [`1 ${currency}`, "no rate"] as const),
        ]}
      />
    </Panel>
  );
}

/** The settings of money in the form, and the version that they are from. */
interface Saved extends Money {
  readonly version: number;
}

const formOf = ({ settings, version }: Settings): Saved => ({ ...typedOf(settings), version });

function Form({ saved, used }: { saved: Settings; used: Revenue }): ReactElement {
  const draft = useDraft(formOf(saved));
  const change = useChange("PATCH /api/settings");
  const tell = useTell();
  const [isChecked, setChecked] = useState(false);
  const { values, base, changes, set } = draft;
  const errors = fieldErrors(change.error, ["reportingCurrency", "currencyRates"]);
  const currencies = currenciesOf(values, used);
  const problem = (currency: string) => (isChecked ? problemOf(values.rates[currency]) : undefined);
  const save = () => {
    setChecked(true);
    if (Object.values(values.rates).some((rate) => problemOf(rate) !== undefined)) return;
    change.mutate(
      { body: { ...changeOf(base, values), version: base.version } },
      {
        onSuccess: (answer) => {
          draft.accept(changes, formOf(answer));
          tell("Saved. Figures of revenue are restated.");
        },
      },
    );
  };
  return (
    <DraftForm
      draft={draft}
      change={change}
      error={errors.rest ?? (errors.of("currencyRates") === undefined ? null : change.error)}
      consequence="All figures of revenue are computed again for all dates. No score changes."
      onSave={save}
      onDiscard={() => setChecked(false)}
    >
      <CurrencyPanel
        value={values.reportingCurrency}
        used={used}
        error={errors.of("reportingCurrency")}
        // Rates are in units of the reporting currency: those of another one would be wrong.
        onChoose={(currency) =>
          set({
            reportingCurrency: currency,
            rates: currency === base.reportingCurrency ? base.rates : {},
          })
        }
      />
      <RatesPanel
        reportingCurrency={values.reportingCurrency}
        currencies={currencies}
        rates={values.rates}
        problemOf={problem}
        onRates={(rates) => set({ rates })}
      />
    </DraftForm>
  );
}
