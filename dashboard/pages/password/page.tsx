/** The page of a password link: a new password. */
import type { ReactElement } from "react";
import { usePersonalChange } from "../../api/query.ts";
import { useCode, useEnter } from "../../app/door.ts";
import { Door, DoorForm } from "../../parts/door.tsx";
import { FormError } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { NewPassword } from "../../parts/form/new-password.tsx";

export default function PasswordPage(): ReactElement {
  const code = useCode();
  const enter = useEnter();
  const reset = usePersonalChange("POST /api/password");
  const errors = fieldErrors(reset.error, ["password"]);
  if (code === "") {
    return (
      <Door title="Open the whole link">
        <p>A link for a new password has a code after a #. It works once, within 24 hours.</p>
      </Door>
    );
  }
  const send = ({ password = "" }: Readonly<Record<string, string>>) =>
    reset.mutate({ code, password }, { onSuccess: (session) => enter(session) });
  return (
    <Door title="A new password" about="You are signed out everywhere else.">
      <DoorForm action="Set the password" isBusy={reset.isPending} onSend={send}>
        <FormError error={errors.rest} />
        <NewPassword label="New password" error={errors.of("password")} />
      </DoorForm>
    </Door>
  );
}
