/** Signing in with e-mail and password. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type ReactElement, useEffect, useRef } from "react";
import { usePersonalChange } from "../../api/query.ts";
import { useEntrance } from "../../app/door.ts";
import { sessionQuery } from "../../app/session.ts";
import { Door, DoorForm } from "../../parts/door.tsx";
import { Button } from "../../parts/form/button.tsx";
import { FormError, Input, PasswordInput } from "../../parts/form/field.tsx";

export default function SignInPage(): ReactElement {
  const { next } = useSearch({ strict: false });
  const { send, isPending, error } = useEntrance("POST /api/session", []);
  const { data: session } = useQuery(sessionQuery);
  const password = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (error !== null) password.current?.select();
  }, [error]);
  if (session?.organizations.length === 0) return <NowhereToGo email={session.person.email} />;
  return (
    <Door title="Sign in">
      <DoorForm
        action="Sign in"
        isBusy={isPending}
        onSend={({ email = "", password = "" }) => send({ email, password }, next)}
      >
        <FormError error={error} />
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
        Locked out? Your administrator can create a new link with{" "}
        <code className="font-mono">rekindle member reset-link</code>.
      </p>
    </Door>
  );
}

/** For an account without any organization. */
function NowhereToGo({ email }: { email: string }): ReactElement {
  const client = useQueryClient();
  const end = usePersonalChange("DELETE /api/session");
  const signOut = () =>
    end.mutate(undefined, { onSuccess: () => client.setQueryData(sessionQuery.queryKey, null) });
  return (
    <Door title="You are in no organization">
      <div className="grid justify-items-start gap-4">
        <p>
          You are signed in as {email}, but no longer a member of any organization. An owner can invite you.
        </p>
        <FormError error={end.error} />
        <Button isBusy={end.isPending} onClick={signOut}>
          Use another account
        </Button>
      </div>
    </Door>
  );
}
