/** Members of the organization, their roles, and invitations. */
import { type ReactElement, useState } from "react";
import type { Role } from "../../../contract/roles.ts";
import { below } from "../../api/base.ts";
import { type Asked, type Reads, useChange, useRead } from "../../api/query.ts";
import { useInstallation, useMayAs, useOrganization, useSession } from "../../app/session.ts";
import { EmailLink } from "../../parts/email-link.tsx";
import { Button } from "../../parts/form/button.tsx";
import { useConfirm } from "../../parts/form/confirm.tsx";
import type { Question } from "../../parts/form/confirm-dialog.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";
import { FormError, Input, Select, SmallSelect } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { InlineForm } from "../../parts/form/inline-form.tsx";
import { ShownOnce } from "../../parts/form/shown-once.tsx";
import { useTyped } from "../../parts/form/typed.ts";
import { type Column, PlainTable } from "../../parts/list/data-table.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, FigurePanel } from "../../parts/states.tsx";
import { Instant, RelativeTime } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";

type Member = Reads["/api/members"]["answer"]["members"][number];

const ownRoleQuestion = (role: Role): Question => ({
  title: `Become a ${role}?`,
  text: "You will no longer be an owner. Only another owner can restore your role.",
  action: `Become a ${role}`,
  isDangerous: true,
});

const ownerQuestion = (name: string): Question => ({
  title: `Make ${name} an owner?`,
  text: "Owners can change everything and remove all members, you included.",
  action: `Make ${name} an owner`,
});

/** Roles as they are offered. */
const roleChoices = [
  { value: "viewer", label: "Viewer: reads" },
  { value: "member", label: "Member: reads and manages" },
  { value: "owner", label: "Owner: everything" },
] as const satisfies readonly { readonly value: Role; readonly label: string }[];

export default function MemberSettings(): ReactElement {
  const asked = useRead("/api/members");
  const mayManage = useMayAs("owner");
  const { name } = useOrganization();
  return (
    <>
      <PageHeader title="Members">
        Viewers read. Members also manage settings, exclusions and project tokens. Owners do everything.
      </PageHeader>
      <div className="grid gap-5">
        <FigurePanel title={`Members of ${name}`} isFlush asked={asked}>
          {({ members }) => <Table members={members} mayManage={mayManage} />}
        </FigurePanel>
        {mayManage && <Invitations asked={asked} />}
      </div>
    </>
  );
}

function Table({ members, mayManage }: { members: readonly Member[]; mayManage: boolean }): ReactElement {
  const { person } = useSession();
  const { changeRole, remove } = useMemberChanges();
  const leave = useLeave();
  const owners = members.filter(({ role }) => role === "owner").length;
  const isLastOwner = ({ role }: Member) => role === "owner" && owners === 1;
  const actionOf = (member: Member) => {
    if (isLastOwner(member)) return <span className="text-soft">the only owner</span>;
    if (member.id === person.id) {
      return (
        <Button isSmall onClick={() => void leave()}>
          Leave
        </Button>
      );
    }
    if (!mayManage) return null;
    return (
      <Button isSmall aria-label={`Remove ${member.name}`} onClick={() => void remove(member)}>
        Remove
      </Button>
    );
  };
  const columns: readonly Column<Member>[] = [
    {
      id: "name",
      header: "Name",
      cell: ({ id, name }) => (
        <span title={name} className="block max-w-28 truncate sm:max-w-44">
          <span className="font-medium">{name}</span>
          {id === person.id && <span className="text-soft"> (you)</span>}
        </span>
      ),
    },
    {
      id: "role",
      header: "Role",
      cell: (member) =>
        mayManage && !isLastOwner(member) ? (
          <RoleOf member={member} onChange={(role) => void changeRole(member, role)} />
        ) : (
          member.role
        ),
    },
    {
      id: "email",
      header: "E-mail",
      cell: ({ email }) => (
        <span title={email} className="block max-w-44 truncate">
          <EmailLink email={email} />
        </span>
      ),
    },
    { id: "joined", header: "Joined", cell: ({ joinedAt }) => <RelativeTime instant={joinedAt} /> },
    {
      id: "seen",
      header: "Last seen",
      hint: "Accurate to the hour",
      cell: ({ id, lastSeenAt }) => {
        // It is stored once an hour, and who reads this is here.
        if (id === person.id) return "now";
        return lastSeenAt === null ? "never" : <RelativeTime instant={lastSeenAt} />;
      },
    },
    { id: "action", header: "Membership", cell: actionOf },
  ];
  return <PlainTable label="Members" rows={members} columns={columns} />;
}

/** A member's role. A button applies it, because arrow keys alone change the choice of a native list. */
function RoleOf({ member, onChange }: { member: Member; onChange: (role: Role) => void }): ReactElement {
  const [chosen, setChosen] = useTyped(member.role);
  return (
    <span className="flex w-max items-center gap-2">
      <SmallSelect
        label={`Role of ${member.name}`}
        className="min-w-44"
        value={chosen}
        choices={roleChoices}
        onChoose={setChosen}
      />
      {chosen !== member.role && (
        <Button
          isSmall
          look="primary"
          aria-label={`Change the role of ${member.name}`}
          onClick={() => onChange(chosen)}
        >
          Change
        </Button>
      )}
    </span>
  );
}

function useMemberChanges() {
  const { person } = useSession();
  const { name: organization } = useOrganization();
  const confirm = useConfirm();
  const tell = useTell();
  const change = useChange("PATCH /api/members/:id");
  const removal = useConfirmedChange("DELETE /api/members/:id");
  // Asked before the question, not beside it: without the keys it would not offer to keep them.
  const keysAsked = useRead("/api/read-keys", { enabled: false });
  const changeRole = async ({ id, name }: Member, role: Role) => {
    const question = id === person.id ? ownRoleQuestion(role) : role === "owner" && ownerQuestion(name);
    if (question !== false && !(await confirm(question))) return;
    change.mutate(
      { path: { id }, body: { role } },
      {
        // The pages depend on the own role: reload them.
        onSuccess: () => (id === person.id ? location.reload() : tell(`${name} is now ${role}.`)),
        onError: tell.failed,
      },
    );
  };
  const remove = async ({ id, name }: Member) => {
    if (keysAsked.isFetching) return;
    const { data, error } = await keysAsked.refetch();
    if (error !== null) return tell.failed(error);
    const keys = (data?.readKeys ?? []).filter(
      ({ madeBy, revokedAt }) => madeBy?.id === id && revokedAt === null,
    );
    const those = `the ${keys.length === 1 ? "read key" : `${keys.length} read keys`} that ${name} made`;
    // Read after the answer: the option changes it until then.
    const query = { readKeys: "revoke" as "revoke" | "keep" };
    return removal.ask(
      {
        title: `Remove ${name}?`,
        text:
          `${name} loses access to ${organization} now. A new invitation restores it. Their changes stay.` +
          (keys.length === 0 ? "" : ` Programs that use ${those} are rejected from then on.`),
        action: `Remove ${name}`,
        isDangerous: true,
        ...(keys.length > 0 && {
          option: {
            label: `Keep ${those} as mine`,
            onChange: (isTicked) => {
              query.readKeys = isTicked ? "keep" : "revoke";
            },
          },
        }),
      },
      { path: { id }, query },
      `${name} is removed.`,
    );
  };
  return { changeRole, remove };
}

type Members = Reads["/api/members"]["answer"];
type Invitation = Members["invitations"][number];

function Invitations({ asked }: { asked: Asked<Members> }): ReactElement {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [made, setMade] = useState<{ link: string; email: string; notMailedBecause: string | null }>();
  const sendsEmail = useInstallation(true)?.sendsEmail ?? false;
  const invite = useChange("POST /api/invitations");
  const errors = fieldErrors(invite.error, ["email", "role"]);
  const send = () =>
    invite.mutate(
      { body: { email, role } },
      {
        onSuccess: ({ link, notMailedBecause }) => {
          setMade({ link, email, notMailedBecause });
          setEmail("");
        },
      },
    );
  return (
    <>
      <Panel
        title="Invite a member"
        note={
          sendsEmail
            ? "The link is sent by e-mail, and shown to you once."
            : "No e-mail is sent. Copy the link and send it yourself."
        }
      >
        <InlineForm action="Create invite link" isBusy={invite.isPending} onSend={send}>
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
      <FigurePanel
        title="Open invitations"
        isFlush
        asked={asked}
        empty={({ invitations }) => invitations.length === 0 && <Empty title="No open invitations" />}
      >
        {({ invitations }) => <OpenInvitations invitations={invitations} />}
      </FigurePanel>
      <ShownOnce
        title={`Invitation for ${made?.email ?? ""}`}
        description={`It is shown only once. ${howSent(made?.notMailedBecause, sendsEmail)} It works one time, within 7 days.`}
        secret={made?.link}
        onDone={() => setMade(undefined)}
      />
    </>
  );
}

/** @param failure why no e-mail was sent; null when one was */
function howSent(failure: string | null | undefined, sendsEmail: boolean): string {
  if (failure === null) return "It was also sent by e-mail.";
  return sendsEmail
    ? `Send this link yourself, because the e-mail failed: ${failure}`
    : "Send this link yourself.";
}

function OpenInvitations({ invitations }: { invitations: readonly Invitation[] }): ReactElement {
  const revocation = useConfirmedChange("DELETE /api/invitations/:id");
  const revoke = ({ id, email }: Invitation) =>
    revocation.ask(
      {
        title: `Revoke the invitation for ${email}?`,
        text: "Its link stops working at once. You can create another.",
        action: "Revoke invitation",
        isDangerous: true,
      },
      { path: { id } },
      `Invitation for ${email} revoked.`,
    );
  const columns: readonly Column<Invitation>[] = [
    { id: "email", header: "E-mail", cell: ({ email }) => email },
    { id: "role", header: "Role", cell: ({ role }) => role },
    { id: "by", header: "Invited by", cell: ({ invitedBy }) => invitedBy ?? "the command line" },
    { id: "at", header: "Invited", cell: ({ createdAt }) => <RelativeTime instant={createdAt} /> },
    { id: "until", header: "Expires", cell: ({ expiresAt }) => <Instant instant={expiresAt} /> },
    {
      id: "action",
      header: "Link",
      cell: (invitation) => (
        <Button
          isSmall
          aria-label={`Revoke the invitation for ${invitation.email}`}
          onClick={() => void revoke(invitation)}
        >
          Revoke
        </Button>
      ),
    },
  ];
  return <PlainTable label="Open invitations" rows={invitations} columns={columns} />;
}

/** Asks, and leaves the present organization for another, or for the door. */
function useLeave(): () => Promise<void> {
  const { person } = useSession();
  const { name } = useOrganization();
  const removal = useConfirmedChange("DELETE /api/members/:id");
  return () =>
    removal.ask(
      {
        title: `Leave ${name}?`,
        text: `You lose access to ${name} now. A new invitation restores it.`,
        action: `Leave ${name}`,
        isDangerous: true,
      },
      { path: { id: person.id } },
      // Everything that is kept here was of a member: the pages begin anew.
      () => location.assign(below("/")),
    );
}
