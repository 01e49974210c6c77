/** Destinations: where messages about the organization are sent, and the log of what was sent. */
import { type ReactElement, useState } from "react";
import { type Reads, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { ShownOnce } from "../../parts/form/shown-once.tsx";
import { Notice, PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, FigurePanel } from "../../parts/states.tsx";
import { DeliveryLog } from "./delivery-log.tsx";
import { DestinationForm } from "./destination-form.tsx";
import { DestinationRow } from "./destination-row.tsx";

type Destination = Reads["/api/destinations"]["answer"]["destinations"][number];

/** Counts of messages change without a change on the page. */
const everyMs = 10_000;

export default function DestinationSettings(): ReactElement {
  const asked = useRead("/api/destinations", { everyMs });
  const mayChange = useMayAs("owner");
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  const destinations = asked.data?.destinations ?? [];
  return (
    <>
      <PageHeader
        title="Destinations"
        actions={
          mayChange &&
          !isAdding && (
            <Button icon="plus" onClick={() => setAdding(true)}>
              Add destination
            </Button>
          )
        }
      >
        Webhooks, Slack channels and e-mail addresses that get messages about this organization.
        {!mayChange && " Only owners can change them."}
      </PageHeader>
      <div className="grid gap-5">
        <PausedNotice destinations={destinations} />
        {isAdding && (
          <Panel title="New destination">
            <DestinationForm destination={undefined} onSecret={setSecret} onDone={() => setAdding(false)} />
          </Panel>
        )}
        <FigurePanel
          title="All destinations"
          isFlush
          asked={asked}
          empty={(answer) =>
            answer.destinations.length === 0 && (
              <Empty title="No destination yet">
                {mayChange ? "Add one, and send a test message to it." : "Only owners can add one."}
              </Empty>
            )
          }
        >
          {(answer) => (
            <ul aria-label="Destinations">
              {answer.destinations.map((destination) => (
                <DestinationRow key={destination.id} destination={destination} onSecret={setSecret} />
              ))}
            </ul>
          )}
        </FigurePanel>
        {destinations.length > 0 && <DeliveryLog destinations={destinations} />}
      </div>
      <ShownOnce
        title="Signing secret"
        description="It is shown only once. Copy it now. Your receiver verifies each message with it: libraries of Standard Webhooks do, for most languages."
        secret={secret}
        onDone={() => setSecret(undefined)}
      />
    </>
  );
}

/** Says why the service has paused destinations, and how they go on. */
function PausedNotice({ destinations }: { destinations: readonly Destination[] }): ReactElement | null {
  const paused = destinations.find(
    ({ state, stoppedBecause }) => state === "paused" && stoppedBecause !== null,
  );
  if (paused === undefined) return null;
  return (
    <Notice>
      {paused.stoppedBecause} Its destinations were paused, so that no message is sent twice. An owner resumes
      each of them here.
    </Notice>
  );
}
