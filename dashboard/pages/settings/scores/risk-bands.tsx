/** Risk bands: from which churn risks on a user or an account is of medium and of high risk. */
import type { ReactElement } from "react";
import type { RiskBounds } from "../../../../contract/api/risk-bands.ts";
import { useRead } from "../../../api/query.ts";
import { Select } from "../../../parts/form/field.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { numbers } from "../../../text/format.ts";
import type { SectionProps } from "./event-rules.tsx";
import { PercentInput } from "./percent-input.tsx";

const kinds = [
  { kind: "user", label: "Bands of users" },
  { kind: "account", label: "Bands of accounts" },
] as const;

const choices = [
  { value: "byBaseRate", label: "Automatic" },
  { value: "own", label: "My own limits" },
] as const;

/** The bounds of both kinds. */
export function RiskBands({ draft, errorOf }: SectionProps): ReactElement {
  const { riskBands } = draft.values;
  return (
    <Panel
      title="Risk bands"
      note="By the base rate, high risk begins at 5 times its odds and medium risk at 2 times."
    >
      <div className="grid gap-x-8 gap-y-6 lg:grid-cols-2">
        {kinds.map(({ kind, label }) => (
          <BandsOfKind
            key={kind}
            kind={kind}
            label={label}
            bounds={riskBands[kind]}
            error={errorOf(`riskBands.${kind}`)}
            onChange={(bounds) => draft.set({ riskBands: { ...riskBands, [kind]: bounds } })}
          />
        ))}
      </div>
    </Panel>
  );
}

interface BandsProps {
  readonly kind: "user" | "account";
  readonly label: string;
  /** Null: by the base rate. */
  readonly bounds: RiskBounds | null;
  readonly error: string | undefined;
  readonly onChange: (bounds: RiskBounds | null) => void;
}

function BandsOfKind({ kind, label, bounds, error, onChange }: BandsProps): ReactElement {
  const { data } = useRead("/api/score-summary", { query: { kind } });
  const baseRate = data?.baseRate ?? null;
  const byBaseRate = data?.riskLimits?.byBaseRate ?? { medium: 0.2, high: 0.5 };
  const begun = { medium: toThousandths(byBaseRate.medium), high: toThousandths(byBaseRate.high) };
  return (
    <div className="grid content-start gap-3">
      <Select
        label={label}
        value={bounds === null ? "byBaseRate" : "own"}
        choices={choices}
        onChoose={(chosen) => onChange(chosen === "own" ? begun : null)}
        error={error}
        help={bounds === null ? boundsText(byBaseRate, baseRate) : undefined}
      />
      {bounds !== null && (
        <div className="grid gap-3 sm:grid-cols-2">
          {(["medium", "high"] as const).map((band) => (
            <PercentInput
              key={band}
              label={`${band === "medium" ? "Medium" : "High"} from a churn risk of`}
              value={toPercent(bounds[band])}
              onChange={(percent) => onChange({ ...bounds, [band]: percent / 100 })}
              help={ratioOf(bounds[band], baseRate)}
            />
          ))}
        </div>
      )}
    </div>
  );
}

function boundsText({ medium, high }: RiskBounds, baseRate: number | null): string {
  const from = (risk: number) => {
    const ratio = ratioOf(risk, baseRate);
    return ratio === undefined ? numbers.share(risk) : `${numbers.share(risk)} (${ratio})`;
  };
  return `Now: medium from ${from(medium)}, high from ${from(high)}.`;
}

/** A churn risk compared with the base rate. */
function ratioOf(risk: number, baseRate: number | null): string | undefined {
  if (baseRate === null || baseRate === 0 || Number.isNaN(risk)) return undefined;
  return `${numbers.decimal(risk / baseRate)} times the base rate`;
}

const toThousandths = (risk: number) => Math.round(risk * 1_000) / 1_000;
/** Without the digits that a product of fractions has at its end. */
const toPercent = (risk: number) => Number((100 * risk).toFixed(6));
