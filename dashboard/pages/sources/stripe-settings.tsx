/** Stripe's signing secrets, which are never shown again, and the handling of unmatched customers. */
import { type ReactElement, useState } from "react";
import { type Reads, useChange, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { useConfirm } from "../../parts/form/confirm.tsx";
import { FormError, PasswordInput, Select } from "../../parts/form/field.tsx";
import { InlineForm } from "../../parts/form/inline-form.tsx";
import { Figures } from "../../parts/states.tsx";
import { useTell } from "../../parts/toast.tsx";
import { TestModeSelect } from "./test-mode.tsx";

type Settings = Reads["/api/stripe"]["answer"];

const choices = [
  { value: "wait", label: "Hold events until a user matches" },
  { value: "create", label: "Create a user with the customer's id" },
] as const;

export function StripeSettings(): ReactElement {
  const asked = useRead("/api/stripe");
  return <Figures asked={asked}>{(settings) => <Form settings={settings} />}</Figures>;
}

function Form({ settings }: { settings: Settings }): ReactElement {
  const mayChange = useMayAs("member");
  const [secret, setSecret] = useState("");
  const [chosen, setChosen] = useState(settings.unknownCustomers);
  const confirm = useConfirm();
  const tell = useTell();
  const change = useChange("PATCH /api/stripe");
  const { signingSecrets, unknownCustomers, testMode } = settings;
  const shown = signingSecrets.map(({ lastFour }) => `whsec_…${lastFour}`).join(" and ");
  const replace = (secrets: string[]) =>
    change.mutate(
      { body: { signingSecrets: secrets } },
      {
        onSuccess: () => {
          setSecret("");
          tell(
            secrets.length > 0
              ? "Saved. Only signed requests are accepted."
              : "Saved. Signatures are not verified.",
          );
        },
      },
    );
  const remove = async () => {
    const isSure = await confirm({
      title: "Remove the signing secret?",
      text: "Rekindle no longer verifies signatures: anyone who has the address can post. To undo this you need the secret from Stripe.",
      action: "Remove the signing secret",
      isDangerous: true,
    });
    if (isSure) replace([]);
  };
  return (
    <div className="grid gap-3">
      <p>
        {signingSecrets.length === 0
          ? "Signatures are not verified. Anyone who has this URL can post."
          : `Only requests signed with ${shown} are accepted.`}
      </p>
      {mayChange && (
        <>
          <InlineForm action="Save" isBusy={change.isPending} onSend={() => replace([secret.trim()])}>
            <PasswordInput
              label="Signing secret"
              value={secret}
              onChange={({ target }) => setSecret(target.value)}
              required
              autoComplete="off"
              help="From the endpoint in Stripe. It replaces the current one."
            />
          </InlineForm>
          {signingSecrets.length > 0 && (
            <div>
              <Button isSmall onClick={() => void remove()}>
                Remove the signing secret
              </Button>
            </div>
          )}
          <Select label="Unmatched Stripe customers" value={chosen} choices={choices} onChoose={setChosen} />
          <TestModeSelect
            value={testMode}
            isBusy={change.isPending}
            onChoose={(chosen) =>
              change.mutate({ body: { testMode: chosen } }, { onSuccess: () => tell("Saved.") })
            }
          />
          {chosen !== unknownCustomers && (
            <div>
              <Button
                isSmall
                look="primary"
                isBusy={change.isPending}
                onClick={() =>
                  change.mutate({ body: { unknownCustomers: chosen } }, { onSuccess: () => tell("Saved.") })
                }
              >
                Save choice
              </Button>
            </div>
          )}
        </>
      )}
      <FormError error={change.error} />
    </div>
  );
}
