/** Deleting the organization. The page lists the data that will be deleted, and its name has to be typed. */
import type { ReactElement } from "react";
import { below } from "../../api/base.ts";
import { useChange } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { Panel } from "../../parts/panel.tsx";
import { EraseButton } from "../entity/erase.tsx";

export function DeleteOrganization(): ReactElement {
  const { name } = useOrganization();
  const remove = useChange("DELETE /api/organization");
  return (
    <Panel title="Delete this organization" note="Only owners can. It cannot be undone.">
      <EraseButton
        button="Delete …"
        title={`Delete ${name}`}
        description="Everything of this organization is deleted for good: this cannot be undone."
        consequences={
          <>
            <li>Users, accounts, events, scores and settings are deleted from every store.</li>
            <li>Project tokens and read keys stop working at once. Requests are rejected with 401.</li>
            <li>Members lose access at once and keep their sign-in. Open invitations end.</li>
            <li>Webhooks, saved views and the audit log are deleted, too.</li>
            <li>Earlier backups still have the data: delete them yourself.</li>
          </>
        }
        label="Type the organization's name to confirm"
        expected={name}
        action="Delete for good"
        erasure={remove}
        // Everything that is kept here was of the organization: the pages begin anew.
        onErase={() => remove.mutate({ query: { name } }, { onSuccess: () => location.assign(below("/")) })}
      />
    </Panel>
  );
}
