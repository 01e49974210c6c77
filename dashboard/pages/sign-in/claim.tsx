/** The first person: the one-time link that the first start printed makes its holder the owner. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactElement } from "react";
import { call } from "../../api/client.ts";
import { useCode, useEntrance } from "../../app/door.ts";
import { Door, DoorForm } from "../../parts/door.tsx";
import { buttonClass } from "../../parts/form/button.tsx";
import { FormError, Input } from "../../parts/form/field.tsx";
import { NewPassword } from "../../parts/form/new-password.tsx";

export default function ClaimPage(): ReactElement {
  const code = useCode();
  const { send, isPending, errors } = useEntrance("POST /api/claim", ["name", "email", "password"], "start");
  const installation = useQuery({
    queryKey: ["installation"],
    queryFn: async ({ signal }) =>
      (await call("GET", "/api/installation", { signal })) as { readonly claimed: boolean },
  });
  if (installation.data?.claimed) {
    return (
      <Door title="This installation has an owner">
        <p>The link was already used. Sign in, or ask an owner for an invitation.</p>
        <Link to="/sign-in" className={`${buttonClass("primary")} mt-6`}>
          Sign in
        </Link>
      </Door>
    );
  }
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
  return (
    <Door title="Create your account" about="You will be the owner. You can invite others afterwards.">
      <DoorForm
        action="Create account"
        isBusy={isPending}
        onSend={({ name = "", email = "", password = "" }) => send({ code, name, email, password })}
      >
        <FormError error={errors.rest} />
        <Input
          label="Your name"
          name="name"
          autoComplete="name"
          required
          autoFocus
          maxLength={200}
          error={errors.of("name")}
        />
        <Input
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
          required
          spellCheck={false}
          error={errors.of("email")}
        />
        <NewPassword error={errors.of("password")} />
      </DoorForm>
    </Door>
  );
}
