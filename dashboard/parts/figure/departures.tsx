/** Questions about what churn means: whether an event means that users have left, asked until a member of the
 * team has answered, and whether accounts churn with their last subscription. */
import { type ReactElement, type ReactNode, useState } from "react";
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
  const { events = [], subscriptions = null } = asked.data ?? {};
  const hasQuestions = events.length > 0 || subscriptions !== null;
  const settings = useRead("/api/settings", { enabled: hasQuestions });
  const change = useChange("PATCH /api/settings");
  const tell = useTell();
  const [answered, setAnswered] = useState<{ readonly event: string; readonly isBusy: boolean }>();
  if (!hasQuestions) return null;
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
  const answering = (event: string): Answering => ({
    isReady: settings.data !== undefined,
    isBusy: answered?.isBusy === true,
    error: answered?.isBusy === false && answered.event === event ? change.error : null,
    onAnswer: (bodyOf) => answer(event, bodyOf),
  });
  return (
    <div className={classes("grid gap-3", className)}>
      {subscriptions !== null && <Suggestion subscriptions={subscriptions} {...answering(noEvent)} />}
      {events.map((departure) => (
        <Question key={departure.event} departure={departure} {...answering(departure.event)} />
      ))}
    </div>
  );
}

/** Stands for the suggestion: no event has an empty name. */
const noEvent = "";

type Known = Reads["/api/settings"]["answer"];
type Body = (newest: Settings) => Partial<Pick<Change, "churnTargets" | "passiveEvents" | "ordinaryEvents">>;

const isConflict = (error: unknown) => error instanceof ApiFailure && error.kind === "conflict";

interface Answering {
  /** Whether the settings are known. */
  readonly isReady: boolean;
  /** Whether an answer, to this question or another, is being saved. */
  readonly isBusy: boolean;
  readonly error: ApiFailure | null;
  readonly onAnswer: (bodyOf: Body) => void;
}

interface AskedProps {
  readonly name: string;
  readonly question: string;
  readonly note: string;
  readonly error: ApiFailure | null;
  /** The answers, for a reader who may give one. */
  readonly children: ReactNode;
}

function Asked({ name, question, note, error, children }: AskedProps): ReactElement {
  return (
    <section
      aria-label={name}
      className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 rounded border border-watch bg-watch-wash px-4 py-3 text-ink"
    >
      <div className="flex min-w-0 gap-2">
        <Icon name="info" className="mt-1 shrink-0 text-watch" />
        <div className="min-w-0 max-w-[80ch] [overflow-wrap:anywhere]">
          <p className="font-medium">{question}</p>
          <p className="text-sm text-soft">{note}</p>
          <FormError error={error} />
        </div>
      </div>
      {children}
    </section>
  );
}

function Question({
  departure,
  isReady,
  isBusy,
  error,
  onAnswer,
}: Answering & { readonly departure: Departure }): ReactElement {
  const { event, label, users, isPassive } = departure;
  const mayAnswer = useMayAs("member");
  const people = users === 1 ? "1 person" : `${numbers.count(users)} people`;
  const they = users === 1 ? "this person has" : "they have";
  const until = isPassive ? "does not count as activity" : "counts as activity like any other";
  return (
    <Asked
      name={`What ${label ?? event} means`}
      question={`${people} sent ${label ?? event}. Does it mean that ${they} left?`}
      note={`Until you answer, this event ${until}.${mayAnswer ? "" : " Members and owners can answer."}`}
      error={error}
    >
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
    </Asked>
  );
}

function Suggestion({
  subscriptions,
  isReady,
  isBusy,
  error,
  onAnswer,
}: Answering & { readonly subscriptions: number }): ReactElement {
  const mayAnswer = useMayAs("member");
  return (
    <Asked
      name="Churn target of accounts"
      question={`${numbers.count(subscriptions)} subscriptions are known. Has an account churned when its last one ended?`}
      note={`Then the churn risk of an account is the probability that it cancels, not that it falls silent.${mayAnswer ? "" : " Members and owners can answer."}`}
      error={error}
    >
      {mayAnswer && isReady && (
        <Button
          isBusy={isBusy}
          onClick={() => onAnswer(() => ({ churnTargets: { account: { by: "subscription" } } }))}
        >
          Yes, predict this
        </Button>
      )}
    </Asked>
  );
}

/** Users have one churn target: a further event counts as no activity from now on. */
function yes(event: string, { churnTargets, passiveEvents }: Settings): ReturnType<Body> {
  return churnTargets.user.by === "silence"
    ? { churnTargets: { user: { by: "event", event } } }
    : { passiveEvents: [...passiveEvents, event] };
}
