/** One ingestion warning: what it means, what to do, and the latest request that caused it. */
import type { ReactElement } from "react";
import { Dialog } from "../../parts/form/dialog.tsx";
import { Instant } from "../../parts/time.tsx";
import { numbers } from "../../text/format.ts";
import { Facts, UserId } from "./facts.tsx";
import { senderText } from "./live-row.tsx";
import { warningWords } from "./warning-words.tsx";
import type { Warning } from "./warnings.tsx";

export function WarningDialog({ warning, onClose }: { warning: Warning; onClose: () => void }): ReactElement {
  const { kind, endpoint, detail, count, firstSeen, lastSeen, message, userId } = warning;
  const { word, meaning, advice } = warningWords[kind];
  return (
    <Dialog isOpen onClose={onClose} title={word} description={meaning} isWide>
      <p className="mb-4">{advice}</p>
      <Facts
        facts={[
          ["About", detail],
          ["Endpoint", senderText(endpoint)],
          ["The sender was told", message],
          ["Requests on this day", numbers.count(count)],
          ["First", <Instant key="first" instant={firstSeen} />],
          ["Latest", <Instant key="latest" instant={lastSeen} />],
          ["Latest user", <UserId key="user" userId={userId} isKnown={kind !== "refused_unknown_user"} />],
        ]}
      />
    </Dialog>
  );
}
