/** The team member's own digest by e-mail, of the present organization. */
import type { ReactElement } from "react";
import { ownDigestPeriods } from "../../../contract/digest/digest.ts";
import { type Reads, useChange, useRead } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { FormError, Select } from "../../parts/form/field.tsx";
import { FigurePanel } from "../../parts/states.tsx";

type Own = Reads["/api/own-digest"]["answer"];

const periodWords: Readonly<Record<Own["period"], string>> = {
  off: "Off",
  daily: "Every day at 07:00",
  weekly: "On Mondays at 07:00",
};
const choices = ownDigestPeriods.map((value) => ({ value, label: periodWords[value] }));

/** Switches the own digest on and off, at once. */
export function OwnDigest(): ReactElement {
  const { name } = useOrganization();
  const asked = useRead("/api/own-digest");
  return (
    <FigurePanel
      title="Your digest"
      note={`By e-mail: moves into and out of high risk, alerts and changes in ${name}.`}
      asked={asked}
    >
      {(own) => <Choice own={own} />}
    </FigurePanel>
  );
}

function Choice({ own }: { own: Own }): ReactElement {
  const change = useChange("PUT /api/own-digest");
  const choose = (period: Own["period"]) => change.mutate({ body: { period } });
  const again = againWords(own);
  return (
    <div className="grid justify-items-start gap-3">
      <div className="grid w-full max-w-2xl gap-5 sm:grid-cols-2">
        <Select
          label="Digest"
          choices={choices}
          value={change.isPending ? change.variables.body.period : own.period}
          onChoose={choose}
          disabled={change.isPending}
          help={helpOf(own)}
        />
      </div>
      <FormError error={change.error} />
      {again !== null && (
        <Button isBusy={change.isPending} onClick={() => choose(own.period)}>
          {again}
        </Button>
      )}
    </div>
  );
}

function helpOf({ state, address }: Own): string {
  switch (state) {
    case null:
      return "No digest is sent when there is no news.";
    case "unconfirmed":
      return `A link is on its way to ${address}. Open it to agree: nothing is sent before.`;
    case "active":
      return `It goes to ${address}.`;
    case "paused":
      return "It is paused. An owner resumes it under Destinations.";
    case "disabled":
      return "It has stopped: you unsubscribed, or mails failed for days.";
  }
}

/** The name of the button that asks to agree once more. */
function againWords({ state }: Own): string | null {
  if (state === "unconfirmed") return "Send the link again";
  return state === "disabled" ? "Start it again" : null;
}
