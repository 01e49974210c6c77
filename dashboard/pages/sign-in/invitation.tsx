/** An invitation. A new person chooses a name and a password, and a person with an account enters its
 * password. The server does not reveal which of the two it is. */
import { useQuery } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { type ApiFailure, call } from "../../api/client.ts";
import type { PersonalChanges } from "../../api/paths.ts";
import { useCode, useEntrance } from "../../app/door.ts";
import { Door, DoorForm } from "../../parts/door.tsx";
import { Button } from "../../parts/form/button.tsx";
import { FormError, Input, PasswordInput } from "../../parts/form/field.tsx";
import { NewPassword } from "../../parts/form/new-password.tsx";
import { Problem } from "../../parts/states.tsx";

type Invitation = PersonalChanges["POST /api/invitations/lookup"]["answer"];

export default function InvitationPage(): ReactElement {
  const code = useCode();
  const invitation = useQuery<Invitation, ApiFailure>({
    queryKey: ["invitation", code],
    queryFn: async ({ signal }) =>
      (await call("POST", "/api/invitations/lookup", { body: { code }, signal })) as Invitation,
    enabled: code !== "",
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (code === "") {
    return (
      <Door title="Open the whole link">
        <p>
          An invitation is a link with a code after a #. Open it again from the message in which you got it.
        </p>
      </Door>
    );
  }
  if (invitation.data !== undefined) return <Accept code={code} invitation={invitation.data} />;
  return (
    <Door title="Invitation">
      {invitation.error === null ? (
        <p role="status">Looking for your invitation …</p>
      ) : (
        <Problem error={invitation.error} onRetry={() => void invitation.refetch()} />
      )}
    </Door>
  );
}

const roleTexts = {
  owner: "You will be an owner: you may do everything.",
  member: "You will be a member: you may read everything and change settings.",
  viewer: "You will be a viewer: you may read everything.",
} as const;

function Accept({ code, invitation }: { code: string; invitation: Invitation }): ReactElement {
  const { send, isPending, errors } = useEntrance("POST /api/invitations/accept", ["name", "password"]);
  const { organization, email, role } = invitation;
  const [hasAccount, setHasAccount] = useState(false);
  return (
    <Door title={`Join ${organization.name}`} about={roleTexts[role]}>
      <DoorForm
        action="Join"
        isBusy={isPending}
        onSend={({ name, password = "" }) => send({ code, password, ...(name !== undefined && { name }) })}
      >
        <FormError error={errors.rest} />
        <Input label="E-mail" type="email" autoComplete="username" value={email} readOnly />
        {!hasAccount && (
          <Input
            label="Your name"
            name="name"
            autoComplete="name"
            required
            maxLength={200}
            error={errors.of("name")}
          />
        )}
        {hasAccount ? (
          <PasswordInput
            label="Your password"
            name="password"
            autoComplete="current-password"
            required
            error={errors.of("password")}
            help="The password of your account with this e-mail."
          />
        ) : (
          <NewPassword error={errors.of("password")} />
        )}
        <Button onClick={() => setHasAccount(!hasAccount)}>
          {hasAccount ? "I have no account yet" : "I have an account already"}
        </Button>
      </DoorForm>
    </Door>
  );
}
