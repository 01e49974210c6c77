/** Leaving an organization by oneself. */
import { useOrganization, useSession } from "../../app/session.ts";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";

/** Asks, and leaves the present organization for another, or for the door. */
export function useLeave(): () => Promise<void> {
  const { person } = useSession();
  const { name } = useOrganization();
  const removal = useConfirmedChange("DELETE /api/members/:id");
  return () =>
    removal.ask(
      {
        title: `Leave ${name}?`,
        text: `You lose access to ${name} now. A new invitation restores it.`,
        action: `Leave ${name}`,
        isDangerous: true,
      },
      { path: { id: person.id } },
      // Everything that is kept here was of a member: the pages begin anew.
      () => location.assign("/"),
    );
}
