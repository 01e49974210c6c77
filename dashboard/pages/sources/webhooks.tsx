/** The organization's webhooks: each with its address, and how its bodies are read. */
import { type ReactElement, useState } from "react";
import type { Reads } from "../../api/paths.ts";
import { useChange, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Button } from "../../parts/form/button.tsx";
import { useConfirm } from "../../parts/form/confirm.tsx";
import { Empty, Figures } from "../../parts/states.tsx";
import { useTell } from "../../parts/toast.tsx";
import { WebhookForm } from "./webhook-form.tsx";

export type Webhook = Reads["/api/webhooks"]["answer"]["webhooks"][number];

/** @param token shown in addresses; until there is one, what stands for it */
export function Webhooks({ token }: { token: string }): ReactElement {
  const asked = useRead("/api/webhooks");
  const mayChange = useMayAs("member");
  /** Which is open: one that there is, or a new one. */
  const [open, setOpen] = useState<number | "new">();
  const close = () => setOpen(undefined);
  return (
    <div className="grid gap-3">
      <Figures
        of={asked}
        empty={{
          when: ({ webhooks }) => webhooks.length === 0 && open === undefined,
          show: <Empty title="No webhook yet">Each says how the bodies of one tool are read.</Empty>,
        }}
      >
        {({ webhooks }) => (
          <ul className="grid gap-3">
            {webhooks.map((webhook) => (
              <li key={webhook.id} className="grid gap-2 rounded border border-line p-3">
                <Head
                  of={webhook}
                  {...(mayChange && open !== webhook.id && { onChange: () => setOpen(webhook.id) })}
                />
                <Code
                  label={`The address of ${webhook.name}`}
                  text={`${location.origin}/v1/webhooks/${webhook.name}/${token}`}
                />
                {open === webhook.id && <WebhookForm webhook={webhook} onDone={close} />}
              </li>
            ))}
          </ul>
        )}
      </Figures>
      {open === "new" && <WebhookForm webhook={undefined} onDone={close} />}
      {mayChange && open === undefined && (
        <div>
          <Button isSmall icon="plus" onClick={() => setOpen("new")}>
            Add a webhook
          </Button>
        </div>
      )}
    </div>
  );
}

function Head({ of: { id, name }, onChange }: { of: Webhook; onChange?: () => void }): ReactElement {
  const confirm = useConfirm();
  const tell = useTell();
  const remove = useChange("DELETE /api/webhooks/:id");
  const ask = async () => {
    const isSure = await confirm({
      title: `Delete the webhook ${name}?`,
      text: "What the tool sends to its address is refused from then on. What came already stays.",
      action: "Delete",
      isDangerous: true,
    });
    if (!isSure) return;
    remove.mutate(
      { path: { id } },
      { onSuccess: () => tell(`The webhook ${name} is deleted.`), onError: tell.failed },
    );
  };
  return (
    <div className="flex flex-wrap items-center justify-between gap-2">
      <h4 className="font-medium">{name}</h4>
      {onChange !== undefined && (
        <div className="flex gap-2">
          <Button isSmall onClick={onChange} aria-label={`Change the webhook ${name}`}>
            Change
          </Button>
          <Button isSmall onClick={() => void ask()} aria-label={`Delete the webhook ${name}`}>
            Delete
          </Button>
        </div>
      )}
    </div>
  );
}
