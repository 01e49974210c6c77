/** Project tokens and read keys: a form for a new one, the secret that is shown once, and a table with
 * buttons to revoke. */
import { type ReactElement, type ReactNode, useState } from "react";
import type { ApiFailure } from "../../api/client.ts";
import type { Asked } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";
import { FormError, Input } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { InlineForm } from "../../parts/form/inline-form.tsx";
import { ShownOnce } from "../../parts/form/shown-once.tsx";
import { type Column, PlainTable } from "../../parts/list/data-table.tsx";
import { Panel } from "../../parts/panel.tsx";
import { FigurePanel } from "../../parts/states.tsx";
import { RelativeTime } from "../../parts/time.tsx";

interface Credential {
  readonly id: number;
  readonly name: string;
  readonly lastFour: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

interface CredentialsProps<Answer, Row extends Credential> {
  readonly kind: "token" | "key";
  /** The name of all of them: Project tokens. */
  readonly label: string;
  readonly nameHelp: string;
  /** The effect of revoking one. */
  readonly consequence: string;
  readonly asked: Asked<Answer>;
  readonly rowsOf: (answer: Answer) => readonly Row[];
  readonly none: ReactElement;
  /** The columns that only this kind has. */
  readonly columns: readonly Column<Row>[];
  readonly creation: { readonly error: ApiFailure | null; readonly isPending: boolean };
  /** Creates one with a name. @param onSecret to be called with its secret */
  readonly onCreate: (name: string, onSecret: (secret: string) => void) => void;
  /** The field beside the name, and what the API calls it. */
  readonly field: string;
  readonly children: (error: string | undefined) => ReactNode;
}

/** The settings of one kind of credentials. */
export function Credentials<Answer, Row extends Credential>(
  props: CredentialsProps<Answer, Row>,
): ReactElement {
  const { kind, label, asked, rowsOf, creation, onCreate, field } = props;
  const [name, setName] = useState("");
  const [secret, setSecret] = useState<string>();
  const revocation = useConfirmedChange(
    kind === "token" ? "DELETE /api/tokens/:id" : "DELETE /api/read-keys/:id",
  );
  const errors = fieldErrors(creation.error, ["name", field]);
  const send = () =>
    onCreate(name, (made) => {
      setName("");
      setSecret(made);
    });
  const revoke = ({ id, name: called, lastFour }: Row) =>
    revocation.ask(
      {
        title: `Revoke the ${kind} ${called} …${lastFour}?`,
        text: `${props.consequence} This cannot be undone. You can create a new ${kind}.`,
        action: `Revoke ${kind}`,
        isDangerous: true,
      },
      { path: { id } },
      `The ${kind} ${called} is revoked.`,
    );
  return (
    <div className="grid gap-5">
      <Panel title={`New ${kind}`}>
        <InlineForm action={`Create ${kind}`} isBusy={creation.isPending} onSend={send}>
          <Input
            label="Name"
            help={props.nameHelp}
            value={name}
            onChange={({ target }) => setName(target.value)}
            required
            maxLength={200}
            error={errors.of("name")}
          />
          {props.children(errors.of(field))}
        </InlineForm>
        <FormError error={errors.rest} />
      </Panel>
      <FigurePanel
        title={kind === "token" ? "Tokens" : "Keys"}
        isFlush
        asked={asked}
        empty={(answer) => rowsOf(answer).length === 0 && props.none}
      >
        {(answer) => (
          <CredentialTable
            label={label}
            rows={rowsOf(answer)}
            more={props.columns}
            onRevoke={(row) => void revoke(row)}
          />
        )}
      </FigurePanel>
      <ShownOnce
        title={`Your new ${label.slice(0, -1).toLowerCase()}`}
        description="It is shown only once. Copy it now."
        secret={secret}
        onDone={() => setSecret(undefined)}
      />
    </div>
  );
}

/** Living ones first, the newest first. @param more columns after the name */
function CredentialTable<Row extends Credential>({
  label,
  rows,
  more,
  onRevoke,
}: {
  label: string;
  rows: readonly Row[];
  more: readonly Column<Row>[];
  onRevoke: (row: Row) => void;
}): ReactElement {
  const { timezone } = useOrganization();
  const columns: readonly Column<Row>[] = [
    {
      id: "name",
      header: "Name",
      cell: ({ name, revokedAt }) => (
        <span className={revokedAt === null ? "font-medium" : "text-soft line-through"}>{name}</span>
      ),
    },
    {
      id: "lastFour",
      header: "Ends with",
      cell: ({ lastFour }) => <code className="font-mono text-sm">…{lastFour}</code>,
    },
    ...more,
    {
      id: "createdAt",
      header: "Created",
      hint: `Days and times are those of ${timezone}`,
      cell: ({ createdAt }) => <RelativeTime instant={createdAt} />,
    },
    {
      id: "lastUsedAt",
      header: "Last used",
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : <RelativeTime instant={lastUsedAt} />),
    },
    {
      id: "revoke",
      header: "State",
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
  return <PlainTable label={label} rows={sorted} columns={columns} />;
}
