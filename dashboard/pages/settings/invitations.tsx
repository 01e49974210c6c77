/** Inviting somebody by a link, and the invitations that are open. */
import { type ReactElement, useState } from "react";
import type { Role } from "../../../contract/roles.ts";
import type { Reads } from "../../api/paths.ts";
import { type Asked, useChange } from "../../api/query.ts";
import { Button } from "../../parts/form/button.tsx";
import { useConfirm } from "../../parts/form/confirm.tsx";
import { FormError, Input, Select } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { InlineForm } from "../../parts/form/inline-form.tsx";
import { ShownOnce } from "../../parts/form/shown-once.tsx";
import { type Column, DataTable } from "../../parts/list/data-table.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Empty, Figures } from "../../parts/states.tsx";
import { Ago, Instant } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { roleChoices } from "./members.tsx";

type Members = Reads["/api/members"]["answer"];
type Invitation = Members["invitations"][number];

export function Invitations({ asked }: { asked: Asked<Members> }): ReactElement {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [made, setMade] = useState<{ link: string; email: string }>();
  const invite = useChange("POST /api/invitations");
  const errors = fieldErrors(invite.error, ["email", "role"]);
  const send = () =>
    invite.mutate(
      { body: { email, role } },
      {
        onSuccess: ({ link }) => {
          setMade({ link, email });
          setEmail("");
        },
      },
    );
  return (
    <>
      <Panel
        title="Invite somebody"
        note="No mail is sent: you get a link, and send it by whatever way you have."
      >
        <InlineForm action="Make the link" isBusy={invite.isPending} onSend={send}>
          <Input
            label="E-mail"
            type="email"
            value={email}
            onChange={({ target }) => setEmail(target.value)}
            required
            autoComplete="off"
            spellCheck={false}
            error={errors.of("email")}
          />
          <Select
            label="Role"
            value={role}
            choices={roleChoices}
            onChoose={setRole}
            error={errors.of("role")}
          />
        </InlineForm>
        <FormError error={errors.rest} />
      </Panel>
      <Panel title="Open invitations" isFlush>
        <Figures
          of={asked}
          empty={{
            when: ({ invitations }) => invitations.length === 0,
            show: <Empty title="No invitation is open" />,
          }}
        >
          {({ invitations }) => <OpenInvitations invitations={invitations} />}
        </Figures>
      </Panel>
      <ShownOnce
        title={`The invitation of ${made?.email ?? ""}`}
        description="It is shown this once. Send the link to whom you invite: it works one time, within 7 days."
        secret={made?.link}
        onDone={() => setMade(undefined)}
      />
    </>
  );
}

function OpenInvitations({ invitations }: { invitations: readonly Invitation[] }): ReactElement {
  const confirm = useConfirm();
  const tell = useTell();
  const uninvite = useChange("DELETE /api/invitations/:id");
  const takeBack = async ({ id, email }: Invitation) => {
    const isSure = await confirm({
      title: `Take back the invitation of ${email}?`,
      text: "Its link stops working at once. You can make another.",
      action: "Take it back",
      isDangerous: true,
    });
    if (!isSure) return;
    uninvite.mutate(
      { path: { id } },
      { onSuccess: () => tell(`The invitation of ${email} is taken back.`), onError: tell.failed },
    );
  };
  const columns: readonly Column<Invitation>[] = [
    { id: "email", header: "E-mail", isFixed: true, cell: ({ email }) => email },
    { id: "role", header: "Role", isFixed: true, cell: ({ role }) => role },
    {
      id: "by",
      header: "Invited by",
      isFixed: true,
      cell: ({ invitedBy }) => invitedBy ?? "the command line",
    },
    { id: "at", header: "Invited", isFixed: true, cell: ({ createdAt }) => <Ago instant={createdAt} /> },
    {
      id: "until",
      header: "Works until",
      isFixed: true,
      cell: ({ expiresAt }) => <Instant instant={expiresAt} />,
    },
    {
      id: "action",
      header: "Link",
      isFixed: true,
      cell: (invitation) => (
        <Button
          isSmall
          aria-label={`Take back the invitation of ${invitation.email}`}
          onClick={() => void takeBack(invitation)}
        >
          Take back
        </Button>
      ),
    },
  ];
  return (
    <DataTable
      isPlain
      label="Invitations that can be accepted"
      name="invitations"
      rows={invitations}
      columns={columns}
      rowId={({ id }) => String(id)}
    />
  );
}
