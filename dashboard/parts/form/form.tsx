/** Forms that keep their input on errors and on new answers, and ask before the page is left. */
import { type FormEvent, type ReactElement, type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import type { Question } from "./confirm-dialog.tsx";
import { FormError } from "./field.tsx";
import { isSame, mergedChange } from "./merged-change.ts";
import { useUnsaved } from "./unsaved.ts";

/** Values that are saved, and changes that are not. */
export interface Draft<Values extends object> {
  /** The values in the fields. */
  readonly values: Values;
  /** The saved values from which the changes began. They stay until the changes are saved or discarded. */
  readonly base: Values;
  /** The values that differ from the base. */
  readonly changes: Partial<Values>;
  readonly isDirty: boolean;
  readonly set: (change: Partial<Values>) => void;
  /** Begins again with the values that are saved. */
  readonly discard: () => void;
  /** To be called when `sent` is saved. A field that was changed again meanwhile keeps its newer value.
   * @param base the values that are saved now */
  readonly accept: (sent: Partial<Values>, base: Values) => void;
  /** Puts the changes onto newer values that were saved in between: see `mergedChange`. */
  readonly rebase: (base: Values) => void;
}

/** Ties a field to a text of a draft, and to the error about it. */
export function tiedTo<Name extends string, Values extends Readonly<Record<Name, string>>>(
  { values, set }: Pick<Draft<Values>, "values" | "set">,
  name: Name,
  error: string | undefined,
) {
  return {
    value: values[name],
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      set({ [name]: target.value } as Partial<Values>),
    error,
  };
}

interface Held<Values> {
  readonly base: Values;
  readonly typed: Partial<Values>;
}

/** Keeps changes over the values that are saved. A new answer of the server changes no field while there are
 * changes. The page cannot be left with unsaved changes without a question. */
export function useDraft<Values extends object>(saved: Values): Draft<Values> {
  const [held, setHeld] = useState<Held<Values>>();
  const isHeld = (one: Held<Values> | undefined): one is Held<Values> =>
    one !== undefined && Object.keys(changesOf(one)).length > 0;
  const { base, typed } = isHeld(held) ? held : { base: saved, typed: {} };
  const changes = changesOf<Values>({ base, typed });
  const isDirty = Object.keys(changes).length > 0;
  useUnsaved(isDirty, leaving);
  return {
    values: { ...base, ...typed },
    base,
    changes,
    isDirty,
    set: (change) =>
      setHeld((before) => {
        const from: Held<Values> = isHeld(before) ? before : { base: saved, typed: {} };
        return { base: from.base, typed: { ...from.typed, ...change } };
      }),
    discard: () => setHeld(undefined),
    accept: (sent, after) =>
      setHeld((before) => before && { base: after, typed: without(before.typed, sent) }),
    rebase: (after) => setHeld((before) => before && { base: after, typed: onto(after, before) }),
  };
}

function changesOf<Values extends object>({ base, typed }: Held<Values>): Partial<Values> {
  const changed = entriesOf(typed).filter(([name, value]) => !isSame(value, base[name]));
  return Object.fromEntries(changed) as Partial<Values>;
}

function without<Values extends object>(typed: Partial<Values>, sent: Partial<Values>): Partial<Values> {
  const left = entriesOf(typed).filter(([name, value]) => !(name in sent) || !isSame(value, sent[name]));
  return Object.fromEntries(left) as Partial<Values>;
}

function onto<Values extends object>(after: Values, { base, typed }: Held<Values>): Partial<Values> {
  const merged = entriesOf(typed).map(([name, value]) => [
    name,
    mergedChange(base[name], value, after[name]),
  ]);
  return Object.fromEntries(merged) as Partial<Values>;
}

const entriesOf = <Values extends object>(values: Partial<Values>) =>
  Object.entries(values) as [keyof Values & string, Values[keyof Values]][];

const leaving: Question = {
  title: "Leave without saving?",
  text: "What you changed on this page is not saved yet, and would be lost.",
  action: "Leave without saving",
  isDangerous: true,
};

/** A form that is saved as a whole. Its bar appears with the first change and says what saving does. */
export function DraftForm({
  draft: { isDirty, discard },
  change,
  error,
  conflict,
  consequence,
  onSave,
  onDiscard,
  children,
}: {
  draft: { readonly isDirty: boolean; readonly discard: () => void };
  /** The request that saves the changes. */
  change: { readonly isPending: boolean; readonly reset: () => void };
  /** An error that belongs to no field. */
  error: Error | null;
  /** Shown in place of the error when other values were saved in between. */
  conflict?: ReactNode;
  /** The effect of saving. */
  consequence?: ReactNode;
  onSave: () => void;
  /** Called when the changes are discarded. */
  onDiscard?: () => void;
  children: ReactNode;
}): ReactElement {
  const isBusy = change.isPending;
  const dropChanges = () => {
    discard();
    change.reset();
    onDiscard?.();
  };
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
            {conflict ?? <FormError error={error} />}
            <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
              <div className="min-w-0 grow basis-72">
                <p className="font-medium">Unsaved changes</p>
                {consequence !== undefined && <div className="text-sm text-soft">{consequence}</div>}
              </div>
              <div className="flex gap-2">
                <Button onClick={dropChanges} disabled={isBusy}>
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
export function SavedValues({
  values,
}: {
  values: readonly (readonly [name: string, value: ReactNode])[];
}): ReactElement {
  return (
    <dl className="grid gap-x-8 gap-y-3 sm:grid-cols-2">
      {values.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-sm text-soft">{name}</dt>
          <dd className="[overflow-wrap:anywhere]">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
