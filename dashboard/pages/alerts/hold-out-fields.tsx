/** The fields of a rule's control group: its share, and who is exempt from it. */
import type { ReactElement } from "react";
import { ruleLimits } from "../../../contract/alerts/rules.ts";
import { currencyDigits } from "../../../contract/billing/currencies.ts";
import { useRead } from "../../api/query.ts";
import { useReportingCurrency } from "../../parts/billing/reporting-currency.ts";
import { Input, Select } from "../../parts/form/field.tsx";
import { useSegments } from "../segments/segments.ts";
import { choicesOfKind, type FieldsProps } from "./condition-fields.tsx";
import { hasScope } from "./draft.ts";

export function HoldOutFields({ draft, onChange }: FieldsProps): ReactElement {
  return (
    <>
      <Input
        label="Control group, %"
        type="number"
        required
        min={0}
        max={100 * ruleLimits.maxHoldOutShare}
        step="any"
        value={draft.holdOut}
        help="This share gets no message and no task and is not on the call list, to compare with."
        onChange={({ target }) => onChange({ holdOut: target.value })}
      />
      {Number(draft.holdOut) > 0 && hasScope(draft) && <Exemptions draft={draft} onChange={onChange} />}
    </>
  );
}

/** The fields for exempt users and accounts, whose alerts are always sent. */
function Exemptions({ draft, onChange }: FieldsProps): ReactElement {
  const segments = choicesOfKind(useSegments(), draft.scope);
  const currency = useReportingCurrency();
  const { segment, ...others } = draft.exemptions;
  const { mrrAbove } = others;
  // The service fills in this MRR when the rule is saved without an MRR.
  const isDefault = mrrAbove === undefined;
  const usual = useRead("/api/alert-rules/default-exemption", { enabled: isDefault }).data?.mrrAbove;
  const shown = isDefault ? usual : mrrAbove;
  return (
    <>
      {segments.length > 0 && (
        <Select
          label="Never in the control group: a segment"
          value={segment === undefined ? "" : String(segment)}
          choices={[{ value: "", label: "None" }, ...segments]}
          help="Its members always get their messages."
          onChoose={(id) =>
            onChange({ exemptions: { ...others, ...(id !== "" && { segment: Number(id) }) } })
          }
        />
      )}
      {currency !== null && (
        <Input
          label={`Never in the control group: an MRR above, in ${currency}`}
          type="number"
          min={0}
          max={1e12}
          step="any"
          value={shown == null ? "" : shown / 10 ** currencyDigits(currency)}
          help="Of the account, or of the user without one. By default the top 10% of payers."
          onChange={({ target: { value } }) =>
            onChange({
              exemptions: {
                ...draft.exemptions,
                mrrAbove: value === "" ? null : Math.round(Number(value) * 10 ** currencyDigits(currency)),
              },
            })
          }
        />
      )}
    </>
  );
}
