/** Erasing a user: what happens is told before, the id has to be typed, and what was done is told after. */
import { Link } from "@tanstack/react-router";
import { type FormEvent, type ReactElement, useState } from "react";
import type { Changes } from "../../api/paths.ts";
import { useChange } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { Button, buttonClass } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { FormError, Input } from "../../parts/field.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Instant } from "../../parts/time.tsx";
import { numbers } from "../../text/format.ts";

export type Receipt = Changes["DELETE /api/users/:userId"]["answer"];

interface EraseDialogProps {
  readonly userId: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onErased: (receipt: Receipt) => void;
}

export function EraseDialog({ userId, isOpen, onClose, onErased }: EraseDialogProps): ReactElement {
  const erase = useChange("DELETE /api/users/:userId", onErased);
  const [typed, setTyped] = useState("");
  const isRight = typed === userId;
  const close = () => {
    if (erase.isPending) return;
    setTyped("");
    erase.reset();
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isRight) erase.mutate({ path: { userId } });
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title="Erase this user"
      description="Everything that was sent about this user is deleted for good: this cannot be undone."
    >
      <form onSubmit={submit} className="grid gap-4">
        <ul className="ml-5 list-disc">
          <li>The user, all traits, all events and all scores are gone from every store.</li>
          <li>Figures of past days are computed again without them, so totals become smaller.</li>
          <li>Backups that were made before still have the data: delete them yourself.</li>
          <li>Should your application identify this id again, a new user begins.</li>
        </ul>
        <Input
          label="Type the user's id to confirm"
          help={<span className="[overflow-wrap:anywhere] whitespace-pre-wrap select-all">{userId}</span>}
          value={typed}
          autoFocus
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          maxLength={1_000}
          onChange={({ target }) => setTyped(target.value)}
        />
        <FormError error={erase.error} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={close} disabled={erase.isPending}>
            Cancel
          </Button>
          <Button type="submit" look="danger" disabled={!isRight} isBusy={erase.isPending}>
            {erase.isPending ? "Erasing …" : "Erase for good"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** What was erased. */
export function Erased({ receipt }: { receipt: Receipt }): ReactElement {
  const organization = String(useOrganization().id);
  const { erasedAt, events, versions, days, deadLetters, inboxRows, seconds } = receipt;
  const lines = [
    ["Events", numbers.count(events)],
    ["Versions of traits", numbers.count(versions)],
    ["Rows on their way, and dead letters", numbers.count(inboxRows + deadLetters)],
    ["Days computed again", numbers.count(days)],
    ["Seconds it took", numbers.decimal(seconds)],
  ] as const;
  return (
    <>
      <PageHeader title="This user is erased">
        Nothing was left at <Instant instant={erasedAt} />.
      </PageHeader>
      <Panel title="Receipt" note="What was deleted. It is also in the audit log, without the id.">
        <dl className="grid max-w-96 grid-cols-[1fr_auto] gap-y-1">
          {lines.map(([label, value]) => (
            <div key={label} className="contents">
              <dt className="text-soft">{label}</dt>
              <dd className="text-right font-medium">{value}</dd>
            </div>
          ))}
        </dl>
        <div className="mt-4">
          <Link to="/o/$organization/users" params={{ organization }} className={buttonClass()}>
            All users
          </Link>
        </div>
      </Panel>
    </>
  );
}
