/** The person who is here. */
import type { ReactElement } from "react";
import { useSession } from "../../app/session.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";

export function AccountSettings(): ReactElement {
  const { person, organizations } = useSession();
  return (
    <>
      <PageHeader title="Your account" />
      <Panel>
        <p>
          {person.name}, {person.email}
        </p>
        <p className="text-soft">{organizations.map(({ name, role }) => `${role} of ${name}`).join(", ")}</p>
      </Panel>
    </>
  );
}
