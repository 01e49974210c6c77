/** The owner of a user or an account: the team member who looks after it. */
import { type FormEvent, type ReactElement, useState } from "react";
import { useChange } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { FormError, Select } from "../../parts/form/field.tsx";
import { useTell } from "../../parts/toast.tsx";
import { useMemberChoices, withChoice } from "../tasks/members.ts";
import type { Entity } from "../tasks/task-form.tsx";

interface Owned {
  readonly owner: string | null;
  readonly ownerId: number | null;
  readonly unknownOwner: string | null;
  /** Of a user: whether the owner is that of the account. */
  readonly isOwnerOfAccount?: boolean;
}

interface OwnerProps {
  readonly entity: Entity;
  readonly owned: Owned;
}

/** Says the owner, and opens the choice of another one. Viewers only read it. */
export function Owner({ entity, owned }: OwnerProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  // Accounts follow within seconds, and the choice is shown at once.
  const [chosen, setChosen] = useState<Owned>();
  if (chosen !== undefined && chosen.ownerId === owned.ownerId) setChosen(undefined);
  const now = chosen ?? owned;
  const mayChange = useMayAs("member");
  const text = now.owner === null ? "No owner" : `Owner: ${now.owner}`;
  if (!mayChange) return <span className="max-w-64 truncate text-soft">{text}</span>;
  return (
    <>
      <Button isSmall title={ownerText(now)} className="max-w-64" onClick={() => setOpen(true)}>
        <span className="truncate">{text}</span> …
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title="Owner">
        <OwnerForm entity={entity} owned={now} onChosen={setChosen} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function OwnerForm({
  entity,
  owned,
  onChosen,
  onDone,
}: OwnerProps & { onChosen: (owned: Owned) => void; onDone: () => void }): ReactElement {
  const own = owned.isOwnerOfAccount === true || owned.ownerId === null ? "" : String(owned.ownerId);
  const [value, setValue] = useState(own);
  const ofUser = useChange("PATCH /api/users/:userId/owner");
  const ofAccount = useChange("PATCH /api/accounts/:accountId/owner");
  const isBusy = ofUser.isPending || ofAccount.isPending;
  const members = useMemberChoices();
  const tell = useTell();
  const choices = withChoice(
    [{ value: "", label: entity.kind === "user" ? "Nobody, or the account's owner" : "Nobody" }, ...members],
    value,
    owned.owner ?? "",
  );
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    const owner = value === "" ? null : Number(value);
    const onSuccess = () => {
      const name = members.find((one) => one.value === value)?.label.replace(/ \(you\)$/, "") ?? null;
      // Without an owner of its own, a user may have the account's.
      if (owner !== null || entity.kind === "account") {
        onChosen({ owner: name, ownerId: owner, unknownOwner: null });
      }
      tell(name === null ? "The owner is taken away." : `${name} is the owner now.`);
      onDone();
    };
    if (entity.kind === "user")
      ofUser.mutate({ path: { userId: entity.id }, body: { owner } }, { onSuccess });
    else ofAccount.mutate({ path: { accountId: entity.id }, body: { owner } }, { onSuccess });
  };
  return (
    <form onSubmit={save} className="grid gap-4">
      <p className="text-soft [overflow-wrap:anywhere]">{ownerText(owned)}</p>
      <Select
        label="Team member"
        value={value}
        choices={choices}
        onChoose={setValue}
        help={`It becomes the ${entity.kind === "user" ? "trait" : "attribute"} owner. A newer one that your application sends replaces it.`}
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

function ownerText({ owner, unknownOwner, isOwnerOfAccount = false }: Owned): string {
  if (unknownOwner !== null) {
    const instead = owner === null ? "so nobody is" : `so ${owner}, the account's owner, is`;
    return `The owner says ${unknownOwner}, who is no team member, ${instead} the owner.`;
  }
  if (owner === null) return "There is no owner yet.";
  return isOwnerOfAccount ? `${owner} is the owner of the account.` : `${owner} is the owner.`;
}
