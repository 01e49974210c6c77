/** The row of a billing tool whose webhooks are read by a preset. */
import type { ReactElement } from "react";
import type { WebhookPreset } from "../../../contract/source-settings.ts";
import { useRead } from "../../api/query.ts";
import { Badge } from "../../parts/figure/health.tsx";
import { type ListState, Row } from "./row.tsx";

export function PresetRow({ preset, list }: { preset: WebhookPreset; list: ListState }): ReactElement {
  const { data } = useRead("/api/webhooks");
  const names = (data?.webhooks ?? []).filter((webhook) => webhook.preset === preset).map(({ name }) => name);
  const isAdded = names.length > 0;
  return (
    <Row
      entry={preset}
      list={list}
      badge={isAdded && <Badge>Webhook added</Badge>}
      story={
        isAdded ? `By the webhook ${names.join(", ")}. Its items count under Webhooks.` : "Not connected"
      }
    />
  );
}
