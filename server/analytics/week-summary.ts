/**
 * The week as sentences: what changed, by how much, whether that is more than weeks usually differ, and the
 * call list. Every word follows from the given figures; unknown figures are called unknown. Pure.
 */

import { formatDay } from "../calendar/days.ts";
import { type JudgedChange, judgeChange, quietWeeks } from "../scoring/statistics/usual.ts";
import {
  change,
  count,
  counted,
  dayPart,
  type ListBehind,
  type Piece,
  share,
  usersBehind,
} from "./sentence.ts";
import { aboutScores, notScored, type ScoresOfWeek, type StoppedUsers } from "./week-scores.ts";
import { judgedWords, type Sentence, sentence, toneOf } from "./week-sentence.ts";

/** Users of seven days. */
export interface WeekOfUsers {
  readonly active: number;
  readonly new: number;
  readonly resurrected: number;
  readonly dormant: number;
}

export interface WeekFigures {
  /** The last of the seven days. */
  readonly toDay: number;
  /** The oldest first; the last are the seven days. */
  readonly weeks: readonly WeekOfUsers[];
  readonly stoppedSince: number | null;
  /** The day on which the organization's data begins; null without data. Needed only of a segment, and when
   * no week has any. */
  readonly firstDay: number | null;
  /** Whether the weeks and scores are those of a segment's users. */
  readonly isOfSegment: boolean;
  /** Null before the first scores. */
  readonly scores: ScoresOfWeek | null;
}

/** The sentences about a week, the weightiest first. */
export function weekSummary(figures: WeekFigures): Sentence[] {
  const covered = coveredWeeks(figures);
  if (covered.length === 0 && figures.weeks.every(({ active }) => active === 0)) {
    return [sentence("data", "neutral", [withoutWeeks(figures)])];
  }
  return [
    ...(figures.stoppedSince === null ? [] : [stopped(figures.stoppedSince)]),
    ...aboutActivity(figures, covered),
    ...(figures.scores === null
      ? [notScored()]
      : aboutScores(figures.scores, { isOfSegment: figures.isOfSegment, stopped: stoppedUsers(figures) })),
  ];
}

function withoutWeeks({ firstDay, toDay, weeks, isOfSegment }: WeekFigures): string {
  if (firstDay === null) return "No events yet.";
  const user = isOfSegment ? "user of the segment" : "user";
  if (firstDay <= toDay) return `No ${user} was active in the ${weeks.length} weeks to yesterday.`;
  // Day 4 since 1970-01-01 was a Monday. On a Monday the first week has just begun.
  const monday = (firstDay - 4) % 7 === 0 ? "next Monday" : "on Monday";
  return `Your first events came today. The first week's summary is here ${monday}.`;
}

/** Weeks that are wholly within the data, the newest first: the one in which it begins is cut off. */
function coveredWeeks({ weeks, toDay, firstDay, isOfSegment }: WeekFigures): readonly WeekOfUsers[] {
  const first = weeks.findIndex(({ active }) => active > 0);
  if (first < 0) return [];
  if (!isOfSegment) return weeks.slice(afterCutOff(first)).toReversed();
  // The first week of a segment's users is whole if the organization has data before. The week before it can
  // be compared with.
  const begin = firstDay === null ? first : weeks.length - 1 - Math.floor((toDay - firstDay) / 7);
  return weeks.slice(Math.max(afterCutOff(begin), Math.min(first, weeks.length - 2))).toReversed();
}

/** The first whole week. @param begin the index of the week in which data begins */
function afterCutOff(begin: number): number {
  return begin <= 0 ? 0 : begin + 1;
}

function stopped(day: number): Sentence {
  return sentence("data", "bad", [
    "No data since ",
    dayPart(day),
    ": data collection has stopped, or a source has. Check that first, because the figures below are incomplete.",
  ]);
}

function aboutActivity(
  { toDay, weeks, stoppedSince }: WeekFigures,
  covered: readonly WeekOfUsers[],
): Sentence[] {
  const now = weeks.at(-1);
  if (now === undefined) return [];
  const days: Piece = ["in the 7 days to ", dayPart(toDay)];
  const list = activeOn(toDay);
  if (covered.length < 2) {
    const are = now.active === 1 ? " was" : " were";
    return [
      sentence("active", "neutral", [
        [counted(now.active, "user", list), `${are} active `, days],
        ". Nothing to compare yet: the data does not cover the week before.",
      ]),
    ];
  }
  const quiet = quietWeeks(covered.map(({ active }) => active));
  const usual = stoppedSince === null ? quiet.get(0) : undefined;
  // A quiet week says nothing about the changes of others.
  const levels = (of: (week: WeekOfUsers) => number) =>
    covered.map((week, index) => (index > 1 && quiet.has(index) ? null : of(week)));
  const active = judgeChange(levels((week) => week.active));
  const dormant = judgeChange(levels((week) => week.dormant));
  return [
    activeSentence({ now: now.active, before: covered[1]?.active ?? 0, list }, days, active),
    ...(usual === undefined ? [] : [quietSentence(now.active, usual)]),
    sentence(
      "lifecycle",
      toneOf(dormant, "below"),
      [
        [count(now.new, activeOn(toDay, "new")), " new, "],
        [count(now.resurrected, activeOn(toDay, "resurrected")), " back after a week or more, "],
        [count(now.dormant, activeOn(toDay, "dormant")), " stopped"],
        [dormantTail(dormant)],
      ],
      dormant,
    ),
  ];
}

/** Users who came in the week before and not in the seven days. */
function stoppedUsers({ weeks, toDay }: WeekFigures): StoppedUsers {
  return { users: weeks.at(-1)?.dormant ?? 0, list: activeOn(toDay, "dormant") };
}

/** The list of users who were active in the seven days. @param lifecycle only those in this stage */
function activeOn(toDay: number, lifecycle?: string): ListBehind {
  return usersBehind({
    activeFrom: formatDay(toDay - 6),
    activeTo: formatDay(toDay),
    ...(lifecycle !== undefined && { lifecycle }),
  });
}

function activeSentence(
  { now, before, list }: { readonly now: number; readonly before: number; readonly list: ListBehind },
  days: Piece,
  judged: JudgedChange | undefined,
): Sentence {
  const difference = now - before;
  const compared: Piece =
    difference === 0
      ? ", as many as the week before"
      : [
          [", ", count(Math.abs(difference)), difference > 0 ? " more" : " fewer", " than the week before"],
          before === 0 ? "" : [" (", change(difference / before), ")"],
        ];
  return sentence(
    "active",
    toneOf(judged, "above"),
    [
      [counted(now, "user", list), now === 1 ? " was" : " were", " active ", days, compared, ". "],
      judgedWords(judged),
    ],
    judged,
  );
}

/** Data keeps arriving, so this is no outage: a holiday, a season, or users who left. */
function quietSentence(now: number, usual: number): Sentence {
  return sentence("active", "bad", [
    ["Activity is ", share(1 - now / usual), " below usual: ", counted(Math.round(usual), "user")],
    " were active in the median of earlier weeks. Data keeps arriving, so scores go on.",
  ]);
}

/** How the number of users who stopped compares with the week before. */
function dormantTail(judged: JudgedChange | undefined): Piece {
  if (judged === undefined) return ".";
  if (judged.side === "within") return ". All normal.";
  const by: Piece =
    judged.change === 0
      ? ", as many as the week before. "
      : [
          [", ", count(Math.abs(judged.change)), judged.change > 0 ? " more" : " fewer"],
          " than the week before. ",
        ];
  return [by, judgedWords(judged)];
}
