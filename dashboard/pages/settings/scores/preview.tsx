/** The effect of a change before it is saved: moves between bands, and whether scores would have predicted
 * better. */
import type { ReactElement } from "react";
import { type Changes, useChange } from "../../../api/query.ts";
import { Button } from "../../../parts/form/button.tsx";
import { FormError } from "../../../parts/form/field.tsx";
import { Scrollable } from "../../../parts/list/scrollable.tsx";
import { counted, numbers } from "../../../text/format.ts";
import { settingName } from "../../../text/setting-names.ts";
import {
  departuresText,
  movesText,
  pastHealthText,
  proofText,
  type SettingsPreview,
  stateMovesText,
} from "./preview-words.ts";

type Route = "POST /api/settings/preview";
type Body = NonNullable<Changes[Route]["body"]>;

interface PreviewProps {
  /** The change as it would be saved. */
  readonly body: Body;
  /** Whether the horizon changes, for which models are trained. */
  readonly isOfHorizon: boolean;
}

/** A button, and the answer to it. An answer about another change is not shown. */
export function Preview({ body, isOfHorizon }: PreviewProps): ReactElement {
  const preview = useChange("POST /api/settings/preview");
  const isOfThis = JSON.stringify(preview.variables?.body) === JSON.stringify(body);
  const answer = isOfThis ? preview.data : undefined;
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button isSmall isBusy={preview.isPending} onClick={() => preview.mutate({ body })}>
          Preview
        </Button>
        {isOfHorizon && (
          <span className="text-sm text-soft">
            {preview.isPending ? "Models are trained: up to a minute." : "Trains models: up to a minute."}
          </span>
        )}
      </div>
      {isOfThis && <FormError error={preview.error} />}
      {answer !== undefined && <Answer answer={answer} />}
    </div>
  );
}

function Answer({ answer: { kinds, uncounted } }: { answer: SettingsPreview }): ReactElement {
  const scored = kinds.filter(({ day }) => day !== null);
  return (
    <Scrollable label="Preview" className="grid max-h-[40vh] gap-3 overflow-y-auto border-t border-line pt-3">
      {scored.length === 0 && <p className="text-soft">There are no scores yet to compare with.</p>}
      <div className="grid gap-x-8 gap-y-3 sm:grid-cols-2">
        {scored.map((kind) => (
          <OfKind key={kind.kind} kind={kind} />
        ))}
      </div>
      {uncounted.length > 0 && (
        <p className="text-sm text-soft">
          Not in these bands, because scores have to be computed again:{" "}
          {uncounted.map(settingName).join(", ")}.
        </p>
      )}
    </Scrollable>
  );
}

function OfKind({ kind: ofKind }: { kind: SettingsPreview["kinds"][number] }): ReactElement {
  const { kind, entities, healthChanged, riskChanged, health, risk, pastHealth, definition, horizons } =
    ofKind;
  const rows = [
    { what: "health band", changed: healthChanged, moves: movesText(health) },
    { what: "risk band", changed: riskChanged, moves: movesText(risk) },
  ];
  return (
    <div className="min-w-0">
      <h3 className="text-sm font-medium">{kind === "user" ? "Users" : "Accounts"}</h3>
      <ul className="text-sm">
        {rows.map(({ what, changed, moves }) => (
          <li key={what}>
            {changed === 0 ? (
              `No ${kind} changes its ${what}.`
            ) : (
              <>
                <b className="font-medium">{counted(changed, kind)}</b> of {numbers.count(entities)} would
                change the {what}: <span className="text-soft">{moves}.</span>
              </>
            )}
          </li>
        ))}
        {definition !== null && (
          <>
            <li>{departuresText(definition)}</li>
            <li>
              {definition.stateChanged === 0 ? (
                `No ${kind} changes its state.`
              ) : (
                <>
                  <b className="font-medium">{counted(definition.stateChanged, kind)}</b> of{" "}
                  {numbers.count(entities)} would change the state:{" "}
                  <span className="text-soft">{stateMovesText(definition.states)}.</span>
                </>
              )}
            </li>
          </>
        )}
        {pastHealth !== null && <li className="mt-1">{pastHealthText(pastHealth)}</li>}
        {horizons !== null && (
          <>
            <li className="mt-1">{proofText(horizons.before)}</li>
            <li>{proofText(horizons.after)}</li>
          </>
        )}
      </ul>
    </div>
  );
}
