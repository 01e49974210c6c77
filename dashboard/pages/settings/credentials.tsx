/** Project tokens and read keys as a table, with their names and last uses, and buttons to revoke them. */
import type { ReactElement } from "react";
import { useOrganization } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { type Column, DataTable } from "../../parts/list/data-table.tsx";
import { RelativeTime } from "../../parts/time.tsx";

export interface Credential {
  readonly id: number;
  readonly name: string;
  readonly lastFour: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

/** Living ones first, the newest first. @param more columns after the name */
export function CredentialTable<Row extends Credential>({
  label,
  name,
  rows,
  more = [],
  onRevoke,
}: {
  label: string;
  name: string;
  rows: readonly Row[];
  more?: readonly Column<Row>[];
  onRevoke: (row: Row) => void;
}): ReactElement {
  const { timezone } = useOrganization();
  const columns: readonly Column<Row>[] = [
    {
      id: "name",
      header: "Name",
      isFixed: true,
      cell: ({ name: called, revokedAt }) => (
        <span className={revokedAt === null ? "font-medium" : "text-soft line-through"}>{called}</span>
      ),
    },
    {
      id: "lastFour",
      header: "Ends with",
      isFixed: true,
      cell: ({ lastFour }) => <code className="font-mono text-sm">…{lastFour}</code>,
    },
    ...more,
    {
      id: "createdAt",
      header: "Created",
      isFixed: true,
      hint: `Days and times are those of ${timezone}`,
      cell: ({ createdAt }) => <RelativeTime instant={createdAt} />,
    },
    {
      id: "lastUsedAt",
      header: "Last used",
      isFixed: true,
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : <RelativeTime instant={lastUsedAt} />),
    },
    {
      id: "revoke",
      header: "State",
      isFixed: true,
      cell: (row) =>
        row.revokedAt === null ? (
          <Button isSmall onClick={() => onRevoke(row)} aria-label={`Revoke ${row.name} …${row.lastFour}`}>
            Revoke
          </Button>
        ) : (
          <span className="text-soft">
            revoked <RelativeTime instant={row.revokedAt} />
          </span>
        ),
    },
  ];
  const sorted = rows.toSorted(
    (a, b) => Number(a.revokedAt !== null) - Number(b.revokedAt !== null) || b.id - a.id,
  );
  return (
    <DataTable
      isPlain
      label={label}
      name={name}
      rows={sorted}
      columns={columns}
      rowId={({ id }) => String(id)}
    />
  );
}
