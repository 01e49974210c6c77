/** How a webhook's bodies are read: a path for each thing, tried on a body before it is saved. */
import { type FormEvent, type ReactElement, useState } from "react";
import { useChange } from "../../api/query.ts";
import { Button } from "../../parts/form/button.tsx";
import { Field, FormError, Input } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { useTell } from "../../parts/toast.tsx";
import { fieldsOf, mappingOf, problemsOf, type WebhookFields } from "./webhook-fields.ts";
import { WebhookTrial } from "./webhook-trial.tsx";
import type { Webhook } from "./webhooks.tsx";

type Line = readonly [name: Exclude<keyof WebhookFields, "isActivity">, label: string, help?: string];

const lines: readonly Line[] = [
  ["userId", "The user's id", "data.user.id, items[0].id; $.user.id is of the whole body"],
  ["anonymousId", "An id from before", "Of a visitor whom the tool did not know yet"],
  ["email", "The user's e-mail"],
  ["eventPath", "The event's name", "Where it is in the body …"],
  ["eventText", "… or always", "A fixed name, where each body is the same event"],
  ["timestamp", "The time", "Without it the time of arrival"],
  ["messageId", "The message's id", "What comes twice is stored once"],
  ["items", "The list of items", "Empty: the body is the item, or a list of them"],
  ["accountId", "The account's id"],
  ["accountName", "The account's name"],
];

const tables = [
  ["traits", "The user's traits"],
  ["properties", "The event's properties"],
] as const;

/** @param webhook undefined for a new one @param onDone called when it is saved, or not wanted any more */
export function WebhookForm({
  webhook,
  onDone,
}: {
  webhook: Webhook | undefined;
  onDone: () => void;
}): ReactElement {
  const [name, setName] = useState(webhook?.name ?? "");
  const [fields, setFields] = useState(() => fieldsOf(webhook?.mapping ?? {}));
  const tell = useTell();
  const add = useChange("POST /api/webhooks");
  const change = useChange("PATCH /api/webhooks/:id");
  const set = (changed: Partial<WebhookFields>) => setFields({ ...fields, ...changed });
  const errors = fieldErrors(add.error ?? change.error, ["name"]);
  const [isRefused, setRefused] = useState(false);
  const problems = problemsOf(fields);
  const save = (event: FormEvent) => {
    event.preventDefault();
    const hasProblems = Object.keys(problems).length > 0;
    setRefused(hasProblems);
    if (hasProblems) return;
    const mapping = mappingOf(fields);
    const onSuccess = () => {
      tell(`The webhook ${name} is saved.`);
      onDone();
    };
    if (webhook === undefined) add.mutate({ body: { name, mapping } }, { onSuccess });
    else change.mutate({ path: { id: webhook.id }, body: { mapping } }, { onSuccess });
  };
  return (
    <form onSubmit={save} className="grid gap-4">
      <div className="grid gap-x-4 gap-y-3 sm:grid-cols-2">
        <Input
          label="Name"
          value={name}
          onChange={({ target }) => setName(target.value)}
          required
          disabled={webhook !== undefined}
          maxLength={40}
          spellCheck={false}
          help="In its address: small letters, digits, hyphens"
          error={errors.of("name")}
        />
        {lines.map(([field, label, help]) => (
          <Input
            key={field}
            label={label}
            value={fields[field]}
            onChange={({ target }) => set({ [field]: target.value })}
            spellCheck={false}
            maxLength={256}
            help={help}
            error={isRefused ? problems[field] : undefined}
          />
        ))}
        {tables.map(([field, label]) => (
          <Field key={field} label={label} help="A path, or a line for each: plan = user.plan">
            {(tied) => (
              <textarea
                {...tied}
                value={fields[field]}
                onChange={({ target }) => set({ [field]: target.value })}
                rows={4}
                spellCheck={false}
                className="w-full rounded border border-edge bg-raised px-2.5 py-1.5 font-mono text-sm"
              />
            )}
          </Field>
        ))}
      </div>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={fields.isActivity}
          onChange={({ target }) => set({ isActivity: target.checked })}
        />
        The user did it: it counts as activity
      </label>
      <WebhookTrial mapping={mappingOf(fields)} />
      <FormError error={errors.rest} />
      <div className="flex gap-2">
        <Button type="submit" look="primary" isBusy={add.isPending || change.isPending}>
          Save
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}
