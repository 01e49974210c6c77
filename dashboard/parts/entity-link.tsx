/** The name of a user or an account as a link to their page. */
import { Link } from "@tanstack/react-router";
import type { ReactElement } from "react";
import { useOrganization } from "../app/session.ts";

export function EntityLink({
  kind,
  id,
  label,
  isQuiet = false,
}: {
  kind: "user" | "account";
  /** Their own id. */
  id: string;
  /** An e-mail address or a name. The id stands in for an empty one. */
  label: string;
  /** In the weight of the text around it. */
  isQuiet?: boolean;
}): ReactElement {
  const organization = String(useOrganization().id);
  const text = label || id;
  const className = isQuiet ? "" : "font-medium";
  return kind === "user" ? (
    <Link to="/o/$organization/users/$userId" params={{ organization, userId: id }} className={className}>
      {text}
    </Link>
  ) : (
    <Link
      to="/o/$organization/accounts/$accountId"
      params={{ organization, accountId: id }}
      className={className}
    >
      {text}
    </Link>
  );
}
