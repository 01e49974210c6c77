/** The outcome of a test message. */
import { type ReactElement, useState } from "react";
import { useRead } from "../../api/query.ts";
import { RelativeTime } from "../../parts/time.tsx";

/** Times between reads before the first attempt and after it: another one may follow. */
const everyMs = { before: 1_000, after: 5_000 } as const;

export function TestOutcome({
  destination,
  delivery,
}: {
  destination: number;
  delivery: number;
}): ReactElement {
  const [isSent, setSent] = useState(false);
  const asked = useRead("/api/deliveries", {
    query: { destination, limit: 20 },
    everyMs: isSent ? everyMs.after : everyMs.before,
  });
  const found = asked.data?.deliveries.find(({ id }) => id === delivery);
  const isWaiting = found === undefined || (found.state === "pending" && found.attempts === 0);
  if (isSent === isWaiting) setSent(!isWaiting);
  if (isWaiting) {
    return (
      <p role="status" className="text-sm text-soft">
        Sending the test …
      </p>
    );
  }
  const { state, status, said, attemptedAt } = found;
  const answer = status === null ? "" : `, with the answer ${status}`;
  if (state === "delivered") {
    return (
      <p role="status" className="text-sm">
        The test was delivered <RelativeTime instant={attemptedAt} />
        {answer}.
      </p>
    );
  }
  return (
    <div role="status" className="text-sm [overflow-wrap:anywhere]">
      <p className="text-at-risk">
        The test {state === "held" ? "is held" : "failed"}
        {answer}
        {said !== null && said !== "" && `: ${said}`}
      </p>
      {state === "pending" && <p className="text-soft">It is sent again later.</p>}
    </div>
  );
}
