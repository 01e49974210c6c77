/** Shown instead of a settings page that needs a larger role. */
import type { ReactElement, ReactNode } from "react";
import type { Role } from "../../../contract/roles.ts";
import { useMayAs, useOrganization } from "../../app/session.ts";
import { Panel } from "../../parts/panel.tsx";
import { Empty } from "../../parts/states.tsx";

const whose = { viewer: "viewers", member: "members and owners", owner: "owners" } as const;

/** Shows its content to this role and larger ones. */
export function RequiresRole({ least, children }: { least: Role; children: ReactNode }): ReactElement {
  const may = useMayAs(least);
  const { role } = useOrganization();
  if (may) return <>{children}</>;
  return (
    <Panel>
      <Empty title={`This is for ${whose[least]}`}>
        You are a {role} here. Ask an owner to change your role under Members.
      </Empty>
    </Panel>
  );
}
