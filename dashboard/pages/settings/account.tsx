/** The account of the signed-in team member. */
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactElement, useState } from "react";
import { usePersonalChange } from "../../api/query.ts";
import { passwordCharacters } from "../../app/door.ts";
import { useLeft } from "../../app/leave.ts";
import { sessionQuery, useOrganization, useSession } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { useConfirm } from "../../parts/form/confirm.tsx";
import { FormError, Input, PasswordInput } from "../../parts/form/field.tsx";
import { DraftForm, tiedTo, useDraft } from "../../parts/form/form.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { useTell } from "../../parts/toast.tsx";
import { NewOrganization } from "./new-organization.tsx";
import { OwnDigest } from "./own-digest.tsx";

export default function AccountSettings(): ReactElement {
  return (
    <>
      <PageHeader title="Your account">One account for all organizations.</PageHeader>
      <div className="grid gap-5">
        <Person />
        <OwnDigest />
        <Organizations />
        <Sessions />
      </div>
    </>
  );
}

const fields = ["name", "email", "currentPassword", "newPassword"] as const;

function Person(): ReactElement {
  const { person } = useSession();
  const draft = useDraft({ name: person.name, email: person.email, newPassword: "" });
  const [currentPassword, setCurrentPassword] = useState("");
  const client = useQueryClient();
  const tell = useTell();
  const change = usePersonalChange("PATCH /api/person");
  const errors = fieldErrors(change.error, fields);
  const field = (name: "name" | "email" | "newPassword") => tiedTo(draft, name, errors.of(name));
  const { changes } = draft;
  const needsPassword = changes.email !== undefined || changes.newPassword !== undefined;
  const save = () =>
    change.mutate(
      { ...changes, ...(needsPassword && { currentPassword }) },
      {
        onSuccess: (answer) => {
          client.setQueryData(sessionQuery.queryKey, (before) => before && { ...before, person: answer });
          draft.accept(changes, { name: answer.name, email: answer.email, newPassword: "" });
          setCurrentPassword((typed) => (typed === currentPassword ? "" : typed));
          tell("Your account is saved.");
        },
      },
    );
  return (
    <DraftForm
      draft={draft}
      change={change}
      error={errors.rest}
      consequence={
        changes.newPassword === undefined
          ? "Applies to all of your organizations."
          : "You are signed out in all other browsers."
      }
      onSave={save}
      onDiscard={() => setCurrentPassword("")}
    >
      <Panel title="Profile">
        <div className="grid max-w-2xl gap-5 sm:grid-cols-2">
          <Input label="Name" autoComplete="name" {...field("name")} required maxLength={200} />
          <Input
            label="E-mail"
            type="email"
            autoComplete="username"
            spellCheck={false}
            {...field("email")}
            required
          />
          <PasswordInput
            label="New password"
            autoComplete="new-password"
            {...field("newPassword")}
            minLength={passwordCharacters.least}
            maxLength={passwordCharacters.most}
            help={`At least ${passwordCharacters.least} characters. Leave empty to keep the current one.`}
          />
          {needsPassword && (
            <PasswordInput
              label="Current password"
              autoComplete="current-password"
              value={currentPassword}
              onChange={({ target }) => setCurrentPassword(target.value)}
              required
              help="Required to change the e-mail or the password."
              error={errors.of("currentPassword")}
            />
          )}
        </div>
      </Panel>
    </DraftForm>
  );
}

function Organizations(): ReactElement {
  const { organizations } = useSession();
  const present = useOrganization();
  const mayFound = organizations.some(({ role }) => role === "owner");
  return (
    <Panel title="Your organizations" note="You can also switch at the top of the menu.">
      <ul className="mb-4">
        {organizations.map(({ id, name, role, timezone }) => (
          <li
            key={id}
            className="flex flex-wrap items-baseline justify-between gap-x-4 border-b border-line py-2 last:border-0"
          >
            {id === present.id ? (
              <b className="font-medium">{name}</b>
            ) : (
              <Link to="/o/$organization/overview" params={{ organization: String(id) }}>
                {name}
              </Link>
            )}
            <span className="text-sm text-soft">
              {role}, timezone {timezone.replaceAll("_", " ")}
            </span>
          </li>
        ))}
      </ul>
      {mayFound && <NewOrganization />}
    </Panel>
  );
}

function Sessions(): ReactElement {
  const confirm = useConfirm();
  const left = useLeft();
  const end = usePersonalChange("DELETE /api/sessions");
  const signOut = async () => {
    const isSure = await confirm({
      title: "Sign out everywhere?",
      text: "You have to sign in again in every browser, this one included.",
      action: "Sign out everywhere",
      isDangerous: true,
    });
    if (!isSure) return;
    end.mutate(undefined, { onSuccess: left });
  };
  return (
    <Panel title="Sessions" note="A session ends 30 days after its last use.">
      <div className="grid justify-items-start gap-3">
        <FormError error={end.error} />
        <Button icon="leave" isBusy={end.isPending} onClick={() => void signOut()}>
          Sign out everywhere
        </Button>
      </div>
    </Panel>
  );
}
