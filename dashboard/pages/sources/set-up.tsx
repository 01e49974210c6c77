/** How a source is connected, with the organization's own address and a token, and what its words become
 * here. */
import type { ReactElement } from "react";
import type { TokenScope } from "../../../contract/members.ts";
import { below } from "../../api/base.ts";
import { useChange } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { serviceAddress } from "../../app/service-address.ts";
import { useMayAs } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Button } from "../../parts/form/button.tsx";
import { FormError } from "../../parts/form/field.tsx";
import { clients, meanings } from "./clients.ts";
import { type Entry, entryName, isPreset } from "./entries.ts";
import { PresetGuide } from "./preset-form.tsx";
import { presetTexts } from "./presets.ts";
import { StripeSettings } from "./stripe-settings.tsx";
import { Webhooks } from "./webhooks.tsx";

/** The scopes of tokens that send. */
type SendingScope = Exclude<TokenScope, "arm">;

/** The placeholder in the code until there is a token. */
const tokenToCome: Readonly<Record<SendingScope, string>> = {
  server: "YOUR_TOKEN",
  browser: "YOUR_BROWSER_TOKEN",
};

/** The tokens that were made on this page, one for each scope. */
export type NewTokens = Partial<Readonly<Record<SendingScope, string>>>;

interface SetUpProps {
  readonly entry: Entry;
  readonly tokens: NewTokens;
  readonly onToken: (made: NewTokens) => void;
}

export function SetUp(props: SetUpProps): ReactElement {
  const { entry } = props;
  const rows = isPreset(entry) ? presetTexts[entry].meanings : meanings[entry];
  return (
    <div className="grid items-start gap-x-8 gap-y-5 xl:grid-cols-2">
      <div className="grid min-w-0 gap-4">
        <Steps {...props} />
      </div>
      <table className="w-full text-sm">
        <caption className="pb-1.5 text-left font-medium">What we do with it</caption>
        <thead className="sr-only">
          <tr>
            <th scope="col">{entryName(entry)}</th>
            <th scope="col">Here</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([theirs, ours]) => (
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

function Steps(props: SetUpProps): ReactElement {
  const { entry, tokens } = props;
  const shown = { ...tokenToCome, ...tokens };
  if (entry === "api") return <ToStart />;
  if (isPreset(entry)) {
    return (
      <>
        <PresetGuide preset={entry} />
        <Token scope="server" {...props} />
        <Webhooks preset={entry} token={shown.server} />
      </>
    );
  }
  const hasPage = clients[entry].some(({ isInBrowser }) => isInBrowser);
  return (
    <>
      {clients[entry].map(({ label, note, isInBrowser, code }) => (
        <div key={label} className="grid gap-1.5">
          <h4 className="text-sm font-medium">{label}</h4>
          <Code label={label} text={code(serviceAddress(), isInBrowser ? shown.browser : shown.server)} />
          {note !== undefined && <p className="text-sm text-soft">{note}</p>}
        </div>
      ))}
      <Token scope="server" {...props} />
      {hasPage && <Token scope="browser" {...props} />}
      {entry === "stripe" && <StripeSettings />}
      {entry === "webhook" && <Webhooks preset={null} token={shown.server} />}
    </>
  );
}

function ToStart(): ReactElement {
  return (
    <p>
      Two calls are all it takes: the page{" "}
      <PageLink to="/o/$organization/start" className="underline">
        Start
      </PageLink>{" "}
      has them ready to be run, and the <a href={below("/reference")}>reference</a> every field, limit and
      error.
    </p>
  );
}

function Token({ scope, entry, tokens, onToken }: SetUpProps & { scope: SendingScope }): ReactElement {
  const word = scope === "browser" ? "browser token" : "token";
  const mayCreate = useMayAs("member");
  const create = useChange("POST /api/tokens");
  if (!mayCreate) {
    return (
      <p className="text-sm text-soft">
        Ask a member or an owner for a {word} in place of {tokenToCome[scope]}.
      </p>
    );
  }
  if (tokens[scope] !== undefined) {
    return (
      <p className="text-sm text-soft">The new {word} is in place. It is shown this once: copy it now.</p>
    );
  }
  const make = () =>
    create.mutate(
      { body: { name: entryName(entry), scope } },
      { onSuccess: (made) => onToken({ [scope]: made.token }) },
    );
  return (
    <div className="grid justify-items-start gap-2">
      <FormError error={create.error} />
      <Button isSmall icon="plus" isBusy={create.isPending} onClick={make}>
        Create a {word}
      </Button>
      <p className="text-sm text-soft">Or put one that you have in place of {tokenToCome[scope]}.</p>
    </div>
  );
}
