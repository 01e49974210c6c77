/** The week in sentences. */
import type { ReactElement } from "react";
import { type Asked, type ReadOptions, type Reads, useRead } from "../../api/query.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Badge } from "../../parts/figure/health.tsx";
import { ListLink } from "../../parts/list/list-link.tsx";
import { FigurePanel, Loading } from "../../parts/states.tsx";
import { dayText, numbers } from "../../text/format.ts";
import { OfSegment, useSegment } from "./of-segment.tsx";

export type Week = Reads["/api/week-summary"]["answer"];
type Sentence = Week["sentences"][number];

const abouts: Record<Sentence["about"], string> = {
  data: "Data",
  active: "Activity",
  lifecycle: "User lifecycle",
  health: "Health",
  risk: "Churn risk",
  call: "Call first",
};

/** The summary of the week, of the segment that is chosen or of all. */
export function useWeek(
  options: Pick<ReadOptions<"/api/week-summary">, "enabled" | "everyMs"> = {},
): Asked<Week> {
  return useRead("/api/week-summary", { query: useSegment(), keepsPrevious: true, ...options });
}

/** What has to be known at once: missing data, what is unusual, and in place of a call list who has not
 * come. */
function isNotable({ about, tone, isUnusual }: Sentence): boolean {
  if (about === "call") return tone === "neutral";
  return about === "data" || tone === "bad" || isUnusual === true;
}

/** The week of the segment that is chosen or of all. @param isWhole with the sentences that say that all is
 * as usual */
export function WeekPanel({ isWhole }: { isWhole: boolean }): ReactElement {
  const asked = useWeek();
  const { segment } = useSegment();
  const { data } = asked;
  const whose = segment === undefined ? "" : ". All weeks count the segment’s current members";
  return (
    <FigurePanel
      title="The week"
      note={
        data?.sentences.some(({ about }) => about !== "data") &&
        `${dayText(data.fromDay, "short")} to ${dayText(data.toDay)}${whose}`
      }
      actions={<OfSegment />}
      asked={asked}
      loading={<Loading rows={6} height={30} />}
    >
      {({ sentences }) => {
        const shown = sentences.filter(
          (sentence) => isNotable(sentence) || (isWhole && sentence.about !== "call"),
        );
        if (shown.length === 0) return <p className="text-soft">Nothing unusual.</p>;
        return (
          <dl className="grid content-start">
            {shown.map((sentence) => (
              <SentenceLine key={sentence.text} sentence={sentence} />
            ))}
          </dl>
        );
      }}
    </FigurePanel>
  );
}

function SentenceLine({ sentence }: { sentence: Sentence }): ReactElement {
  const { about, tone, usual, isUnusual } = sentence;
  return (
    <div className="grid gap-x-4 border-t border-line py-2.5 first:border-0 first:pt-0 sm:grid-cols-[9rem_minmax(0,1fr)]">
      <dt className="text-sm leading-[1.375rem] text-soft">{abouts[about]}</dt>
      <dd className="max-w-[76ch]" title={usual === null ? undefined : usualText(usual)}>
        {about === "data" && tone === "bad" && <Badge tone="bad">Check this first</Badge>}{" "}
        {isUnusual === true && (
          <Badge tone={tone === "good" ? "good" : tone === "bad" ? "bad" : "warn"}>Unusual</Badge>
        )}{" "}
        <Words parts={sentence.parts} />
      </dd>
    </div>
  );
}

function usualText({ low, high, weeks }: NonNullable<Sentence["usual"]>): string {
  return `Usual change in a week: ${numbers.change(Math.round(low))} to ${numbers.change(Math.round(high))} (95%, from the ${weeks} weeks before).`;
}

/** The parts of a sentence. Numbers link to the list behind them. */
function Words({ parts }: { parts: Sentence["parts"] }): ReactElement {
  return (
    <>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a sentence is replaced whole
        <PartOf key={index} part={part} />
      ))}
    </>
  );
}

function PartOf({ part: { form, text, value, list } }: { part: Sentence["parts"][number] }): ReactElement {
  if (form === "user" || form === "account")
    return <EntityLink kind={form} id={String(value)} label={text} />;
  if (form === "day") return <>{dayText(String(value), "short")}</>;
  if (form === "words") return <>{text}</>;
  const say = { count: numbers.count, change: numbers.shareChange, share: numbers.share }[form];
  const number = <b className="font-medium">{say(Number(value))}</b>;
  return list !== undefined && value !== 0 ? <ListLink list={list}>{number}</ListLink> : number;
}
