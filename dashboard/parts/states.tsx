/** Shown instead of figures: loading, empty, failed, or the analysis is starting. */
import { lazy, type ReactElement, type ReactNode, Suspense } from "react";
import { ApiFailure } from "../api/client.ts";
import type { Asked } from "../api/query.ts";
import { classes } from "../text/classes.ts";
import { Button } from "./form/button.tsx";
import { Icon } from "./icons.tsx";
import { Mark } from "./logo.tsx";
import { Panel, type PanelProps } from "./panel.tsx";

/** Lines where text will be, of the size of what will come. @param rows how many @param height of each, in
 * pixels */
export function Loading({ rows = 3, height = 20 }: { rows?: number; height?: number }): ReactElement {
  const widths = ["w-full", "w-11/12", "w-4/5", "w-10/12"];
  return (
    <div role="status" className="grid gap-2.5">
      <span className="sr-only">Loading …</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never move
        <div key={row} className={classes("skeleton", widths[row % widths.length])} style={{ height }} />
      ))}
    </div>
  );
}

/** An empty state: the reason, and what to do. */
export function Empty({ title, children }: { title: string; children?: ReactNode }): ReactElement {
  return (
    <div className="grid justify-items-center gap-1 px-4 py-10 text-center">
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-[56ch] text-soft">{children}</div>}
    </div>
  );
}

const Sentence = lazy(() =>
  // Without an answer of the server there is no file with the words either.
  import("./error-text.tsx").catch(() => ({
    default: ({ message }: { message: string }) => <>{message}</>,
  })),
);

/** What is wrong, in words. They come in a file of their own: most readers never need it. */
function ErrorText({ error: { message } }: { error: Error }): ReactElement {
  return (
    <Suspense fallback={message}>
      <Sentence message={message} />
    </Suspense>
  );
}

/** A failure: the server's message, and a button to try again. */
export function Problem({ error, onRetry }: { error: Error; onRetry?: () => void }): ReactElement {
  return (
    <div
      role="alert"
      className="grid justify-items-start gap-3 rounded border border-at-risk/40 bg-at-risk-wash p-4"
    >
      <p className="flex gap-2">
        <Icon name="warning" className="mt-1 text-at-risk" />
        <span>
          <ErrorText error={error} />
        </span>
      </p>
      {onRetry !== undefined && (
        <Button isSmall icon="retry" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** The process that answers figures is on its way. It is asked again by itself. */
export function Starting(): ReactElement {
  return (
    <div role="status" className="grid justify-items-center gap-2 px-4 py-10 text-center">
      <span className="motion-safe:animate-pulse">
        <Mark size={28} />
      </span>
      <p className="font-medium">The analysis is starting</p>
      <p className="max-w-[56ch] text-soft">
        Events are accepted meanwhile. The figures appear here within seconds.
      </p>
    </div>
  );
}

/** The reader stopped waiting. */
function Cancelled({ onRetry }: { onRetry: () => unknown }): ReactElement {
  return (
    <div className="grid justify-items-center gap-3 px-4 py-6 text-center">
      <p className="text-soft">Not loaded: you cancelled it.</p>
      <Button isSmall icon="retry" onClick={() => void onRetry()}>
        Try again
      </Button>
    </div>
  );
}

/** The state of a question that is shown: an `Asked`, or one whose answer comes page by page. */
type Shown<Answer> = Pick<Asked<Answer>, "data" | "isPlaceholderData" | "fetchStatus"> & {
  readonly error: Error | null;
  readonly failureReason: Error | null;
  readonly refetch: () => unknown;
};

interface FiguresProps<Answer> {
  readonly asked: Shown<Answer>;
  /** The content until the first answer. Lines by default. */
  readonly loading?: ReactNode;
  /** The content for an answer that is empty, and false for one that is not. */
  readonly empty?: ((answer: Answer) => ReactNode) | undefined;
  readonly children: (answer: Answer) => ReactNode;
}

/** Shows the answer to a question, or whichever state there is instead. An answer that is there stays, when
 * asking again fails or new parameters are under way. */
export function Figures<Answer>({ asked, loading, empty, children }: FiguresProps<Answer>): ReactElement {
  const { data, error, failureReason, isPlaceholderData, fetchStatus, refetch } = asked;
  // Without a failure only the reader stops it.
  const isCancelled = fetchStatus === "idle" && error === null;
  if (data !== undefined) {
    return (
      <div
        aria-busy={isPlaceholderData}
        className={classes("transition-opacity", isPlaceholderData && "opacity-60")}
      >
        {error !== null && !isPlaceholderData && (
          <p role="status" className="mb-2 text-sm text-at-risk">
            This could not be updated: <ErrorText error={error} />
          </p>
        )}
        {isPlaceholderData && isCancelled && <Cancelled onRetry={refetch} />}
        {empty?.(data) || children(data)}
      </div>
    );
  }
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (isCancelled) return <Cancelled onRetry={refetch} />;
  if (failureReason instanceof ApiFailure && failureReason.isStarting) return <Starting />;
  return <>{loading ?? <Loading />}</>;
}

/** A panel that shows the answer to a question. */
export function FigurePanel<Answer>({
  asked,
  loading = <Loading />,
  empty,
  children,
  ...panel
}: Omit<PanelProps, "children"> & FiguresProps<Answer>): ReactElement {
  return (
    <Panel {...panel}>
      <Figures
        asked={asked}
        loading={panel.isFlush ? <div className="p-4">{loading}</div> : loading}
        empty={empty}
      >
        {children}
      </Figures>
    </Panel>
  );
}
