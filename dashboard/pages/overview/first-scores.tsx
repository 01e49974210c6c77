/** Before the first scores: when they come, and a button that scores at once. */
import type { ReactElement } from "react";
import { useChange } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { FormError } from "../../parts/form/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Empty } from "../../parts/states.tsx";
import { useTell } from "../../parts/toast.tsx";
import { dayText, numbers } from "../../text/format.ts";
import { useWeek } from "./week.tsx";

const untilScoredMs = 10_000;

/** @param hasWholeDay whether anything happened before today: scores count whole days */
export function FirstScores({ hasWholeDay }: { hasWholeDay: boolean }): ReactElement {
  const mayScore = useMayAs("member");
  // The page asks the same: once there are scores, this panel goes.
  useWeek({ everyMs: untilScoredMs });
  return (
    <Panel title="Health and churn risk">
      {hasWholeDay ? (
        <Empty title="No scores yet">
          <p>Users and accounts are scored every night. The first scores appear here by themselves.</p>
          {mayScore ? <ScoreNow /> : <p>Members and owners can score at once.</p>}
        </Empty>
      ) : (
        <Empty title="The first scores appear tomorrow">
          <p>Scores count whole days, and today is the first. They appear here by themselves.</p>
        </Empty>
      )}
    </Panel>
  );
}

function ScoreNow(): ReactElement {
  const change = useChange("POST /api/scores");
  const tell = useTell();
  const score = () =>
    change.mutate(
      {},
      {
        onSuccess: ({ users, accounts, stoppedSince, silentSource }) => {
          if (silentSource !== null) tell(`Not scored: the source ${silentSource} is silent.`);
          else if (stoppedSince !== null) tell(`Not scored: no data since ${dayText(stoppedSince)}.`);
          else tell(`Scored ${numbers.count(users)} users and ${numbers.count(accounts)} accounts.`);
        },
      },
    );
  return (
    <div className="mt-4 grid justify-items-center gap-3">
      <Button look="primary" isBusy={change.isPending} onClick={score}>
        Score now
      </Button>
      <FormError error={change.error} />
    </div>
  );
}
