/** An id that names nobody: it never came, or it was erased. Both look the same, because nothing is kept of the erased. */
import type { ReactElement } from "react";
import { ApiFailure } from "../api/client.ts";
import { PageHeader, Panel } from "../parts/panel.tsx";
import { ListLink } from "./list-link.tsx";

/** Whether an answer says that there is nobody of this id. */
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
            ? "It was never identified, or the user was erased: nothing is kept by which the two could be told apart."
            : "No user was identified with it, or the account was erased: nothing is kept by which the two could be told apart."}
        </p>
        <ListLink what={what} />
      </Panel>
    </>
  );
}
