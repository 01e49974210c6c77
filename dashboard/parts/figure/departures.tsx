/** The question whether an event means that users have left: asked until a member of the team has answered. */
import { type ReactElement, useState } from "react";
import type { SettingsChange as Change, Settings } from "../../../contract/settings.ts";
import { ApiFailure } from "../../api/client.ts";
import { type Reads, useChange, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { classes } from "../../text/classes.ts";
import { numbers } from "../../text/format.ts";
import { Button } from "../form/button.tsx";
import { FormError } from "../form/field.tsx";
import { Icon } from "../icons.tsx";
import { useTell } from "../toast.tsx";

type Departure = Reads["/api/departures"]["answer"]["events"][number];

/** The questions that wait for an answer, one below the other. Nothing is drawn without any. */
export function Departures({ className }: { className?: string }): ReactElement | null {
  const asked = useRead("/api/departures");
  const settings = useRead("/api/settings", { enabled: (asked.data?.events.length ?? 0) > 0 });
  const change = useChange("PATCH /api/settings");
  const tell = useTell();
  const [answered, setAnswered] = useState<{ readonly event: string; readonly isBusy: boolean }>();
  const events = asked.data?.events ?? [];
  if (events.length === 0) return null;
  const send = async (bodyOf: Body, known: Known | undefined) => {
    if (known === undefined) return;
    const bodyOn = ({ settings, version }: Known) => ({ body: { ...bodyOf(settings), version } });
    try {
      await change.mutateAsync(bodyOn(known));
    } catch (error) {
      const newer = isConflict(error) ? (await settings.refetch()).data : undefined;
      if (newer === undefined) return;
      // Lists are sent whole, so they are made anew of the newer settings.
      await change.mutateAsync(bodyOn(newer));
    }
    tell("Saved.");
  };
  const answer = (event: string, bodyOf: Body) => {
    setAnswered({ event, isBusy: true });
    // A failure stands in `change.error`.
    void send(bodyOf, settings.data)
      .catch(() => undefined)
      .finally(() => setAnswered({ event, isBusy: false }));
  };
  return (
    <div className={classes("grid gap-3", className)}>
      {events.map((departure) => (
        <Question
          key={departure.event}
          departure={departure}
          isReady={settings.data !== undefined}
          isBusy={answered?.isBusy === true}
          error={answered?.isBusy === false && answered.event === departure.event ? change.error : null}
          onAnswer={(bodyOf) => answer(departure.event, bodyOf)}
        />
      ))}
    </div>
  );
}

type Known = Reads["/api/settings"]["answer"];
type Body = (newest: Settings) => Partial<Pick<Change, "churnTargets" | "passiveEvents" | "ordinaryEvents">>;

const isConflict = (error: unknown) => error instanceof ApiFailure && error.kind === "conflict";

interface QuestionProps {
  readonly departure: Departure;
  /** Whether the settings are known. */
  readonly isReady: boolean;
  /** Whether an answer, to this question or another, is being saved. */
  readonly isBusy: boolean;
  readonly error: ApiFailure | null;
  readonly onAnswer: (bodyOf: Body) => void;
}

function Question({ departure, isReady, isBusy, error, onAnswer }: QuestionProps): ReactElement {
  const { event, label, users, isPassive } = departure;
  const mayAnswer = useMayAs("member");
  return (
    <section
      aria-label={`What ${label ?? event} means`}
      className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 rounded border border-watch bg-watch-wash px-4 py-3 text-ink"
    >
      <div className="flex min-w-0 gap-2">
        <Icon name="info" className="mt-1 shrink-0 text-watch" />
        <div className="min-w-0 max-w-[80ch] [overflow-wrap:anywhere]">
          <p className="font-medium">
            {users === 1 ? "1 person" : `${numbers.count(users)} people`} sent {label ?? event}.{" "}
            {users === 1 ? "Does it mean that this person has left?" : "Does it mean that they have left?"}
          </p>
          <p className="text-sm text-soft">
            {isPassive
              ? "Until you answer, this event does not count as activity."
              : "Until you answer, this event counts as activity like any other."}
            {!mayAnswer && " Members and owners can answer."}
          </p>
          <FormError error={error} />
        </div>
      </div>
      {mayAnswer && isReady && (
        <div className="flex gap-2">
          <Button isBusy={isBusy} onClick={() => onAnswer((newest) => yes(event, newest))}>
            Yes, they have left
          </Button>
          <Button
            isBusy={isBusy}
            onClick={() => onAnswer(({ ordinaryEvents }) => ({ ordinaryEvents: [...ordinaryEvents, event] }))}
          >
            No
          </Button>
        </div>
      )}
    </section>
  );
}

/** Users have one churn target: a further event counts as no activity from now on. */
function yes(event: string, { churnTargets, passiveEvents }: Settings): ReturnType<Body> {
  return churnTargets.user.by === "silence"
    ? { churnTargets: { user: { by: "event", event } } }
    : { passiveEvents: [...passiveEvents, event] };
}
