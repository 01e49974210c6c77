/** The fields that say how alerts of a rule are told. */
import { type ReactElement, useState } from "react";
import { isOpportunity, ruleLimits, ruleTimes } from "../../../contract/alerts/rules.ts";
import { isOwnDigestName } from "../../../contract/destinations/destinations.ts";
import { useRead } from "../../api/query.ts";
import { Input, Select } from "../../parts/form/field.tsx";
import type { FieldsProps } from "./condition-fields.tsx";
import { isMoment } from "./draft.ts";
import { HoldOutFields } from "./hold-out-fields.tsx";

interface MessageFieldsProps extends FieldsProps {
  /** Whether saving makes a new version, whose first decision may fire for everyone who matches now. */
  readonly isFirst: boolean;
}

export function MessageFields({ draft, onChange, isFirst }: MessageFieldsProps): ReactElement {
  return (
    <>
      <div className="grid gap-x-4 gap-y-3 sm:grid-cols-2">
        <Select
          label="Slack and e-mail"
          value={draft.when}
          choices={ruleTimes.map((value) => ({ value, label: value === "08:00" ? "At 08:00" : "At once" }))}
          help="Webhooks get their messages at once."
          onChoose={(when) => onChange({ when })}
        />
        <Input
          label="Alerts a day in messages, at most"
          type="number"
          required
          min={0}
          max={ruleLimits.maxCap}
          value={draft.cap}
          help="All alerts are on the page Alerts."
          onChange={({ target }) => onChange({ cap: target.value })}
        />
        <Input
          label="Cooldown, days"
          type="number"
          min={1}
          max={ruleLimits.days}
          value={draft.cooldownDays}
          help="Keeps an alert open for at least this long. Empty: the churn horizon."
          onChange={({ target }) => onChange({ cooldownDays: target.value })}
        />
        {!isOpportunity(draft) && <HoldOutFields draft={draft} onChange={onChange} />}
      </div>
      <Destinations draft={draft} onChange={onChange} />
      {isFirst && !isMoment(draft) && (
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={draft.includeCurrent}
            onChange={({ target }) => onChange({ includeCurrent: target.checked })}
          />
          Also alert for {draft.scope} that meet the condition now
        </label>
      )}
    </>
  );
}

function Destinations({ draft, onChange }: FieldsProps): ReactElement | null {
  const known = useRead("/api/destinations").data?.destinations;
  const [before] = useState(draft.destinations);
  if (known === undefined) return null;
  const { destinations } = draft;
  // A member's own digest is for the digest alone. The API takes it, so a saved rule may have one.
  const offered = known.filter(({ id, name }) => before.includes(id) || !isOwnDigestName(name));
  if (offered.length === 0) {
    return (
      <p className="text-sm text-soft">
        No destination yet: alerts are on the page Alerts, and no message is sent.
      </p>
    );
  }
  return (
    <fieldset className="grid min-w-0 gap-1.5 [overflow-wrap:anywhere]">
      <legend className="mb-1.5 font-medium">Destinations</legend>
      {offered.map(({ id, name }) => (
        <label key={id} className="flex items-baseline gap-2">
          <input
            type="checkbox"
            checked={destinations.includes(id)}
            onChange={({ target }) =>
              onChange({
                destinations: target.checked
                  ? [...destinations, id]
                  : destinations.filter((one) => one !== id),
              })
            }
          />
          {name}
        </label>
      ))}
    </fieldset>
  );
}
