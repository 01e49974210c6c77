/** The active members of an account, and their shares of the activity. */
import type { ReactElement } from "react";
import type { Asked, Reads } from "../../api/query.ts";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { counted, dayText, numbers } from "../../text/format.ts";
import { membersText } from "./first-line-words.ts";

type Members = Reads["/api/accounts/:accountId/members"]["answer"];

/** So many members have a part of the strip of their own. */
const ownParts = 4;
const tones = ["bg-series-1", "bg-series-2", "bg-series-3", "bg-series-4", "bg-edge"];

/** A sentence and a strip of shares. */
export function CarriersPanel({ asked }: { asked: Asked<Members> }): ReactElement {
  return (
    <FigurePanel
      title="Activity by member"
      note="Shares of the activity in 28 days, weighted as in engagement."
      asked={asked}
      loading={<Loading rows={4} />}
    >
      {(answer) => {
        const { active28, active90, activeShare, members, isInUse, day } = answer;
        if (activeShare === null) {
          return (
            <Empty title="Not used in 90 days">
              No member was active in the 90 days before {dayText(day)}.
            </Empty>
          );
        }
        const own = members.filter(({ share }) => (share ?? 0) > 0).slice(0, ownParts);
        const rest = Math.max(0, 1 - own.reduce((sum, { share }) => sum + (share ?? 0), 0));
        const others = active28 - own.length;
        const parts = [
          ...own.map(({ userId, name, email, share }) => ({
            id: userId,
            label: name ?? email ?? userId,
            share: share ?? 0,
          })),
          ...(others > 0 ? [{ id: "", label: counted(others, "other"), share: rest }] : []),
        ];
        return (
          <>
            <p className="mb-3">
              <b className="font-semibold">{membersText(answer)}</b> {active90 === 1 ? "member" : "members"}{" "}
              active in the last 90 days {active28 === 1 ? "was" : "were"} active in the last 28 (
              {numbers.wholeShare(activeShare)}). {dependence(answer)}
            </p>
            {isInUse && parts.length > 0 && <Strip parts={parts} />}
          </>
        );
      }}
    </FigurePanel>
  );
}

/** How many members the use depends on. A few days of use are too little to say. */
function dependence({ topShare, active28, activeDays28, isInUse }: Members): string {
  if (topShare === null) return "No activity in the last 28 days.";
  if (!isInUse) return `It was active on ${numbers.count(activeDays28 ?? 0)} of the last 28 days.`;
  if (active28 === 1) return "Used by one person only.";
  if (topShare >= 0.6) return "Depends on one person.";
  return topShare >= 0.4 ? "One person does much of the work." : "Used by several people.";
}

function Strip({ parts }: { parts: readonly { id: string; label: string; share: number }[] }): ReactElement {
  return (
    <>
      <div aria-hidden="true" className="flex h-4 gap-px">
        {parts.map(({ id, share }, index) => (
          <span
            key={id}
            className={id === "" ? "bg-edge" : tones[index]}
            style={{ width: `${share * 100}%` }}
          />
        ))}
      </div>
      <ul className="mt-2 grid grid-cols-[minmax(0,1fr)] gap-x-6 gap-y-0.5 text-sm">
        {parts.map(({ id, label, share }, index) => (
          <li key={id} className="flex items-center gap-2">
            <span
              aria-hidden="true"
              className={`size-2.5 shrink-0 ${id === "" ? "bg-edge" : tones[index]}`}
            />
            <span className="min-w-0 truncate">{label}</span>
            <span className="ml-auto font-medium">{numbers.share(share)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
