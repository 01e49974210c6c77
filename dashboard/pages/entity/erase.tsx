/** Erasing a user, an account or an organization: the consequences, the id or name to type, and a receipt. */
import { type FormEvent, type ReactElement, type ReactNode, useState } from "react";
import type { Changes } from "../../api/paths.ts";
import { Button } from "../../parts/form/button.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { FormError, Input } from "../../parts/form/field.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Instant } from "../../parts/time.tsx";
import { numbers } from "../../text/format.ts";
import { ListLink } from "./missing.tsx";

export type UserReceipt = Changes["DELETE /api/users/:userId"]["answer"];
export type AccountReceipt = Changes["DELETE /api/accounts/:accountId"]["answer"];

interface EraseButtonProps {
  /** The text of the button that opens the dialog. */
  readonly button: string;
  readonly isSmall?: boolean;
  readonly title: string;
  readonly description: string;
  /** Of the field in which `expected` has to be typed. */
  readonly label: string;
  readonly expected: string;
  /** The label of the button that erases. */
  readonly action: string;
  /** Items of a list. */
  readonly consequences: ReactNode;
  /** Between the list and the field. */
  readonly choice?: ReactNode;
  readonly erasure: { readonly isPending: boolean; readonly error: Error | null; readonly reset: () => void };
  readonly onErase: () => void;
  /** Called when nothing is to be erased. */
  readonly onClose?: () => void;
}

/** A button, and behind it the dialog in which the erasure is confirmed. */
export function EraseButton(props: EraseButtonProps): ReactElement {
  const { button, isSmall = false, title, description, label, expected, action } = props;
  const { consequences, choice, erasure, onErase, onClose } = props;
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const isRight = typed === expected;
  const close = () => {
    if (erasure.isPending) return;
    setTyped("");
    erasure.reset();
    onClose?.();
    setOpen(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isRight) onErase();
  };
  return (
    <>
      <Button isSmall={isSmall} onClick={() => setOpen(true)}>
        {button}
      </Button>
      <Dialog isOpen={isOpen} onClose={close} title={title} description={description}>
        <form onSubmit={submit} className="grid gap-4">
          <ul className="ml-5 list-disc">{consequences}</ul>
          {choice}
          <Input
            label={label}
            help={<span className="[overflow-wrap:anywhere] whitespace-pre-wrap select-all">{expected}</span>}
            value={typed}
            autoFocus
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={1_000}
            onChange={({ target }) => setTyped(target.value)}
          />
          <FormError error={erasure.error} />
          <div className="flex flex-wrap justify-end gap-2">
            <Button onClick={close} disabled={erasure.isPending}>
              Cancel
            </Button>
            <Button type="submit" look="danger" disabled={!isRight} isBusy={erasure.isPending}>
              {erasure.isPending ? "Erasing …" : action}
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}

interface ErasedProps {
  readonly what: "user" | "account";
  readonly erasedAt: string;
  /** Each kind of erased data, with its count. */
  readonly lines: readonly (readonly [label: string, value: string])[];
}

/** The erased data of a user or an account, with the date. */
export function Erased({ what, erasedAt, lines }: ErasedProps): ReactElement {
  return (
    <>
      <PageHeader title={`This ${what} is erased`}>
        Erased on <Instant instant={erasedAt} />.
      </PageHeader>
      <Panel title="Receipt" note="The audit log has the erasure, without the id.">
        <dl className="grid max-w-96 grid-cols-[1fr_auto] gap-y-1">
          {lines.map(([label, value]) => (
            <div key={label} className="contents">
              <dt className="text-soft">{label}</dt>
              <dd className="text-right font-medium">{value}</dd>
            </div>
          ))}
        </dl>
        <ListLink what={what} />
      </Panel>
    </>
  );
}

/** The lines of a receipt that are those of users and accounts. */
export function receiptLines({
  rejectedEvents,
  inboxRows,
  days,
  seconds,
}: Pick<UserReceipt, "rejectedEvents" | "inboxRows" | "days" | "seconds">): ErasedProps["lines"] {
  return [
    ["Queued and rejected rows", numbers.count(inboxRows + rejectedEvents)],
    ["Days computed again", numbers.count(days)],
    ["Seconds it took", numbers.decimal(seconds)],
  ];
}
