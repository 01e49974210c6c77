/** The organization's webhooks, with address and mapping. */
import { type FormEvent, type ReactElement, useState } from "react";
import type { WebhookPreset } from "../../../contract/source-settings.ts";
import { type Reads, useChange, useRead } from "../../api/query.ts";
import { serviceAddress } from "../../app/service-address.ts";
import { useMayAs } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Button } from "../../parts/form/button.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";
import { FormError, Input, TextArea } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { Empty, Figures } from "../../parts/states.tsx";
import { useTell } from "../../parts/toast.tsx";
import { PresetForm, Verification } from "./preset-form.tsx";
import { presetTexts } from "./presets.ts";
import { fieldsOf, mappingOf, problemsOf, type WebhookFields } from "./webhook-fields.ts";
import { WebhookName } from "./webhook-name.tsx";
import { SignatureInputs, signatureChange, signatureFieldsOf } from "./webhook-signature.tsx";
import { WebhookTrial } from "./webhook-trial.tsx";

type Webhook = Reads["/api/webhooks"]["answer"]["webhooks"][number];

interface WebhooksProps {
  /** Those of this preset are shown; null: those with a mapping. */
  readonly preset: WebhookPreset | null;
  /** Shown in addresses, or a placeholder until there is one. */
  readonly token: string;
}

export function Webhooks({ preset, token }: WebhooksProps): ReactElement {
  const asked = useRead("/api/webhooks");
  const mayChange = useMayAs("member");
  /** The webhook whose form is open. */
  const [open, setOpen] = useState<number | "new">();
  const close = () => setOpen(undefined);
  const shown = ({ webhooks }: { webhooks: readonly Webhook[] }) =>
    webhooks.filter((webhook) => webhook.preset === preset);
  return (
    <div className="grid gap-3">
      <Figures
        asked={asked}
        empty={(answer) =>
          shown(answer).length === 0 &&
          open === undefined && <Empty title="No webhook yet">{aboutNone(preset)}</Empty>
        }
      >
        {(answer) => (
          <ul className="grid gap-3">
            {shown(answer).map((webhook) => (
              <li key={webhook.id} className="grid gap-2 rounded border border-line p-3">
                <Head
                  webhook={webhook}
                  {...(mayChange && open !== webhook.id && { onChange: () => setOpen(webhook.id) })}
                />
                <Code
                  label={`The address of ${webhook.name}`}
                  text={`${serviceAddress()}/v1/webhooks/${webhook.name}/${token}`}
                />
                <Verification webhook={webhook} />
                {open === webhook.id && <Form preset={preset} webhook={webhook} onDone={close} />}
              </li>
            ))}
          </ul>
        )}
      </Figures>
      {open === "new" && <Form preset={preset} webhook={undefined} onDone={close} />}
      {mayChange && open === undefined && (
        <div>
          <Button isSmall icon="plus" onClick={() => setOpen("new")}>
            Add webhook
          </Button>
        </div>
      )}
    </div>
  );
}

function aboutNone(preset: WebhookPreset | null): string {
  return preset === null
    ? "A webhook reads the messages of one tool. Its mapping names the places of the values in the body."
    : `Add one here, and enter its address in ${presetTexts[preset].tool}.`;
}

interface FormProps {
  /** Undefined for a new one. */
  readonly webhook: Webhook | undefined;
  /** Called when it is saved, or not wanted any more. */
  readonly onDone: () => void;
}

function Form({ preset, ...props }: FormProps & Pick<WebhooksProps, "preset">): ReactElement {
  return preset === null ? <WebhookForm {...props} /> : <PresetForm preset={preset} {...props} />;
}

function Head({
  webhook: { id, name },
  onChange,
}: {
  webhook: Webhook;
  onChange?: () => void;
}): ReactElement {
  const removal = useConfirmedChange("DELETE /api/webhooks/:id");
  const remove = () =>
    removal.ask(
      {
        title: `Delete the webhook ${name}?`,
        text: "Requests to its address are rejected from now on. Stored events stay.",
        action: "Delete",
        isDangerous: true,
      },
      { path: { id } },
      `The webhook ${name} is deleted.`,
    );
  return (
    <div className="flex flex-wrap items-center justify-between gap-2">
      <h4 className="font-medium">{name}</h4>
      {onChange !== undefined && (
        <div className="flex gap-2">
          <Button isSmall onClick={onChange} aria-label={`Change the webhook ${name}`}>
            Change
          </Button>
          <Button isSmall onClick={() => void remove()} aria-label={`Delete the webhook ${name}`}>
            Delete
          </Button>
        </div>
      )}
    </div>
  );
}

type Line = readonly [name: Exclude<keyof WebhookFields, "isActivity">, label: string, help?: string];

const lines: readonly Line[] = [
  ["userId", "The user's id", "e.g. data.user.id, items[0].id, or $.user.id from the top of the body"],
  ["anonymousId", "Anonymous id", "The id of an unidentified visitor"],
  ["email", "The user's e-mail"],
  ["eventPath", "The event's name", "Its path in the body …"],
  ["eventText", "… or always", "A fixed name, if each body is the same event"],
  ["timestamp", "The time", "If empty, the time of arrival"],
  ["messageId", "The message's id", "Duplicates are stored once"],
  ["items", "The list of items", "If empty, the body is an item or a list of items"],
  ["accountId", "The account's id"],
  ["accountName", "The account's name"],
];

const tables = [
  ["traits", "The user's traits"],
  ["properties", "The event's properties"],
  ["accountProperties", "The account's attributes"],
] as const;

function WebhookForm({ webhook, onDone }: FormProps): ReactElement {
  const [name, setName] = useState(webhook?.name ?? "");
  const [fields, setFields] = useState(() => fieldsOf(webhook?.mapping ?? {}));
  const [signature, setSignature] = useState(() => signatureFieldsOf(webhook?.signature ?? null));
  const tell = useTell();
  const add = useChange("POST /api/webhooks");
  const change = useChange("PATCH /api/webhooks/:id");
  const set = (changed: Partial<WebhookFields>) => setFields({ ...fields, ...changed });
  const errors = fieldErrors(add.error ?? change.error, ["name", "secret"]);
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
    const { secret, ...others } = { secret: undefined, ...signatureChange(signature, webhook) };
    const body = { mapping, ...others };
    if (webhook === undefined)
      add.mutate({ body: { name, ...body, ...(secret && { secret }) } }, { onSuccess });
    else {
      const withSecret = { ...body, ...(secret !== undefined && { secret }) };
      change.mutate({ path: { id: webhook.id }, body: withSecret }, { onSuccess });
    }
  };
  return (
    <form onSubmit={save} className="grid gap-4">
      <div className="grid gap-x-4 gap-y-3 sm:grid-cols-2">
        <WebhookName name={name} isNew={webhook === undefined} error={errors.of("name")} onName={setName} />
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
        <SignatureInputs
          fields={signature}
          onFields={setSignature}
          hasSecret={(webhook?.secret ?? null) !== null}
          error={errors.of("secret")}
        />
        {tables.map(([field, label]) => (
          <TextArea
            key={field}
            label={label}
            help="A path, or one line each: plan = user.plan"
            value={fields[field]}
            onText={(text) => set({ [field]: text })}
            rows={4}
          />
        ))}
      </div>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={fields.isActivity}
          onChange={({ target }) => set({ isActivity: target.checked })}
        />
        Counts as activity of the user
      </label>
      <WebhookTrial reading={{ mapping: mappingOf(fields) }} />
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
