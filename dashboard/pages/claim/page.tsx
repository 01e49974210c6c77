/** The first person: the one-time link that the first start printed makes its holder the owner. */
import type { ReactElement } from "react";
import { usePersonalChange } from "../../api/query.ts";
import { useCode, useEnter } from "../../app/door.ts";
import { Door, DoorForm } from "../../parts/door.tsx";
import { FormError, Input } from "../../parts/field.tsx";
import { NewPassword } from "../../parts/new-password.tsx";

export function ClaimPage(): ReactElement {
  const code = useCode();
  const enter = useEnter();
  const claim = usePersonalChange("POST /api/claim");
  if (code === "") {
    return (
      <Door title="This installation is new">
        <p>
          Its first start printed a link that makes you the owner. Open that link: it is in the terminal, or
          in the log, of the machine on which Rekindle runs.
        </p>
      </Door>
    );
  }
  const send = ({ name = "", email = "", password = "" }: Readonly<Record<string, string>>) =>
    claim.mutate({ code, name, email, password }, { onSuccess: (session) => enter(session) });
  return (
    <Door title="Make it yours" about="You will be the owner. You can invite others afterwards.">
      <DoorForm action="Begin" isBusy={claim.isPending} onSend={send}>
        <FormError error={claim.error} />
        <Input label="Your name" name="name" autoComplete="name" required autoFocus maxLength={200} />
        <Input label="E-mail" name="email" type="email" autoComplete="username" required spellCheck={false} />
        <NewPassword />
      </DoorForm>
    </Door>
  );
}
