/** The way from a user or an account that is not there to the list of those that are. */
import type { ReactElement } from "react";
import { PageLink } from "../app/page-link.ts";
import { buttonClass } from "../parts/form/button.tsx";
import { listAddresses } from "../parts/list/view-address.ts";

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
