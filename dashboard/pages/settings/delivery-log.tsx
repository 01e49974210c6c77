/** The log of deliveries of 30 days, the newest first. */
import { type ReactElement, useState } from "react";
import type { DeliveryState } from "../../../contract/destinations/destinations.ts";
import { type Reads, useChange, usePages } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { FormError, SmallSelect } from "../../parts/form/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Empty, Figures } from "../../parts/states.tsx";
import { Instant, RelativeTime } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { counted } from "../../text/format.ts";
import { deliveryWords } from "./delivery-words.ts";

type Destination = Reads["/api/destinations"]["answer"]["destinations"][number];
type Delivery = Reads["/api/deliveries"]["answer"]["deliveries"][number];

const pageSize = 50;
/** Messages are sent without a change on the page. */
const everyMs = 5_000;
const states = [
  "pending",
  "held",
  "delivered",
  "failed",
  "canceled",
] as const satisfies readonly DeliveryState[];
const choices = [
  { value: "all", label: "All states" } as const,
  ...states.map((value) => ({ value, label: deliveryWords[value] })),
];

export function DeliveryLog({ destinations }: { destinations: readonly Destination[] }): ReactElement {
  const [state, setState] = useState<DeliveryState | "all">("all");
  const query = { limit: pageSize, ...(state !== "all" && { state }) };
  const asked = usePages("/api/deliveries", { path: {}, query, everyMs }, ({ deliveries }) =>
    deliveries.length < pageSize ? undefined : deliveries.at(-1)?.id,
  );
  const { error, hasNextPage, fetchNextPage, isFetchingNextPage } = asked;
  const byId = new Map(destinations.map((destination) => [destination.id, destination]));
  return (
    <Panel
      title="Log"
      note="Messages of the last 30 days."
      isFlush
      actions={<SmallSelect label="State" value={state} choices={choices} onChoose={setState} />}
    >
      <Figures
        asked={asked}
        empty={({ pages }) =>
          pages[0]?.deliveries.length === 0 && (
            <Empty title={state === "all" ? "No message yet" : `No ${deliveryWords[state]} message`} />
          )
        }
      >
        {({ pages }) => (
          <ol aria-label="Messages, the newest first">
            {pages
              .flatMap(({ deliveries }) => deliveries)
              .map((delivery) => (
                <Line key={delivery.id} delivery={delivery} to={byId.get(delivery.destination)} />
              ))}
          </ol>
        )}
      </Figures>
      {hasNextPage && (
        <div className="grid justify-items-start gap-3 border-t border-line px-4 py-3">
          <FormError error={error} />
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older messages
          </Button>
        </div>
      )}
    </Panel>
  );
}

/** Messages whose attempts have ended, or that wait for the next one. */
const sentAgain: readonly DeliveryState[] = ["pending", "delivered", "failed"];

function Line({ delivery, to }: { delivery: Delivery; to: Destination | undefined }): ReactElement {
  const { id, type, state, attempts, dueAt, status, said, createdAt, messageId } = delivery;
  const mayChange = useMayAs("owner");
  const tell = useTell();
  const again = useChange("POST /api/deliveries/:id/again");
  const sendAgain = () =>
    again.mutate(
      { path: { id } },
      { onSuccess: () => tell("The message is sent again."), onError: tell.failed },
    );
  return (
    <li className="grid gap-x-6 gap-y-1 border-b border-line px-4 py-2.5 last:border-0 sm:grid-cols-[11rem_minmax(0,1fr)_auto]">
      <p className="text-sm text-soft">
        <Instant instant={createdAt} />
      </p>
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <p>
          <code className="font-mono text-sm">{type}</code> to {to?.name}:{" "}
          <b className="font-medium">{deliveryWords[state]}</b>
        </p>
        <p className="text-sm text-soft">
          {attempts === 0 ? "not sent yet" : counted(attempts, "attempt")}
          {status !== null && `, answer ${status}`}
          {dueAt !== null && attempts > 0 && (
            <>
              , next attempt <RelativeTime instant={dueAt} />
            </>
          )}
          {state === "pending" && dueAt !== null && attempts === 0 && (
            <>
              , due <Instant instant={dueAt} />
            </>
          )}
        </p>
        {said !== null && said !== "" && (
          <details className="text-sm">
            <summary className="cursor-pointer text-soft">Answer to {messageId}</summary>
            <pre className="mt-1 max-h-48 overflow-auto font-mono break-all whitespace-pre-wrap">{said}</pre>
          </details>
        )}
      </div>
      {mayChange && to?.state === "active" && attempts > 0 && sentAgain.includes(state) && (
        <div>
          <Button
            isSmall
            isBusy={again.isPending}
            aria-label={`Send again: ${messageId}`}
            onClick={sendAgain}
          >
            Send again
          </Button>
        </div>
      )}
    </li>
  );
}
