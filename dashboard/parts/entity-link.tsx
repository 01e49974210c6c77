/** The name of a user or an account as a link to their page. */
import { Link } from "@tanstack/react-router";
import type { ReactElement } from "react";
import { useOrganization } from "../app/session.ts";

export function EntityLink({
  kind,
  id,
  label,
}: {
  kind: "user" | "account";
  /** Their own id. */
  id: string;
  /** An e-mail address or a name; the id stands in for an empty one. */
  label: string;
}): ReactElement {
  const organization = String(useOrganization().id);
  const text = label || id;
  return kind === "user" ? (
    <Link to="/o/$organization/users/$userId" params={{ organization, userId: id }} className="font-medium">
      {text}
    </Link>
  ) : (
    <Link
      to="/o/$organization/accounts/$accountId"
      params={{ organization, accountId: id }}
      className="font-medium"
    >
      {text}
    </Link>
  );
}
