/** Signing in with e-mail and password. */
import { useSearch } from "@tanstack/react-router";
import { type ReactElement, useEffect, useRef } from "react";
import { usePersonalChange } from "../../api/query.ts";
import { useEnter } from "../../app/door.ts";
import { Door, DoorForm } from "../../parts/door.tsx";
import { FormError, Input, PasswordInput } from "../../parts/field.tsx";

export function SignInPage(): ReactElement {
  const { next } = useSearch({ strict: false });
  const enter = useEnter();
  const signIn = usePersonalChange("POST /api/session");
  const password = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (signIn.error !== null) password.current?.select();
  }, [signIn.error]);
  const send = ({ email = "", password = "" }: Readonly<Record<string, string>>) =>
    signIn.mutate({ email, password }, { onSuccess: (session) => enter(session, next) });
  return (
    <Door title="Sign in">
      <DoorForm action="Sign in" isBusy={signIn.isPending} onSend={send}>
        <FormError error={signIn.error} />
        <Input
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          spellCheck={false}
        />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          ref={password}
        />
      </DoorForm>
      <p className="mt-6 text-sm text-soft">
        Locked out? Whoever runs the server makes a new link with{" "}
        <code className="font-mono">rekindle member reset-link</code>.
      </p>
    </Door>
  );
}
