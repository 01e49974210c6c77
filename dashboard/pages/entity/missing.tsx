/** An unknown id: it never came, or it was erased. No trace of an erased id is kept, so both look the
 * same. */
import type { ReactElement } from "react";
import { ApiFailure } from "../../api/client.ts";
import { PageLink } from "../../app/page-link.ts";
import { buttonClass } from "../../parts/form/button.tsx";
import { listAddresses } from "../../parts/list/view-address.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";

/** Whether the id is unknown. */
export function isMissing(error: Error | null): boolean {
  return error instanceof ApiFailure && error.kind === "not_found";
}

export function Missing({ id, what }: { id: string; what: "user" | "account" }): ReactElement {
  const isUser = what === "user";
  return (
    <>
      <PageHeader title={isUser ? "There is no such user" : "There is no such account"} />
      <Panel>
        <p className="max-w-[70ch] [overflow-wrap:anywhere]">
          No {what} has the id <b className="font-semibold">{id}</b>.{" "}
          {isUser
            ? "The user was never identified, or was erased. No data is kept that tells the difference."
            : "No user was identified with this account, or it was erased. No data is kept that tells the difference."}
        </p>
        <ListLink what={what} />
      </Panel>
    </>
  );
}

/** A link to all users, or to all accounts. */
export function ListLink({ what }: { what: "user" | "account" }): ReactElement {
  return (
    <div className="mt-4">
      <PageLink to={listAddresses[`${what}s`]} className={buttonClass()}>
        All {what}s
      </PageLink>
    </div>
  );
}
