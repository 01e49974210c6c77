/** The name of a webhook, which is a part of its address and stays. */
import type { ReactElement } from "react";
import { Input } from "../../parts/form/field.tsx";

export function WebhookName({
  name,
  isNew,
  error,
  onName,
}: {
  name: string;
  isNew: boolean;
  error: string | undefined;
  onName: (name: string) => void;
}): ReactElement {
  return (
    <Input
      label="Name"
      value={name}
      onChange={({ target }) => onName(target.value)}
      required
      disabled={!isNew}
      maxLength={40}
      spellCheck={false}
      help="Part of its address: lower-case letters, digits, hyphens"
      error={error}
    />
  );
}
