/** Who may come in, and as what. */
import type { ReactElement } from "react";
import type { Role } from "../../../contract/roles.ts";
import type { Reads } from "../../api/paths.ts";
import { useChange, useRead } from "../../api/query.ts";
import { useMayAs, useOrganization, useSession } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { useConfirm } from "../../parts/confirm.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Select } from "../../parts/field.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures } from "../../parts/states.tsx";
import { Ago } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { Invitations } from "./invitations.tsx";
import { useLeave } from "./leave.ts";

type Member = Reads["/api/members"]["answer"]["members"][number];

/** Roles as they are offered. */
export const roleChoices = [
  { value: "viewer", label: "Viewer: reads" },
  { value: "member", label: "Member: reads and manages" },
  { value: "owner", label: "Owner: everything" },
] as const satisfies readonly { readonly value: Role; readonly label: string }[];

export function MemberSettings(): ReactElement {
  const asked = useRead("/api/members");
  const mayManage = useMayAs("owner");
  const { name } = useOrganization();
  return (
    <>
      <PageHeader title="Members">
        Viewers read. Members also manage settings, exclusions and project tokens. Owners do everything.
      </PageHeader>
      <div className="grid gap-5">
        <Panel title={`Members of ${name}`} isFlush>
          <Figures of={asked}>{({ members }) => <Table members={members} mayManage={mayManage} />}</Figures>
        </Panel>
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
      isFixed: true,
      cell: ({ id, name }) => (
        <>
          <span className="font-medium">{name}</span>
          {id === person.id && <span className="text-soft"> (you)</span>}
        </>
      ),
    },
    { id: "email", header: "E-mail", isFixed: true, cell: ({ email }) => email },
    {
      id: "role",
      header: "Role",
      isFixed: true,
      cell: (member) =>
        mayManage && !isLastOwner(member) ? (
          <Select
            label={`Role of ${member.name}`}
            isLabelHidden
            isSmall
            value={member.role}
            choices={roleChoices}
            onChoose={(role) => void changeRole(member, role)}
          />
        ) : (
          member.role
        ),
    },
    { id: "joined", header: "Joined", isFixed: true, cell: ({ joinedAt }) => <Ago instant={joinedAt} /> },
    {
      id: "seen",
      header: "Last here",
      hint: "To the hour",
      isFixed: true,
      cell: ({ lastSeenAt }) => (lastSeenAt === null ? "never" : <Ago instant={lastSeenAt} />),
    },
    { id: "action", header: "Membership", isFixed: true, cell: actionOf },
  ];
  return (
    <DataTable
      isPlain
      label="Members"
      name="members"
      rows={members}
      columns={columns}
      rowId={({ id }) => String(id)}
    />
  );
}

function useMemberChanges() {
  const { person } = useSession();
  const { name: organization } = useOrganization();
  const confirm = useConfirm();
  const tell = useTell();
  const change = useChange("PATCH /api/members/:id");
  const removal = useChange("DELETE /api/members/:id");
  const changeRole = async ({ id, name }: Member, role: Role) => {
    const isSure =
      id !== person.id ||
      (await confirm({
        title: `Become a ${role}?`,
        text: "You will not be an owner any more, and only another owner can make you one again.",
        action: `Become a ${role}`,
        isDangerous: true,
      }));
    if (!isSure) return;
    change.mutate(
      { path: { id }, body: { role } },
      {
        // One's own role decides what these pages offer: they begin anew with it.
        onSuccess: () => (id === person.id ? location.reload() : tell(`${name} is now ${role}.`)),
        onError: tell.failed,
      },
    );
  };
  const remove = async ({ id, name }: Member) => {
    const isSure = await confirm({
      title: `Remove ${name}?`,
      text: `${name} is out of ${organization} at once, and comes back only by a new invitation. What they changed stays.`,
      action: `Remove ${name}`,
      isDangerous: true,
    });
    if (!isSure) return;
    removal.mutate({ path: { id } }, { onSuccess: () => tell(`${name} is removed.`), onError: tell.failed });
  };
  return { changeRole, remove };
}
