/** Everything that is stored about a user, as a file. */
import type { ReactElement } from "react";
import { below } from "../../api/base.ts";
import { addressOf } from "../../api/client.ts";
import { useMayAs, useOrganization } from "../../app/session.ts";
import { buttonClass } from "../../parts/form/button.tsx";
import { Icon } from "../../parts/icons.tsx";

/** The link that downloads the file. Only owners see it, and the audit log remembers each download. */
export function EverythingLink({ userId }: { userId: string }): ReactElement | null {
  const { id } = useOrganization();
  if (!useMayAs("owner")) return null;
  return (
    <a
      href={below(addressOf("/api/users/:userId/everything", { userId }, {}, id))}
      download
      title="Everything that is stored about this user, as a JSON file. The audit log remembers it."
      className={buttonClass("plain", true)}
    >
      <Icon name="download" />
      Export
    </a>
  );
}
