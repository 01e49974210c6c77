/** Forms that keep what is typed: nothing is lost by an error, by a new answer of the server, or by leaving unasked. */
import { useBlocker } from "@tanstack/react-router";
import { type FormEvent, type ReactElement, type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { useConfirm } from "./confirm.tsx";
import { FormError } from "./field.tsx";

/** What is saved, and what was typed over it. */
export interface Draft<Values extends object> {
  /** What the fields show. */
  readonly values: Values;
  /** What differs from what is saved. */
  readonly changes: Partial<Values>;
  readonly isDirty: boolean;
  readonly set: (change: Partial<Values>) => void;
  /** Back to what is saved. */
  readonly discard: () => void;
}

/** Keeps what is typed over what is saved. What the server answers meanwhile changes no field that was typed in, and
 * who leaves the page with unsaved changes is asked first. */
export function useDraft<Values extends object>(saved: Values): Draft<Values> {
  const [typed, setTyped] = useState<Partial<Values>>({});
  const changes = Object.fromEntries(
    Object.entries(typed).filter(([name, value]) => !isSame(value, saved[name as keyof Values])),
  ) as Partial<Values>;
  const isDirty = Object.keys(changes).length > 0;
  useUnsaved(isDirty);
  return {
    values: { ...saved, ...typed },
    changes,
    isDirty,
    set: (change) => setTyped((before) => ({ ...before, ...change })),
    discard: () => setTyped({}),
  };
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Asks before the page is left with unsaved changes. */
function useUnsaved(isDirty: boolean): void {
  const confirm = useConfirm();
  useBlocker({
    disabled: !isDirty,
    enableBeforeUnload: isDirty,
    shouldBlockFn: async ({ current, next }) =>
      current.pathname !== next.pathname &&
      !(await confirm({
        title: "Leave without saving?",
        text: "What you changed on this page is not saved yet, and would be lost.",
        action: "Leave without saving",
        isDangerous: true,
      })),
  });
}

/** A form that is saved as a whole. Its bar appears with the first change and says what saving does. */
export function DraftForm({
  isDirty,
  isBusy,
  error,
  consequence,
  onSave,
  onDiscard,
  children,
}: {
  isDirty: boolean;
  isBusy: boolean;
  /** What was refused and is about no field. */
  error: Error | null;
  /** What will happen when it is saved. */
  consequence?: ReactNode;
  onSave: () => void;
  onDiscard: () => void;
  children: ReactNode;
}): ReactElement {
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (isDirty && !isBusy) onSave();
  };
  return (
    <form onSubmit={save} className="grid gap-5">
      {children}
      <div role="status" className="sticky bottom-0 z-10 empty:hidden">
        {isDirty && (
          <div className="mb-4 grid gap-3 rounded border border-edge bg-raised px-4 py-3 shadow-float">
            <FormError error={error} />
            <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
              <div className="min-w-0 grow basis-72">
                <p className="font-medium">Unsaved changes</p>
                {consequence !== undefined && <div className="text-sm text-soft">{consequence}</div>}
              </div>
              <div className="flex gap-2">
                <Button onClick={onDiscard} disabled={isBusy}>
                  Discard
                </Button>
                <Button type="submit" look="primary" isBusy={isBusy}>
                  Save changes
                </Button>
              </div>
            </div>
          </div>
        )}
      </div>
    </form>
  );
}

/** Values that are read and not changed, each under its name. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }): ReactElement {
  return (
    <dl className="grid gap-x-8 gap-y-3 sm:grid-cols-2">
      {of.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-sm text-soft">{name}</dt>
          <dd className="[overflow-wrap:anywhere]">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
