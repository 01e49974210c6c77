/** The mark that a user was contacted. */
import type { ReactElement } from "react";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";

/** Adds an event `contacted`. Hidden for viewers. */
export function ContactButton({ userId, name }: { userId: string; name: string }): ReactElement | null {
  const contact = useConfirmedChange("POST /api/users/:userId/contacts");
  if (!useMayAs("member")) return null;
  const mark = () =>
    contact.ask(
      {
        title: `Mark ${name} as contacted?`,
        text: "The timeline gets an event contacted with the time of now. It is no engagement and changes no score.",
        action: "Mark as contacted",
      },
      { path: { userId }, body: {} },
      "Marked as contacted. The timeline shows it within seconds.",
    );
  return (
    <Button isSmall isBusy={contact.isPending} onClick={() => void mark()}>
      Contacted …
    </Button>
  );
}
