/** Saves the users of a cell as a fixed segment: all of those whom the chosen tab has. */
import { type ReactElement, useState } from "react";
import { segmentLimits } from "../../../contract/segments/segments.ts";
import { type Changes, useChange } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { NameDialog } from "../../parts/form/name-dialog.tsx";
import { useTell } from "../../parts/toast.tsx";
import { counted } from "../../text/format.ts";
import { cohortTitle, groupLabel } from "./cohorts.ts";
import { type Choices, useChoices } from "./question.ts";

interface SaveProps {
  /** The cell. */
  readonly query: Changes["POST /api/retention/segment"]["query"];
  /** The users of the tab. */
  readonly users: number;
}

/** The button. It is absent for viewers. */
export function SaveCell(props: SaveProps): ReactElement | null {
  const mayChange = useMayAs("member");
  const [isOpen, setOpen] = useState(false);
  if (!mayChange) return null;
  return (
    <>
      <Button isSmall icon="segments" onClick={() => setOpen(true)}>
        Save as segment
      </Button>
      {isOpen && <SaveDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function SaveDialog({ query, users, onClose }: SaveProps & { onClose: () => void }): ReactElement {
  const [choices] = useChoices();
  const create = useChange("POST /api/retention/segment");
  const tell = useTell();
  const save = (name: string) =>
    create.mutate(
      { query, body: { name } },
      {
        onSuccess: ({ fixed }) => {
          tell(`The segment “${name}” has ${counted(fixed ?? 0, "user")}.`);
          onClose();
        },
      },
    );
  return (
    <NameDialog
      title="Save as segment"
      about={`A fixed segment of ${counted(users, "user")}. Its members stay the same when the figures change.`}
      action="Save segment"
      name={nameOfCell(choices)}
      change={create}
      onName={save}
      onClose={onClose}
    />
  );
}

/** E.g. “Week of 3 Aug 2026, active in week 4”, with the group at the end. */
function nameOfCell(choices: Choices): string {
  const { cohort = "", period, at, trait, group, side, measure, returnEvent } = choices;
  const did = returnEvent === "" ? "active" : `did ${returnEvent}`;
  const when = `${period === "day" ? "on" : "in"} ${period} ${at}${measure === "in" ? "" : " or later"}`;
  const whose = trait === "" ? "" : `, ${groupLabel(group, trait)}`;
  const name = `${cohortTitle(cohort, period)}, ${side === "retained" ? did : `not ${did}`} ${when}${whose}`;
  return name.slice(0, segmentLimits.nameCharacters);
}
