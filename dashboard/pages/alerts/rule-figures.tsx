/** The figures of a rule that is on: its precision, and its alerts by week beside the alerts of its
 * preview. */
import type { ReactElement } from "react";
import { isOpportunity } from "../../../contract/alerts/rules.ts";
import { useChange } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Help } from "../../parts/figure/help.tsx";
import { Button } from "../../parts/form/button.tsx";
import { FormError } from "../../parts/form/field.tsx";
import { useTell } from "../../parts/toast.tsx";
import { classes } from "../../text/classes.ts";
import { counted, dayPlus, dayText, nothing, numbers } from "../../text/format.ts";
import { hasScope, ofRule, previewOf, type Rule } from "./draft.ts";
import { controlGroupSentences, type FiguresOfRule, figureSentences, needsStop } from "./figure-words.ts";

interface FiguresProps {
  readonly rule: Rule;
  readonly figures: FiguresOfRule;
  readonly horizonDays: number;
}

export function RuleFigures({ rule, figures, horizonDays }: FiguresProps): ReactElement {
  const sentences = figureSentences(
    figures,
    horizonDays,
    !hasScope(rule.condition) || isOpportunity(rule.condition),
  );
  return (
    <div className="grid gap-1 text-sm">
      <ul aria-label={`Figures of ${rule.name}`}>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      {figures.holdOut !== null && (
        <ControlGroup rule={rule} group={figures.holdOut} horizonDays={horizonDays} />
      )}
      <details>
        <summary className="cursor-pointer text-soft">Alerts by week</summary>
        <Weeks rule={rule} figures={figures} />
      </details>
    </div>
  );
}

interface ControlGroupProps {
  readonly rule: Rule;
  readonly group: NonNullable<FiguresOfRule["holdOut"]>;
  readonly horizonDays: number;
}

function ControlGroup({ rule, group, horizonDays }: ControlGroupProps): ReactElement {
  const isBad = group.result !== null && needsStop(group.result);
  const days = counted(group.horizonDays ?? horizonDays, "day");
  return (
    <div
      className={classes("grid gap-2", isBad && "rounded border border-at-risk/40 bg-at-risk-wash px-3 py-2")}
    >
      <div className="flex items-start gap-2">
        <ul aria-label={`Control group of ${rule.name}`} className="grid gap-0.5">
          {controlGroupSentences(group).map((sentence) => (
            <li key={sentence} className={sentence === group.result?.sentence ? "font-medium" : undefined}>
              {sentence}
            </li>
          ))}
        </ul>
        <Help about={`Control group of ${rule.name}`}>
          <p>
            Controls get no message and no task, and are on no call list before their churn horizon of {days}{" "}
            is over. Their alerts count as fired.
          </p>
          <p>The range is wider than 95% until the planned number of entries is there.</p>
        </Help>
      </div>
      {isBad && !rule.isPaused && <Stop rule={rule} />}
    </div>
  );
}

/** The way out when those who were treated leave more often. */
function Stop({ rule: { id, name } }: { rule: Rule }): ReactElement | null {
  const tell = useTell();
  const mayPause = useMayAs("member");
  const pause = useChange("POST /api/alert-rules/:id/pause");
  if (!mayPause) return null;
  const onSuccess = () => tell(`${name} is paused. Its open alerts stay.`);
  return (
    <div>
      <Button
        isSmall
        isBusy={pause.isPending}
        onClick={() => pause.mutate({ path: { id } }, { onSuccess, onError: tell.failed })}
      >
        Pause the rule
      </Button>
    </div>
  );
}

interface WeeksProps {
  readonly rule: Rule;
  readonly figures: FiguresOfRule;
}

/** Alerts by week, beside the alerts of the preview. The preview decides on present scores, which late events
 * have changed since, so that other alerts fire. */
function Weeks({ rule, figures: { weeks, since } }: WeeksProps): ReactElement {
  const mayPreview = useMayAs("member");
  const preview = useChange("POST /api/alert-rules/preview");
  const previewed = preview.data && new Map(preview.data.weeks.map(({ monday, fired }) => [monday, fired]));
  return (
    <div className="grid justify-items-start gap-2 py-2">
      <table>
        <thead>
          <tr className="text-left">
            <th scope="col" className="pr-6 font-medium">
              Week from
            </th>
            <th scope="col" className="pr-6 text-right font-medium">
              Fired
            </th>
            {previewed !== undefined && (
              <th scope="col" className="text-right font-medium">
                Preview
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {weeks.map(({ monday, fired }) => (
            <tr key={monday} className="border-t border-line">
              <th scope="row" className="pr-6 text-left font-normal">
                {dayText(monday)}
              </th>
              <td className="pr-6 text-right tabular-nums">
                {dayPlus(monday, 6) < since ? nothing : numbers.count(fired)}
              </td>
              {previewed !== undefined && (
                <td className="text-right tabular-nums">{numbers.count(previewed.get(monday))}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {previewed !== undefined && (
        <p className="text-soft">
          The preview reads the scores of these days as they are now. Late events and imports change them
          after the rule has fired.
        </p>
      )}
      <FormError error={preview.error} />
      {mayPreview && hasScope(rule.condition) && (
        <Button
          isSmall
          isBusy={preview.isPending}
          aria-label={`Compare with the preview of ${rule.name}`}
          onClick={() => preview.mutate({ body: previewOf(ofRule(rule)) })}
        >
          Compare with the preview
        </Button>
      )}
    </div>
  );
}
