/** The field for a password that is being chosen. */
import type { ReactElement } from "react";
import { passwordCharacters } from "../../app/door.ts";
import { PasswordInput } from "./field.tsx";

/** It is called `password` in its form. */
export function NewPassword({
  label = "Password",
  error,
}: {
  label?: string;
  error: string | undefined;
}): ReactElement {
  return (
    <PasswordInput
      label={label}
      name="password"
      autoComplete="new-password"
      required
      minLength={passwordCharacters.least}
      maxLength={passwordCharacters.most}
      error={error}
      help={`At least ${passwordCharacters.least} characters.`}
    />
  );
}
