/** The first of the call list. */
import type { ReactElement } from "react";
import { EntityLink } from "../../parts/entity-link.tsx";
import { ListLink } from "../../parts/list/list-link.tsx";
import { FigurePanel, Loading } from "../../parts/states.tsx";
import { numbers } from "../../text/format.ts";
import { plural } from "./filters.ts";
import { inSegment, those } from "./lists.ts";
import { useSegment } from "./of-segment.tsx";
import { useWeek, type Week, Words } from "./week.tsx";

export function CallCard(): ReactElement {
  return (
    <FigurePanel title="Call first" asked={useWeek()} loading={<Loading rows={4} height={30} />}>
      {(week) => <CallFirst week={week} />}
    </FigurePanel>
  );
}

function CallFirst({
  week: { callFirst, callNote, callTotal, sentences },
}: {
  week: Week;
}): ReactElement | null {
  const { segment } = useSegment();
  const said = sentences.find(({ about }) => about === "call");
  const [first] = callFirst;
  if (first === undefined) return said === undefined ? null : <Words parts={said.parts} />;
  return (
    <>
      {callNote !== null && <p className="text-sm">{callNote}</p>}
      <ol className="grid gap-3">
        {callFirst.map((each) => (
          <li key={each.id} className="min-w-0">
            <span className="line-clamp-2 [overflow-wrap:anywhere]" title={each.label || each.id}>
              <EntityLink {...each} />
            </span>
            <p className="text-sm">
              <Words parts={each.parts} />
            </p>
          </li>
        ))}
      </ol>
      <p className="mt-3 text-sm text-soft">
        {callTotal > callFirst.length && "The first of "}
        <ListLink list={inSegment(those(first.kind, { toCall: "true", sort: "risk" }), segment)}>
          {numbers.count(callTotal)} {callTotal === 1 ? first.kind : plural[first.kind]}
        </ListLink>{" "}
        with a high churn risk or a sharp fall in health.
      </p>
    </>
  );
}
