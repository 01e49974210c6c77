/** Why a user or an account left, as the team says it. */
import { type FormEvent, type ReactElement, useState } from "react";
import { churnReasonTrait, workLimits } from "../../../contract/notes-and-tasks.ts";
import { useChange } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { FormError, Input } from "../../parts/form/field.tsx";
import { useTell } from "../../parts/toast.tsx";
import type { Entity } from "../tasks/task-form.tsx";

interface ReasonProps {
  readonly entity: Entity;
  /** Of the user, or attributes of the account. */
  readonly traits: Readonly<Record<string, unknown>>;
}

/** For one that has churned: a button with the reason, or to say it. Viewers read it among the traits. */
export function ChurnReason({ entity, traits }: ReasonProps): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  // Accounts follow within seconds, and the reason is shown at once.
  const [saved, setSaved] = useState<string>();
  const value = traits[churnReasonTrait];
  const stored = typeof value === "string" ? value : "";
  if (saved === stored) setSaved(undefined);
  const reason = saved ?? stored;
  if (!useMayAs("member")) return null;
  return (
    <>
      <Button isSmall title={reason || undefined} className="max-w-64" onClick={() => setOpen(true)}>
        <span className="truncate">{reason === "" ? "Churn reason" : `Churn reason: ${reason}`}</span> …
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title="Churn reason">
        <ReasonForm entity={entity} reason={reason} onSaved={setSaved} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function ReasonForm({
  entity,
  reason,
  onSaved,
  onDone,
}: {
  entity: Entity;
  reason: string;
  onSaved: (reason: string) => void;
  onDone: () => void;
}): ReactElement {
  const [text, setText] = useState(reason);
  const ofUser = useChange("PATCH /api/users/:userId/churn-reason");
  const ofAccount = useChange("PATCH /api/accounts/:accountId/churn-reason");
  const isBusy = ofUser.isPending || ofAccount.isPending;
  const tell = useTell();
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    const typed = text.trim();
    const body = { reason: typed === "" ? null : typed };
    const onSuccess = () => {
      onSaved(typed);
      tell(typed === "" ? "The churn reason is taken away." : "The churn reason is saved.");
      onDone();
    };
    if (entity.kind === "user") ofUser.mutate({ path: { userId: entity.id }, body }, { onSuccess });
    else ofAccount.mutate({ path: { accountId: entity.id }, body }, { onSuccess });
  };
  return (
    <form onSubmit={save} className="grid gap-4">
      <Input
        label="Why did they leave?"
        maxLength={workLimits.churnReasonCharacters}
        value={text}
        onChange={({ target }) => setText(target.value)}
        help={`It becomes the ${entity.kind === "user" ? "trait" : "attribute"} churnReason. Lists and cohorts can be split by it.`}
      />
      <FormError error={ofUser.error ?? ofAccount.error} />
      <div className="flex gap-2">
        <Button type="submit" look="primary" isBusy={isBusy}>
          Save
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}
