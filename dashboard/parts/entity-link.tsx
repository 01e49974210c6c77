/** The name of a user or an account as a link to their page. */
import type { ReactElement } from "react";
import { PageLink } from "../app/page-link.ts";

export function EntityLink({
  kind,
  id,
  label,
  className = "font-medium",
  title,
}: {
  kind: "user" | "account";
  /** Their own id. */
  id: string;
  /** An e-mail address or a name. The id stands in for an empty one. */
  label: string | null;
  className?: string;
  title?: string;
}): ReactElement {
  const look = { className, title, children: label || id };
  return kind === "user" ? (
    <PageLink to="/o/$organization/users/$userId" params={{ userId: id }} {...look} />
  ) : (
    <PageLink to="/o/$organization/accounts/$accountId" params={{ accountId: id }} {...look} />
  );
}
