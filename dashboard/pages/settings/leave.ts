/** Leaving an organization by oneself. */
import { useChange } from "../../api/query.ts";
import { useOrganization, useSession } from "../../app/session.ts";
import { useConfirm } from "../../parts/form/confirm.tsx";
import { useTell } from "../../parts/toast.tsx";

/** Asks, and leaves the present organization for another, or for the door. */
export function useLeave(): () => Promise<void> {
  const { person } = useSession();
  const { name } = useOrganization();
  const confirm = useConfirm();
  const tell = useTell();
  const removal = useChange("DELETE /api/members/:id");
  return async () => {
    const isSure = await confirm({
      title: `Leave ${name}?`,
      text: `You lose access to ${name} now. A new invitation restores it.`,
      action: `Leave ${name}`,
      isDangerous: true,
    });
    if (!isSure) return;
    removal.mutate(
      { path: { id: person.id } },
      // Everything that is kept here was of a member: the pages begin anew.
      { onSuccess: () => location.assign("/"), onError: tell.failed },
    );
  };
}
