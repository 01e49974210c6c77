/** Says that figures take long, and lets the reader wait or stop waiting. */
import { type Query, useIsFetching, useQueryClient } from "@tanstack/react-query";
import { type ReactElement, useEffect, useState } from "react";
import { ApiFailure } from "../api/client.ts";
import { Button } from "../parts/form/button.tsx";

/** Figures that are not there after so long are slow. */
const slowAfterMs = 10_000;

/** A figure of the page that has never been there and is being asked for. One for which the analysis has to
 * start first says so itself. */
function isAwaited({ queryKey, state }: Query): boolean {
  const { data, fetchStatus, fetchFailureReason } = state;
  const isStarting = fetchFailureReason instanceof ApiFailure && fetchFailureReason.isStarting;
  return typeof queryKey[0] === "number" && data === undefined && fetchStatus === "fetching" && !isStarting;
}

export function SlowNotice(): ReactElement {
  const client = useQueryClient();
  const isWaiting = useIsFetching({ predicate: isAwaited }) > 0;
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    setSlow(false);
    if (!isWaiting) return undefined;
    const timer = setTimeout(() => setSlow(true), slowAfterMs);
    return () => clearTimeout(timer);
  }, [isWaiting]);
  return (
    <div role="status" className="empty:hidden">
      {isWaiting && isSlow && (
        <div className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2 rounded border border-edge bg-raised px-4 py-3">
          <p className="min-w-0 grow">Some figures take longer than usual.</p>
          <div className="flex gap-2">
            <Button isSmall onClick={() => setSlow(false)}>
              Keep waiting
            </Button>
            <Button isSmall onClick={() => void client.cancelQueries({ predicate: isAwaited })}>
              Cancel
            </Button>
          </div>
        </div>
      )}
    </div>
  );
}
