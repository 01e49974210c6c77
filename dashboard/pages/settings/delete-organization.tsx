/** Deleting the organization. The page lists the data that will be deleted, and its name has to be typed. */
import { type ReactElement, useState } from "react";
import { useChange } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { EraseDialog } from "../../entity/erase.tsx";
import { Button } from "../../parts/form/button.tsx";
import { Panel } from "../../parts/panel.tsx";

export function DeleteOrganization(): ReactElement {
  const { name } = useOrganization();
  const [isOpen, setOpen] = useState(false);
  const remove = useChange("DELETE /api/organization");
  const close = () => {
    remove.reset();
    setOpen(false);
  };
  return (
    <Panel title="Delete this organization" note="Only owners can. It cannot be undone.">
      <Button onClick={() => setOpen(true)}>Delete …</Button>
      <EraseDialog
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
        isOpen={isOpen}
        isPending={remove.isPending}
        error={remove.error}
        // Everything that is kept here was of the organization: the pages begin anew.
        onErase={() => remove.mutate({ query: { name } }, { onSuccess: () => location.assign("/") })}
        onClose={close}
      />
    </Panel>
  );
}
