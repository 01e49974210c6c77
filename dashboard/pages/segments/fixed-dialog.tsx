/** The dialog of a fixed segment: a new one, or one that gets other ids. */
import { type FormEvent, type ReactElement, useState } from "react";
import { segmentLimits } from "../../../contract/segments/segments.ts";
import { useChange } from "../../api/query.ts";
import { Button } from "../../parts/form/button.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { FormError, Input, Select, TextArea } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { useTell } from "../../parts/toast.tsx";
import { counted, numbers } from "../../text/format.ts";
import { idsIn } from "./ids.ts";
import type { Segment, SegmentKind } from "./segments.ts";

interface DialogProps {
  /** Undefined for a new one. */
  readonly segment: Segment | undefined;
  readonly onClose: () => void;
}

interface Saved {
  readonly kind: SegmentKind;
  readonly fixed: number | null;
  readonly unknownIds: readonly string[];
}

export function FixedDialog({ segment, onClose }: DialogProps): ReactElement {
  const [saved, setSaved] = useState<Saved>();
  const tell = useTell();
  const done = (answer: Saved) => {
    if (answer.unknownIds.length > 0) return setSaved(answer);
    tell(`The segment has ${counted(answer.fixed ?? 0, wordOf(answer.kind))}.`);
    onClose();
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={segment === undefined ? "Segment from a CSV of ids" : `Replace the ids of “${segment.name}”`}
      description="A fixed segment keeps its members until you replace them."
    >
      {saved === undefined ? (
        <FixedForm segment={segment} onSaved={done} onCancel={onClose} />
      ) : (
        <Unknown saved={saved} onClose={onClose} />
      )}
    </Dialog>
  );
}

const wordOf = (kind: SegmentKind) => (kind === "users" ? "user" : "account");
const kinds = [
  { value: "users", label: "Users" },
  { value: "accounts", label: "Accounts" },
] as const;

function FixedForm({
  segment,
  onSaved,
  onCancel,
}: {
  segment: Segment | undefined;
  onSaved: (saved: Saved) => void;
  onCancel: () => void;
}): ReactElement {
  const [kind, setKind] = useState<SegmentKind>(segment?.kind ?? "users");
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<Error | null>(null);
  const add = useChange("POST /api/segments");
  const change = useChange("PATCH /api/segments/:id");
  const errors = fieldErrors(problem ?? add.error ?? change.error, ["name"]);
  const send = (event: FormEvent) => {
    event.preventDefault();
    const ids = readIds(text, kind);
    setProblem(ids instanceof Error ? ids : null);
    if (ids instanceof Error) return;
    if (segment === undefined) add.mutate({ body: { kind, name: name.trim(), ids } }, { onSuccess: onSaved });
    else change.mutate({ path: { id: segment.id }, body: { ids } }, { onSuccess: onSaved });
  };
  return (
    <form onSubmit={send} className="grid gap-4">
      {segment === undefined && (
        <>
          <Input
            label="Name"
            required
            maxLength={segmentLimits.nameCharacters}
            pattern=".*\S.*"
            autoComplete="off"
            value={name}
            onChange={({ target }) => setName(target.value)}
            error={errors.of("name")}
          />
          <Select label="Members" value={kind} choices={kinds} onChoose={setKind} />
        </>
      )}
      <Input
        label="CSV file"
        type="file"
        accept=".csv,.txt,text/csv,text/plain"
        className="py-1! file:mr-3 file:cursor-pointer file:font-medium file:underline file:underline-offset-3"
        onChange={({ target }) => void target.files?.[0]?.text().then(setText)}
        help={`Its first column has the ${wordOf(kind)} ids, at most ${numbers.count(segmentLimits.fixedIds)}.`}
      />
      <TextArea label="Or ids, one a line" rows={6} value={text} onText={setText} />
      <FormError error={errors.rest} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" look="primary" isBusy={add.isPending || change.isPending}>
          {segment === undefined ? "Save segment" : "Replace ids"}
        </Button>
      </div>
    </form>
  );
}

/** The ids, or why there are none. */
function readIds(text: string, kind: SegmentKind): string[] | Error {
  try {
    const ids = idsIn(text, kind);
    const most = segmentLimits.fixedIds;
    if (ids.length > most)
      return new Error(`Send at most ${numbers.count(most)} ids, not ${numbers.count(ids.length)}.`);
    return ids.length === 0 ? new Error("Choose a file, or paste at least one id.") : ids;
  } catch (error) {
    return new Error(`This is no CSV: ${String(error)}`);
  }
}

const shownIds = 20;

function Unknown({ saved, onClose }: { saved: Saved; onClose: () => void }): ReactElement {
  const { kind, fixed, unknownIds } = saved;
  const more = unknownIds.length - shownIds;
  return (
    <div className="grid gap-3">
      <p role="status">
        The segment has {counted(fixed ?? 0, wordOf(kind))}. {counted(unknownIds.length, "unknown id")} left
        out:
      </p>
      <ul className="max-h-48 overflow-y-auto font-mono text-sm [overflow-wrap:anywhere]">
        {unknownIds.slice(0, shownIds).map((id) => (
          <li key={id}>{id}</li>
        ))}
        {more > 0 && <li>and {numbers.count(more)} more</li>}
      </ul>
      <Button look="primary" className="justify-self-end" onClick={onClose}>
        Done
      </Button>
    </div>
  );
}
