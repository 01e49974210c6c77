/** Stores segments. */

import { Refusal } from "../../../contract/refusal.ts";
import type { Filter } from "../../../contract/segments/filters.ts";
import type { Actor } from "../../ledger/audit.ts";
import type { Engine } from "../../ledger/engine.ts";
import { noAccount } from "../../ledger/rules/member-notes.ts";
import {
  refuseInvalidFilter,
  refuseInvalidSegments,
  refuseTooManyConditions,
  refuseUsedSegment,
  type Segment,
  segmentsWith,
} from "../../ledger/rules/segment-rules.ts";
import {
  exists,
  integer,
  Json,
  json,
  nullable,
  part,
  RowOf,
  returningOne,
  run,
  select,
  text,
  type Work,
  word,
} from "../../ledger/sql.ts";
import { lockKnownOrganization, lockOrganization } from "../../ledger/stores/organization-rows.ts";
import { rulesWithSegment } from "../alerts/store/segments-of-rules.ts";
import {
  type FoundMembers,
  findMembers,
  lockOutErasures,
  numbersOfSegment,
  segmentsOfEntity,
  setMembers,
  sizeOfFixed,
} from "./fixed-members.ts";
import {
  type NewSegment,
  refuseTooManySegments,
  type SavedSegment,
  type SegmentChange,
  type SegmentContent,
  segmentChangedNote,
  segmentDeletedNote,
  segmentNameTaken,
  segmentSavedNote,
} from "./segments.ts";

const segmentRow = new RowOf<Segment>({
  id: integer("segments.id"),
  kind: word(),
  name: text("segments.name"),
  filter: nullable(json<Filter>()),
  fixed: nullable(integer(`CASE WHEN filter IS NULL THEN ${sizeOfFixed} END`)),
  createdBy: nullable(text("people.name")),
  createdAtMs: integer("segments.created_at_ms"),
  updatedAtMs: integer("segments.updated_at_ms"),
  contentAtMs: integer("segments.content_at_ms"),
});
const withCreator = part`FROM segments LEFT JOIN people ON people.id = created_by`;
const organizationRow = new RowOf<{ readonly organization: number }>({ organization: integer() });
const segmentId = new RowOf<Pick<Segment, "id">>({ id: integer() });
const kindRow = new RowOf<Pick<Segment, "kind">>({ kind: word() });

/** The store of segments. */
export function segmentStore(engine: Engine) {
  return {
    /** The ids of organizations with segments, ascending. */
    organizations: (): Promise<readonly number[]> => engine.alone(organizations()),

    /** Sorted by name. */
    list: (organization: number): Promise<readonly Segment[]> => engine.alone(all(organization)),

    /** The numbers of the users or accounts of a fixed segment, ascending; none of any other segment. */
    numbers: (organization: number, id: number): Promise<readonly number[]> =>
      engine.alone(numbersOfSegment(organization, id)),

    /** Fixed segments that have the user with this number, by name. */
    ofUser: async (organization: number, user: number): Promise<readonly Pick<Segment, "id" | "name">[]> => {
      const found = await engine.alone(segmentsOfEntity(organization, { user, account: 0 }));
      return found.map(({ id, name }) => ({ id, name }));
    },

    /** @throws Refusal when another segment has the name, there are too many, the filter is not valid, no id
     * is known, or the organization or the person does not exist. */
    add: async (
      organization: number,
      { kind, name, content }: NewSegment,
      by: Actor,
      nowMs: number,
    ): Promise<SavedSegment> => {
      const members = await findMembers(engine, organization, kind, content);
      return engine.transaction(function* (audit) {
        if (members !== undefined) yield* lockOutErasures(organization);
        yield* lockKnownOrganization(organization);
        const others = yield* all(organization);
        refuseTooManySegments(others.length);
        refuseName(others, name);
        const filter = filterOf(content);
        refuseContent(others, { id: 0, kind, name, filter });
        const person = by.person?.id ?? null;
        if (person !== null && !(yield* exists`FROM people WHERE id = ${person}`)) throw noAccount();
        const { id } = yield* returningOne(segmentId)`
          INSERT INTO segments
            (organization, kind, name, filter, created_by, created_at_ms, updated_at_ms, content_at_ms)
          VALUES (${organization}, ${kind}, ${name}, ${filter && Json.of(filter)}, ${person}, ${nowMs}, ${nowMs},
            ${nowMs})`;
        yield* setContent({ organization, id, kind }, content, members);
        const segment = yield* found(organization, id);
        yield* audit.note(organization, segmentSavedNote(segment), by, nowMs);
        return { segment, unknownIds: members?.unknownIds ?? [] };
      });
    },

    /** Changes the given fields. A fixed segment stays one. @returns undefined when the organization has no
     * such segment.
     * @throws Refusal as `add` */
    change: async (
      organization: number,
      id: number,
      change: SegmentChange,
      by: Actor,
      nowMs: number,
    ): Promise<SavedSegment | undefined> => {
      const kind = await engine.alone(kindOf(organization, id));
      if (kind === undefined) return undefined;
      const members = await findMembers(engine, organization, kind, change.content);
      return engine.transaction(function* (audit) {
        if (members !== undefined) yield* lockOutErasures(organization);
        yield* lockOrganization(organization);
        const segments = yield* all(organization);
        const before = segments.find((one) => one.id === id);
        if (before === undefined) return undefined;
        if (isSame(before, change)) return { segment: before, unknownIds: [] };
        const others = segments.filter((one) => one.id !== id);
        yield* setChanged(before, others, change, nowMs);
        if (change.content !== undefined)
          yield* setContent({ ...before, organization }, change.content, members);
        const segment = yield* found(organization, id);
        yield* audit.note(organization, segmentChangedNote(before, segment), by, nowMs);
        return { segment, unknownIds: members?.unknownIds ?? [] };
      });
    },

    /** @returns false when the organization has no such segment.
     * @throws ApiError (conflict) when another segment has it in its filter, or an alert rule uses it */
    remove: (organization: number, id: number, by: Actor, nowMs: number): Promise<boolean> =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const segments = yield* all(organization);
        const before = segments.find((one) => one.id === id);
        if (before === undefined) return false;
        const others = segmentsWith(segments, id).map(({ name }) => name);
        refuseUsedSegment(others, yield* rulesWithSegment(organization, id));
        yield* run`DELETE FROM segments WHERE id = ${id}`;
        yield* audit.note(organization, segmentDeletedNote(before), by, nowMs);
        return true;
      }),
  };
}

export type SegmentStore = ReturnType<typeof segmentStore>;

/** The kind of a segment, which never changes. Undefined if the organization has no such segment. */
function* kindOf(organization: number, id: number): Work<Segment["kind"] | undefined> {
  const [row] = yield* select(kindRow)`FROM segments WHERE organization = ${organization} AND id = ${id}`;
  return row?.kind;
}

function* organizations(): Work<readonly number[]> {
  const rows = yield* select(organizationRow)`FROM segments GROUP BY organization ORDER BY organization`;
  return rows.map(({ organization }) => organization);
}

function all(organization: number) {
  return select(segmentRow)`${withCreator} WHERE organization = ${organization} ORDER BY segments.name`;
}

function* found(organization: number, id: number): Work<Segment> {
  const [segment] = yield* select(segmentRow)`
    ${withCreator} WHERE organization = ${organization} AND segments.id = ${id}`;
  if (segment === undefined) throw new Error("A segment that was just saved is not there.");
  return segment;
}

function filterOf(content: SegmentContent): Filter | null {
  return "filter" in content ? content.filter : null;
}

/** Whether a change changes nothing. Ids are always stored anew. */
function isSame(before: Segment, { name = before.name, content }: SegmentChange): boolean {
  if (name !== before.name) return false;
  if (content === undefined) return true;
  return "filter" in content && JSON.stringify(content.filter) === JSON.stringify(before.filter);
}

/** Changes the row of a segment. @throws Refusal when the change is not valid beside the others */
function* setChanged(
  before: Segment,
  others: readonly Segment[],
  { name = before.name, content }: SegmentChange,
  nowMs: number,
): Work<void> {
  refuseName(others, name);
  const filter = content === undefined ? before.filter : filterOf(content);
  if (content !== undefined) {
    refuseOtherForm(before, content);
    refuseContent(others, { ...before, filter });
  }
  yield* run`
    UPDATE segments SET name = ${name}, filter = ${filter && Json.of(filter)}, updated_at_ms = ${nowMs},
      content_at_ms = ${content === undefined ? before.contentAtMs : nowMs}
    WHERE id = ${before.id}`;
}

/** @throws Refusal when another segment has the name */
function refuseName(others: readonly Segment[], name: string): void {
  if (others.some((one) => one.name === name)) throw segmentNameTaken(name);
}

/** @throws Refusal when a filter is not valid, by itself or beside the others */
function refuseContent(
  others: readonly Segment[],
  segment: Pick<Segment, "id" | "kind" | "name" | "filter">,
): void {
  if (segment.filter !== null) refuseInvalidFilter(segment.kind, segment.filter);
  refuseInvalidSegments([...others, segment]);
  refuseTooManyConditions([...others, segment], segment.id);
}

/** @throws Refusal when ids are given to a segment with a filter, or a filter to a fixed one */
function refuseOtherForm({ filter }: Segment, content: SegmentContent): void {
  if ("filter" in content === (filter !== null)) return;
  throw new Refusal(
    filter === null
      ? "filter cannot be set: the segment is fixed."
      : "ids cannot be set: the segment has a filter.",
  );
}

/** Stores the users or accounts of a fixed segment. @param members undefined for a filter */
function* setContent(
  segment: Parameters<typeof setMembers>[0],
  content: SegmentContent,
  members: FoundMembers | undefined,
): Work<void> {
  if (members !== undefined && !("filter" in content)) yield* setMembers(segment, content, members);
}
