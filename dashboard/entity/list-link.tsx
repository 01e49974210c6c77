/** The way from a user or an account that is not there to the list of those that are. */
import { Link } from "@tanstack/react-router";
import type { ReactElement } from "react";
import { useOrganization } from "../app/session.ts";
import { buttonClass } from "../parts/form/button.tsx";

/** A link to all users, or to all accounts. */
export function ListLink({ what }: { what: "user" | "account" }): ReactElement {
  const organization = String(useOrganization().id);
  const isUser = what === "user";
  return (
    <div className="mt-4">
      <Link
        to={isUser ? "/o/$organization/users" : "/o/$organization/accounts"}
        params={{ organization }}
        className={buttonClass()}
      >
        {isUser ? "All users" : "All accounts"}
      </Link>
    </div>
  );
}
