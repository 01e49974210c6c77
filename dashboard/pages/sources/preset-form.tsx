/** A webhook with a preset: the events to switch on in the tool, and the secret that verifies its
 * requests. */
import { type FormEvent, type ReactElement, useState } from "react";
import type { WebhookPreset } from "../../../contract/source-settings.ts";
import { type Reads, useChange } from "../../api/query.ts";
import { Button } from "../../parts/form/button.tsx";
import { useConfirm } from "../../parts/form/confirm.tsx";
import { FormError, PasswordInput } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { useTell } from "../../parts/toast.tsx";
import { presetTexts } from "./presets.ts";
import { TestModeSelect } from "./test-mode.tsx";
import { WebhookName } from "./webhook-name.tsx";
import { signedWith } from "./webhook-signature.tsx";
import { WebhookTrial } from "./webhook-trial.tsx";

type Webhook = Reads["/api/webhooks"]["answer"]["webhooks"][number];

/** Whether requests of a webhook are verified. */
export function Verification({ webhook }: { webhook: Webhook }): ReactElement {
  const { preset, secret, signature } = webhook;
  return (
    <p className="text-sm text-soft">
      {secret === null
        ? "Requests are not verified. Anyone who has this URL can post."
        : preset === null
          ? signedWith(signature, secret.lastFour)
          : presetTexts[preset].verified(secret.lastFour)}
    </p>
  );
}

/** @param webhook undefined for a new one @param onDone called when it is saved, or not wanted any more */
export function PresetForm({
  preset,
  webhook,
  onDone,
}: {
  preset: WebhookPreset;
  webhook: Webhook | undefined;
  onDone: () => void;
}): ReactElement {
  const texts = presetTexts[preset];
  const [name, setName] = useState(webhook?.name ?? preset);
  const [secret, setSecret] = useState("");
  const [testMode, setTestMode] = useState(webhook?.testMode ?? "ignore");
  const tell = useTell();
  const add = useChange("POST /api/webhooks");
  const change = useChange("PATCH /api/webhooks/:id");
  const errors = fieldErrors(add.error ?? change.error, ["name", "secret"]);
  const onSuccess = () => {
    tell(`The webhook ${name} is saved.`);
    onDone();
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    const typed = secret.trim();
    const body = {
      ...(typed !== "" && { secret: typed }),
      ...(testMode !== (webhook?.testMode ?? "ignore") && { testMode }),
    };
    if (webhook === undefined) {
      add.mutate({ body: { name, preset, ...body } }, { onSuccess });
    } else if (Object.keys(body).length > 0) {
      change.mutate({ path: { id: webhook.id }, body }, { onSuccess });
    } else onDone();
  };
  return (
    <form onSubmit={save} className="grid gap-4">
      <div className="grid gap-x-4 gap-y-3 sm:grid-cols-2">
        <WebhookName name={name} isNew={webhook === undefined} error={errors.of("name")} onName={setName} />
        <PasswordInput
          label={texts.secret}
          value={secret}
          onChange={({ target }) => setSecret(target.value)}
          autoComplete="off"
          maxLength={200}
          help={`${texts.secretHelp} Without it, requests are not verified.`}
          error={errors.of("secret")}
        />
        <TestModeSelect value={testMode} isBusy={false} onChoose={setTestMode} />
      </div>
      <WebhookTrial reading={{ preset }} />
      <FormError error={errors.rest} />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" isBusy={add.isPending || change.isPending}>
          Save
        </Button>
        {webhook !== undefined && webhook.secret !== null && (
          <RemoveSecret webhook={webhook} onDone={onDone} />
        )}
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}

/** The steps in the tool, and how its messages are read. */
export function PresetGuide({ preset }: { preset: WebhookPreset }): ReactElement {
  const { place, events, user, amounts } = presetTexts[preset];
  const lines = [
    ["Address", place],
    ["Events", events],
    ["User", user],
    ["Amounts", amounts],
  ] as const;
  return (
    <dl className="grid gap-x-4 gap-y-1.5 text-sm sm:grid-cols-[auto_minmax(0,1fr)]">
      {lines.map(([term, text]) => (
        <div key={term} className="contents">
          <dt className="font-medium">{term}</dt>
          <dd className="text-soft [overflow-wrap:anywhere]">{text}</dd>
        </div>
      ))}
    </dl>
  );
}

function RemoveSecret({ webhook, onDone }: { webhook: Webhook; onDone: () => void }): ReactElement {
  const confirm = useConfirm();
  const tell = useTell();
  const change = useChange("PATCH /api/webhooks/:id");
  const remove = async () => {
    const isSure = await confirm({
      title: "Remove the secret?",
      text: "Rekindle no longer verifies requests: anyone who has the address can post. To undo this you need the secret again.",
      action: "Remove the secret",
      isDangerous: true,
    });
    if (!isSure) return;
    const onSuccess = () => {
      tell("Saved. Requests are not verified.");
      onDone();
    };
    change.mutate({ path: { id: webhook.id }, body: { secret: null } }, { onSuccess });
  };
  return (
    <>
      <Button isBusy={change.isPending} onClick={() => void remove()}>
        Remove the secret
      </Button>
      <FormError error={change.error} />
    </>
  );
}
