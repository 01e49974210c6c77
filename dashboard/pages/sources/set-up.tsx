/** How a source is connected, with the organization's own address and a token, and what its words become here. */
import { Link } from "@tanstack/react-router";
import type { ReactElement } from "react";
import type { SenderName } from "../../../contract/sources.ts";
import { useChange } from "../../api/query.ts";
import { useMayAs, useOrganization } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Code } from "../../parts/copy.tsx";
import { FormError } from "../../parts/field.tsx";
import { sourceName } from "../../text/source-names.ts";
import { clients, meanings } from "./clients.ts";
import { StripeSettings } from "./stripe-settings.tsx";
import { Webhooks } from "./webhooks.tsx";

/** Stands in the code until there is a token to show. */
const tokenToCome = "YOUR_TOKEN";

interface SetUpProps {
  readonly source: SenderName;
  readonly token: string | undefined;
  readonly onToken: (token: string) => void;
}

export function SetUp({ source, token, onToken }: SetUpProps): ReactElement {
  return (
    <div className="grid items-start gap-x-8 gap-y-5 xl:grid-cols-2">
      <div className="grid min-w-0 gap-4">
        {source === "api" ? (
          <ToStart />
        ) : (
          <>
            {clients[source].map(({ label, note, code }) => (
              <div key={label} className="grid gap-1.5">
                <h4 className="text-sm font-medium">{label}</h4>
                <Code label={label} text={code(location.origin, token ?? tokenToCome)} />
                {note !== undefined && <p className="text-sm text-soft">{note}</p>}
              </div>
            ))}
            <Token source={source} token={token} onToken={onToken} />
            {source === "stripe" && <StripeSettings />}
            {source === "webhook" && <Webhooks token={token ?? tokenToCome} />}
          </>
        )}
      </div>
      <table className="w-full text-sm">
        <caption className="pb-1.5 text-left font-medium">What it becomes</caption>
        <thead className="sr-only">
          <tr>
            <th scope="col">{sourceName(source)}</th>
            <th scope="col">Here</th>
          </tr>
        </thead>
        <tbody>
          {meanings[source].map(([theirs, ours]) => (
            <tr key={theirs} className="border-t border-line align-top">
              <th
                scope="row"
                className="w-2/5 py-1.5 pr-4 text-left font-mono font-normal [overflow-wrap:anywhere]"
              >
                {theirs}
              </th>
              <td className="py-1.5 text-soft">{ours}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ToStart(): ReactElement {
  const organization = String(useOrganization().id);
  return (
    <p>
      Two calls are all it takes: the page{" "}
      <Link to="/o/$organization/start" params={{ organization }} className="underline">
        Start
      </Link>{" "}
      has them ready to be run, and the <a href="/reference">reference</a> every field, limit and error.
    </p>
  );
}

function Token({ source, token, onToken }: SetUpProps): ReactElement {
  const mayCreate = useMayAs("member");
  const create = useChange("POST /api/tokens");
  if (!mayCreate) {
    return (
      <p className="text-sm text-soft">Ask a member or an owner for a token in place of {tokenToCome}.</p>
    );
  }
  if (token !== undefined) {
    return (
      <p className="text-sm text-soft">
        The new token is in place. It is shown this once: copy it now to where your application keeps its
        secrets.
      </p>
    );
  }
  const make = () =>
    create.mutate({ body: { name: sourceName(source) } }, { onSuccess: (made) => onToken(made.token) });
  return (
    <div className="grid justify-items-start gap-2">
      <FormError error={create.error} />
      <Button isSmall icon="plus" isBusy={create.isPending} onClick={make}>
        Create a token
      </Button>
      <p className="text-sm text-soft">Or put one that you have in place of {tokenToCome}.</p>
    </div>
  );
}
