/** One destination: its state, what waits for it, and what owners do with it. */
import { type ReactElement, type ReactNode, useState } from "react";
import { isOwnDigestName } from "../../../contract/destinations/destinations.ts";
import { type Reads, useChange } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";
import { Instant, RelativeTime } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { classes } from "../../text/classes.ts";
import { counted } from "../../text/format.ts";
import { kindWords, stateWords } from "./delivery-words.ts";
import { DestinationForm } from "./destination-form.tsx";
import { TestOutcome } from "./test-outcome.tsx";

type Destination = Reads["/api/destinations"]["answer"]["destinations"][number];

interface RowProps {
  readonly destination: Destination;
  /** Called with a new secret. */
  readonly onSecret: (secret: string) => void;
}

export function DestinationRow({ destination, onSecret }: RowProps): ReactElement {
  const mayChange = useMayAs("owner");
  const [isChanging, setChanging] = useState(false);
  const [test, setTest] = useState<number>();
  return (
    <li className="grid gap-3 border-b border-line px-4 py-3 last:border-0">
      <Facts destination={destination} />
      {mayChange && destination.held > 0 && <Held destination={destination} />}
      {mayChange && !isChanging && (
        <Actions
          destination={destination}
          onSecret={onSecret}
          onTest={setTest}
          onChange={() => setChanging(true)}
        />
      )}
      {isChanging && (
        <DestinationForm destination={destination} onSecret={onSecret} onDone={() => setChanging(false)} />
      )}
      {test !== undefined && <TestOutcome key={test} destination={destination.id} delivery={test} />}
    </li>
  );
}

function Facts({ destination }: { destination: Destination }): ReactElement {
  const { kind, name, address, host, state, stoppedBecause, failingSince, lastDeliveredAt, pending, held } =
    destination;
  const facts: readonly (readonly [key: string, text: ReactNode])[] = [
    [
      "delivered",
      lastDeliveredAt === null ? (
        "nothing delivered yet"
      ) : (
        <>
          last delivered <RelativeTime instant={lastDeliveredAt} />
        </>
      ),
    ],
    ...(failingSince === null
      ? []
      : [
          [
            "failing",
            <span key="failing" className="text-at-risk">
              failing since <Instant instant={failingSince} />
            </span>,
          ] as const,
        ]),
    ...(pending === 0 ? [] : [["pending", `${counted(pending, "message")} pending`] as const]),
    ...(held === 0 ? [] : [["held", `${counted(held, "message")} held`] as const]),
  ];
  return (
    <div className="grid min-w-0 gap-0.5 [overflow-wrap:anywhere]">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h3 className="min-w-0 font-medium">{name}</h3>
        <span className="text-sm text-soft">{kindWords[kind]}</span>
        <span className={classes("text-sm", state === "active" ? "text-soft" : "font-medium")}>
          {stateWords[state]}
        </span>
      </div>
      <p className="font-mono text-sm text-soft">
        {address ?? (kind === "email" ? `…@${host}` : `${host}/…`)}
      </p>
      <ul className="flex flex-wrap gap-x-4 text-sm text-soft">
        {facts.map(([key, text]) => (
          <li key={key}>{text}</li>
        ))}
      </ul>
      {stoppedBecause !== null && <p className="text-sm text-soft">{stoppedBecause}</p>}
    </div>
  );
}

/** Messages that were held are sent or dropped by hand. */
function Held({ destination: { id, name, held, state } }: { destination: Destination }): ReactElement {
  const tell = useTell();
  const send = useChange("POST /api/destinations/:id/held");
  const drop = useConfirmedChange("POST /api/destinations/:id/held");
  const messages = counted(held, "message");
  const them = held === 1 ? "it" : "them";
  return (
    <div className="flex flex-wrap items-center gap-2 rounded border border-line bg-sunk px-3 py-2">
      <span className="mr-auto">
        {messages} held.{" "}
        {state === "active"
          ? `Send or drop ${them}.`
          : `Drop ${them}, or resume the destination to send ${them}.`}
      </span>
      <Button
        isSmall
        disabled={state !== "active"}
        isBusy={send.isPending}
        aria-label={`Send what is held for ${name}`}
        onClick={() =>
          send.mutate(
            { path: { id }, body: { held: "send" } },
            { onSuccess: () => tell(`${messages} on the way.`), onError: tell.failed },
          )
        }
      >
        Send
      </Button>
      <Button
        isSmall
        isBusy={drop.isPending}
        aria-label={`Drop what is held for ${name}`}
        onClick={() =>
          void drop.ask(
            {
              title: `Drop ${messages} for ${name}?`,
              text: "They are never sent. The log keeps them as canceled for 30 days.",
              action: "Drop",
              isDangerous: true,
            },
            { path: { id }, body: { held: "drop" } },
            `${messages} dropped.`,
          )
        }
      >
        Drop
      </Button>
    </div>
  );
}

interface ActionsProps extends RowProps {
  readonly onTest: (delivery: number) => void;
  readonly onChange: () => void;
}

function Actions({ destination, onSecret, onTest, onChange }: ActionsProps): ReactElement {
  const { id, name, kind, state } = destination;
  const tell = useTell();
  const change = useChange("PATCH /api/destinations/:id");
  const test = useChange("POST /api/destinations/:id/test");
  const secret = useConfirmedChange("POST /api/destinations/:id/secret");
  const removal = useConfirmedChange("DELETE /api/destinations/:id");
  const setState = (wanted: "active" | "paused", done: string) =>
    change.mutate(
      { path: { id }, body: { state: wanted } },
      { onSuccess: () => tell(done), onError: tell.failed },
    );
  const renew = () =>
    secret.ask(
      {
        title: `Make a new secret for ${name}?`,
        text: "Messages are signed with both secrets until you make another one. The older one before them stops working.",
        action: "Make a new secret",
      },
      { path: { id } },
      (answer) => answer.secret !== null && onSecret(answer.secret),
    );
  const remove = () =>
    removal.ask(
      {
        title: `Delete the destination ${name}?`,
        text: "Messages that wait for it, and its log, are deleted, too.",
        action: "Delete",
        isDangerous: true,
      },
      { path: { id } },
      `The destination ${name} is deleted.`,
    );
  return (
    <div className="flex flex-wrap gap-2">
      {state === "active" && (
        <Button
          isSmall
          isBusy={test.isPending}
          aria-label={`Send a test to ${name}`}
          onClick={() =>
            test.mutate(
              { path: { id } },
              { onSuccess: (delivery) => onTest(delivery.id), onError: tell.failed },
            )
          }
        >
          Send a test
        </Button>
      )}
      {state === "active" && (
        <Button
          isSmall
          isBusy={change.isPending}
          aria-label={`Pause ${name}`}
          onClick={() => setState("paused", `${name} is paused. Its messages are held.`)}
        >
          Pause
        </Button>
      )}
      {(state === "paused" || state === "disabled") && (
        <Button
          isSmall
          look="primary"
          isBusy={change.isPending}
          aria-label={`Resume ${name}`}
          onClick={() =>
            setState(
              "active",
              kind === "email" && state === "disabled" ? "The recipient gets a link." : `${name} is active.`,
            )
          }
        >
          Resume
        </Button>
      )}
      {state === "unconfirmed" && <AskAgain destination={destination} />}
      {!isOwnDigestName(name) && (
        <Button isSmall aria-label={`Change ${name}`} onClick={onChange}>
          Change
        </Button>
      )}
      {kind === "webhook" && (
        <Button isSmall aria-label={`New secret for ${name}`} onClick={() => void renew()}>
          New secret
        </Button>
      )}
      <Button isSmall aria-label={`Delete ${name}`} onClick={() => void remove()}>
        Delete
      </Button>
    </div>
  );
}

/** Sends the e-mail with the link again, to the same address. */
function AskAgain({ destination: { id, name, address } }: { destination: Destination }): ReactElement {
  const tell = useTell();
  const change = useChange("PATCH /api/destinations/:id");
  return (
    <Button
      isSmall
      isBusy={change.isPending}
      aria-label={`Send the e-mail again to ${name}`}
      onClick={() =>
        change.mutate(
          { path: { id }, body: { address: address ?? "" } },
          { onSuccess: () => tell("The recipient gets a link."), onError: tell.failed },
        )
      }
    >
      Send the e-mail again
    </Button>
  );
}
