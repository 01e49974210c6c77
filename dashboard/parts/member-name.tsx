/** A team member by the e-mail address that an attribute says. */
import type { ReactElement } from "react";
import { useRead } from "../api/query.ts";
import { Avatar } from "./avatar.tsx";

/** The member's initials and name; the address alone for one who is no member. */
export function MemberName({ email }: { email: string }): ReactElement {
  const { data } = useRead("/api/members");
  const member = data?.members.find((one) => one.email.toLowerCase() === email.toLowerCase());
  if (member === undefined) return <span title={email}>{email}</span>;
  return (
    <span title={email} className="inline-flex max-w-full min-w-0 items-center gap-2 align-middle">
      <Avatar name={member.name} />
      <span className="truncate">{member.name}</span>
    </span>
  );
}
