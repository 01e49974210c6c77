/** Timelines of users and accounts: events of the warehouse, and alerts, notes, tasks and pulses of the
 * ledger, in one order. Contacts are events of it. */

import { contactEvent } from "../../../contract/api/contacts.ts";
import { type ContactKind, contactKinds } from "../../../contract/notes-and-tasks.ts";
import {
  type AccountTimelineEvent,
  accountTimeline,
  type TimelineEvent,
  type TimelinePosition,
  timeline,
} from "../../analytics/entities/timeline.ts";
import { formatDay } from "../../calendar/days.ts";
import { instant } from "../../calendar/instant.ts";
import { knownAccount } from "../../figures/accounts.ts";
import { withLabels } from "../../figures/event-labels.ts";
import { eventOfUser, objectIn, timelineEvent } from "../../figures/rows.ts";
import { knownUser } from "../../figures/users.ts";
import type { AnalysisHandlers, ApiContext, OrganizationContext } from "../../http/api/context.ts";
import type { EntityRef } from "../../ledger/stores/entity-rows.ts";
import { comparePositions, type WorkEntry, type WorkPosition, workPosition } from "./timeline-entries.ts";

export const timelinesHandlers = {
  "GET /api/users/:userId/timeline": async (context) => {
    const { user } = await knownUser(context);
    const entity = { kind: "user", id: user.userId } as const;
    const { places, next } = await timelineOf(context, entity, (page) =>
      timeline(context.warehouse, { ...page, user: user.number }),
    );
    const labelled = await labelledEvents(context, places);
    return {
      next,
      events: places.map((place) => entryOf(place, labelled, timelineEvent) ?? workFields(place)),
    };
  },

  "GET /api/accounts/:accountId/timeline": async (context) => {
    const { entity: account, accountId } = await knownAccount(context);
    const entity = { kind: "account", id: accountId } as const;
    const { places, next } = await timelineOf(context, entity, (page) =>
      accountTimeline(context.warehouse, { ...page, account }),
    );
    const labelled = await labelledEvents(context, places);
    const nobody = { userId: null, userLabel: null };
    return {
      next,
      events: places.map(
        (place) => entryOf(place, labelled, eventOfUser) ?? { ...workFields(place), ...nobody },
      ),
    };
  },

  "GET /api/users/:userId/contacts": async (context) => {
    const { user } = await knownUser(context);
    const { limit, before } = context.query;
    const page = { ...pageOf(context, before), event: contactEvent, limit, user: user.number };
    const rows = await timeline(context.warehouse, page);
    const name = user.traits.name;
    const userLabel = typeof name === "string" && name !== "" ? name : (user.email ?? user.userId);
    const contacts = rows.map((row) => contactOf(context, { ...row, userId: user.userId, userLabel }));
    return { contacts, next: nextOf(rows.at(-1), rows.length < limit) };
  },

  "GET /api/accounts/:accountId/contacts": async (context) => {
    const { entity: account } = await knownAccount(context);
    const { limit, before } = context.query;
    const page = { ...pageOf(context, before), event: contactEvent, limit, account };
    const rows = await accountTimeline(context.warehouse, page);
    return {
      contacts: rows.map((row) => contactOf(context, row)),
      next: nextOf(rows.at(-1), rows.length < limit),
    };
  },
} satisfies Partial<AnalysisHandlers>;

type TimelineContext = Pick<OrganizationContext, "ledger" | "organization" | "zone" | "nowMs"> & {
  readonly query: ApiContext<"GET /api/users/:userId/timeline">["query"];
};

/** A place of a page: an event, or an alert, a note, a task or a pulse. */
type Place<Event> =
  | { readonly event: Event; readonly at: WorkPosition }
  | { readonly work: WorkEntry; readonly at: WorkPosition };

interface EventPage {
  readonly organization: number;
  readonly limit: number;
  readonly event: string;
  readonly before: TimelinePosition | undefined;
}

/** One page. Both stores are asked for a whole page, because either may have all of it. */
async function timelineOf<Event extends TimelineEvent>(
  { ledger, organization, query, zone, nowMs }: TimelineContext,
  entity: EntityRef,
  events: (page: EventPage) => Promise<readonly Event[]>,
): Promise<{ readonly places: readonly Place<Event>[]; readonly next: string | null }> {
  const { limit, event } = query;
  const before = positionOf(query.before);
  const today = zone.dayOf(nowMs());
  const [found, work] = await Promise.all([
    events({ organization: organization.id, limit, event, before: before && eventPosition(before) }),
    event === ""
      ? ledger.workTimeline.entries(organization.id, entity, { limit, before: before?.at, today })
      : Promise.resolve([]),
  ]);
  // Events of one time are in the order of their ids already.
  const ofEvents = found.map(
    (one): Place<Event> => ({ event: one, at: { atMs: one.timeMs, kind: "event", id: 0 } }),
  );
  const ofWork = work.map((one): Place<Event> => ({ work: one, at: workPosition(one) }));
  const places = [...ofEvents, ...ofWork].toSorted((a, b) => comparePositions(a.at, b.at)).slice(0, limit);
  const last = places.at(-1);
  if (last === undefined || places.length < limit) return { places, next: null };
  const { kind, id, atMs } = last.at;
  return { places, next: `${atMs}.${"event" in last ? last.event.id : `${kind}-${id}`}` };
}

interface SentPosition {
  readonly at: WorkPosition;
  /** Of an event. */
  readonly eventId: string | undefined;
}

/** The position that `next` said; undefined where nothing was sent. */
function positionOf(text: string | undefined): SentPosition | undefined {
  if (text === undefined) return undefined;
  const [atMs = "", rest = ""] = text.split(".");
  const work = /^(alert|note|pulse|task|task_done)-(\d+)$/.exec(rest);
  const kind = work?.[1] as WorkEntry["kind"] | undefined;
  return {
    at: { atMs: Number(atMs), kind: kind ?? "event", id: Number(work?.[2] ?? 0) },
    eventId: kind === undefined ? rest : undefined,
  };
}

/** Behind an alert, a note, a task or a pulse are only events of earlier times. */
function eventPosition({ at, eventId }: SentPosition): TimelinePosition {
  return { timeMs: at.atMs, id: eventId ?? "00000000-0000-0000-0000-000000000000" };
}

function pageOf({ organization }: Pick<OrganizationContext, "organization">, before: string | undefined) {
  const position = positionOf(before);
  return { organization: organization.id, before: position && eventPosition(position) };
}

function nextOf(last: TimelineEvent | undefined, isEnd: boolean): string | null {
  return last === undefined || isEnd ? null : `${last.timeMs}.${last.id}`;
}

type Labelled<Event> = Event & { readonly label: string | null };

/** The events of a page with the names under which they were sent, by their ids. */
async function labelledEvents<Event extends TimelineEvent>(
  context: Parameters<typeof withLabels>[0],
  places: readonly Place<Event>[],
): Promise<ReadonlyMap<string, Labelled<Event>>> {
  const events = places.flatMap((place) => ("event" in place ? [place.event] : []));
  const labelled = await withLabels(context, events);
  return new Map(labelled.map((event) => [event.id, event]));
}

function entryOf<Event extends TimelineEvent, Answer extends object>(
  place: Place<Event>,
  labelled: ReadonlyMap<string, Labelled<Event>>,
  answer: (event: Labelled<Event>) => Answer,
) {
  const event = "event" in place ? labelled.get(place.event.id) : undefined;
  return event === undefined ? undefined : { kind: "event" as const, ...answer(event) };
}

function workFields(place: Place<TimelineEvent>) {
  if (!("work" in place)) throw new Error("an event of a timeline lost its label");
  const { work } = place;
  const { kind, atMs } = work;
  const { id } = workPosition(work);
  const common = { kind, event: kind, label: null, isActivity: false, id: String(id) };
  const times = { timestamp: instant(atMs), receivedAt: instant(atMs) };
  if (work.kind === "note") {
    return {
      ...common,
      ...times,
      properties: { text: work.note.text, by: work.note.createdBy?.name ?? work.note.author },
    };
  }
  if (work.kind === "pulse") {
    const { value, text, saidBy } = work.pulse;
    return { ...common, ...times, properties: { value, text, by: saidBy?.name ?? null } };
  }
  if (work.kind === "alert") {
    const { rule, before, after, reasons, closedWhy } = work.alert;
    const texts = reasons.map(({ text }) => text);
    return { ...common, ...times, properties: { rule: rule.name, before, after, reasons: texts, closedWhy } };
  }
  const { title, dueDay, assignee, formerAssignee, createdBy, author, doneBy } = work.task;
  const by = work.kind === "task" ? (createdBy?.name ?? author) : (doneBy?.name ?? null);
  const due = dueDay === null ? null : formatDay(dueDay);
  return { ...common, ...times, properties: { title, due, assignee: assignee?.name ?? formerAssignee, by } };
}

/** A contact: what an event of an application says that is no text or no known kind is left out. */
function contactOf({ zone }: Pick<OrganizationContext, "zone">, row: AccountTimelineEvent) {
  const { id, timeMs, userId, userLabel } = row;
  const { kind, by, text } = objectIn(row.properties);
  const isKind = contactKinds.some((known) => known === kind);
  const textOrNull = (value: unknown) => (typeof value === "string" ? value : null);
  return {
    id,
    timestamp: instant(timeMs),
    day: formatDay(zone.dayOf(timeMs)),
    kind: isKind ? (kind as ContactKind) : null,
    by: textOrNull(by),
    text: textOrNull(text),
    userId,
    userLabel,
  };
}
