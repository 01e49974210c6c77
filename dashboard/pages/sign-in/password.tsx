/** The page of a password link: a new password. */
import type { ReactElement } from "react";
import { useCode, useEntrance } from "../../app/door.ts";
import { Door, DoorForm } from "../../parts/door.tsx";
import { FormError } from "../../parts/form/field.tsx";
import { NewPassword } from "../../parts/form/new-password.tsx";

export default function PasswordPage(): ReactElement {
  const code = useCode();
  const { send, isPending, errors } = useEntrance("POST /api/password", ["password"]);
  if (code === "") {
    return (
      <Door title="Open the whole link">
        <p>A link for a new password has a code after a #. It works once, within 24 hours.</p>
      </Door>
    );
  }
  return (
    <Door title="A new password" about="You are signed out everywhere else.">
      <DoorForm
        action="Set the password"
        isBusy={isPending}
        onSend={({ password = "" }) => send({ code, password })}
      >
        <FormError error={errors.rest} />
        <NewPassword label="New password" error={errors.of("password")} />
      </DoorForm>
    </Door>
  );
}
