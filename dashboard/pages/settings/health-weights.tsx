/** What the parts of health weigh, one against the other. */
import type { ReactElement } from "react";
import type { Settings } from "../../../contract/settings.ts";
import { Input } from "../../parts/form/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { numbers } from "../../text/format.ts";
import type { SectionProps } from "./scores.tsx";

export const healthParts: readonly {
  readonly name: keyof Settings["healthWeights"];
  readonly label: string;
  readonly about: string;
}[] = [
  { name: "engagement", label: "engagement", about: "How often, how much and how widely somebody uses it." },
  { name: "outlook", label: "outlook", about: "100 less the churn risk in percent." },
  { name: "momentum", label: "momentum", about: "Whether use rises or falls." },
  { name: "adoption", label: "adoption", about: "The share of key events used within 90 days." },
];

export function HealthWeights({ draft, errorOf }: SectionProps): ReactElement {
  const weights = draft.values.healthWeights;
  const hasKeyEvents = draft.values.keyEvents.length > 0;
  const counted = healthParts.map(({ name }) => (name === "adoption" && !hasKeyEvents ? 0 : weights[name]));
  const sum = counted.reduce((all, weight) => all + weight, 0);
  const shareOf = (at: number) => (sum > 0 ? (counted[at] ?? 0) / sum : null);
  return (
    <Panel
      title="Health"
      note="What each part weighs. Only the proportions matter: they need not add up to 1."
    >
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" className="mb-4 h-1.5 w-full" aria-hidden="true">
        {healthParts.map(({ name }, at) => (
          <rect
            key={name}
            x={(counted.slice(0, at).reduce((all, weight) => all + weight, 0) / (sum || 1)) * 100}
            width={(shareOf(at) ?? 0) * 100}
            height={1}
            fill={`var(--series-${at + 1})`}
          />
        ))}
      </svg>
      <div className="grid gap-5 sm:grid-cols-2 lg:grid-cols-4">
        {healthParts.map(({ name, label, about }, at) => (
          <div key={name} className="grid content-start gap-1">
            <Input
              label={label.charAt(0).toUpperCase() + label.slice(1)}
              type="number"
              min={0}
              max={1}
              step="any"
              required
              value={Number.isNaN(weights[name]) ? "" : weights[name]}
              onChange={({ target }) =>
                draft.set({ healthWeights: { ...weights, [name]: target.valueAsNumber } })
              }
              error={at === 0 ? errorOf("healthWeights") : undefined}
            />
            <p className="text-sm font-medium">
              {name === "adoption" && !hasKeyEvents
                ? "not counted: no key events yet"
                : `${numbers.share(shareOf(at))} of health`}
            </p>
            <p className="text-sm text-soft">{about}</p>
          </div>
        ))}
      </div>
    </Panel>
  );
}
