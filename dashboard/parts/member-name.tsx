/** A team member by the e-mail address or the name that an attribute says. */
import type { ReactElement } from "react";
import { useRead } from "../api/query.ts";
import { Avatar } from "./avatar.tsx";

/** The member's initials and name; the text alone for one who is no member. */
export function MemberName({ text }: { text: string }): ReactElement {
  const { data } = useRead("/api/members");
  const sought = text.toLowerCase();
  const named = data?.members.filter(({ name }) => name.toLowerCase() === sought) ?? [];
  const member =
    data?.members.find(({ email }) => email.toLowerCase() === sought) ??
    (named.length === 1 ? named[0] : undefined);
  if (member === undefined) return <span title={text}>{text}</span>;
  return (
    <span title={text} className="inline-flex max-w-full min-w-0 items-center gap-2 align-middle">
      <Avatar name={member.name} />
      <span className="truncate">{member.name}</span>
    </span>
  );
}
