/** Stores segments. */
import type { Filter } from "../../../../contract/actions/filters.ts";
import type { SegmentKind } from "../../../../contract/actions/segments.ts";
import { Refusal } from "../../../../contract/refusal.ts";
import {
  refuseTooManySegments,
  type Segment,
  type SegmentChange,
  type SegmentContent,
  type SegmentStore,
  segmentChangedNote,
  segmentDeletedNote,
  segmentNameTaken,
  segmentSavedNote,
} from "../../ports/actions/segments.ts";
import { noAccount } from "../../rules/member-notes.ts";
import {
  refuseInvalidFilter,
  refuseInvalidSegments,
  refuseUsedSegment,
  segmentsWith,
} from "../../rules/segment-rules.ts";
import { ids as idsAsRows, texts } from "../engine/dialect.ts";
import type { Engine } from "../engine/engine.ts";
import {
  exists,
  integer,
  Json,
  json,
  nullable,
  part,
  perEngine,
  RowOf,
  returningOne,
  run,
  select,
  sqlText,
  text,
  type Work,
  word,
} from "../engine/sql.ts";
import { lockKnownOrganization, lockOrganization } from "../organization-rows.ts";
import { rulesWithSegment } from "./segments-of-rules.ts";

const segmentRow = new RowOf<Segment>({
  id: integer("segments.id"),
  kind: word(),
  name: text("segments.name"),
  filter: nullable(json<Filter>()),
  fixed: nullable(
    integer(`CASE WHEN filter IS NULL THEN
      (SELECT count(*) FROM segment_entities WHERE segment_entities.segment = segments.id) END`),
  ),
  createdBy: nullable(text("people.name")),
  createdAtMs: integer("segments.created_at_ms"),
  updatedAtMs: integer("segments.updated_at_ms"),
  contentAtMs: integer("segments.content_at_ms"),
});
const withCreator = part`FROM segments LEFT JOIN people ON people.id = created_by`;
const organizationRow = new RowOf<{ readonly organization: number }>({ organization: integer() });
const segmentId = new RowOf<Pick<Segment, "id">>({ id: integer() });
const namedRow = new RowOf<Pick<Segment, "id" | "name">>({
  id: integer("segments.id"),
  name: text("segments.name"),
});
const numberRow = new RowOf<{ readonly number: number }>({ number: integer("user_number + account_number") });
const idColumns = { users: "user_id", accounts: "account_id" } as const;
const foundRow = (kind: SegmentKind) =>
  new RowOf<{ readonly id: string; readonly number: number }>({
    id: text(idColumns[kind]),
    number: integer(),
  });

/** The store of segments. */
export function segmentStore(engine: Engine): SegmentStore {
  return {
    organizations: () => engine.alone(organizations()),

    list: (organization) => engine.alone(all(organization)),

    numbers: async (organization, id) => {
      const rows = await engine.alone(
        select(numberRow)`
          FROM segment_entities WHERE segment = ${id} AND organization = ${organization}
          ORDER BY user_number, account_number`,
      );
      return rows.map(({ number }) => number);
    },

    ofUser: (organization, user) =>
      engine.alone(
        select(namedRow)`
          FROM segments JOIN segment_entities ON segment_entities.segment = segments.id
          WHERE segment_entities.organization = ${organization} AND user_number = ${user} AND account_number = 0
          ORDER BY segments.name`,
      ),

    add: (organization, { kind, name, content }, by, nowMs) =>
      engine.transaction(function* (audit) {
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
        const unknownIds = yield* setIds({ organization, id, kind }, content);
        const segment = yield* found(organization, id);
        yield* audit.note(organization, segmentSavedNote(segment), by, nowMs);
        return { segment, unknownIds };
      }),

    change: (organization, id, change, by, nowMs) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const segments = yield* all(organization);
        const before = segments.find((one) => one.id === id);
        if (before === undefined) return undefined;
        if (isSame(before, change)) return { segment: before, unknownIds: [] };
        const others = segments.filter((one) => one.id !== id);
        const unknownIds = yield* setChanged(organization, before, others, change, nowMs);
        const segment = yield* found(organization, id);
        yield* audit.note(organization, segmentChangedNote(before, segment), by, nowMs);
        return { segment, unknownIds };
      }),

    remove: (organization, id, by, nowMs) =>
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

/** Takes an erased user or account out of fixed segments. */
export function* leaveSegments(
  organization: number,
  { user, account }: { readonly user: number; readonly account: number },
): Work<void> {
  yield* run`
    DELETE FROM segment_entities WHERE organization = ${organization} AND user_number = ${user}
      AND account_number = ${account}`;
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

/** @returns ids that mean no user, or no account @throws Refusal when the change is not valid beside the others */
function* setChanged(
  organization: number,
  before: Segment,
  others: readonly Segment[],
  { name = before.name, content }: SegmentChange,
  nowMs: number,
): Work<readonly string[]> {
  refuseName(others, name);
  const filter = content === undefined ? before.filter : filterOf(content);
  if (content !== undefined) {
    refuseOtherForm(before, content);
    refuseContent(others, { ...before, filter });
  }
  const { id, kind } = before;
  yield* run`
    UPDATE segments SET name = ${name}, filter = ${filter && Json.of(filter)}, updated_at_ms = ${nowMs},
      content_at_ms = ${content === undefined ? before.contentAtMs : nowMs}
    WHERE id = ${id}`;
  return content === undefined ? [] : yield* setIds({ organization, id, kind }, content);
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

interface FixedSegment {
  readonly organization: number;
  readonly id: number;
  readonly kind: SegmentKind;
}

/** Stores the users or accounts of a fixed segment instead of those before. @returns ids that mean none */
function* setIds(segment: FixedSegment, content: SegmentContent): Work<readonly string[]> {
  if ("filter" in content) return [];
  const { organization, id, kind } = segment;
  const { numbers, unknownIds } =
    "ids" in content ? yield* numbersOf(segment, content.ids) : { numbers: content.numbers, unknownIds: [] };
  yield* run`DELETE FROM segment_entities WHERE segment = ${id}`;
  const columns = kind === "users" ? part`number, 0` : part`0, number`;
  const stored = yield* run`
    INSERT INTO segment_entities (segment, organization, user_number, account_number)
    SELECT CAST(${id} AS bigint), organization, ${columns} FROM ${sqlText(kind)} AS entities
    WHERE organization = ${organization} AND number IN (SELECT given.id FROM ${idsAsRows(numbers)})
    ${keptUntilCommit}`;
  if (stored === 0) {
    throw new Refusal(
      "ids" in content
        ? `ids is not valid: none of them is the id of ${one[kind]}.`
        : `All of these ${kind} were erased meanwhile, so there is nothing to save.`,
    );
  }
  return unknownIds;
}

/** The numbers of the ids that are known. A join would read all ids again for each user of the organization. */
function* numbersOf(
  { organization, kind }: FixedSegment,
  ids: readonly string[],
): Work<{ readonly numbers: readonly number[]; readonly unknownIds: readonly string[] }> {
  const given = [...new Set(ids)];
  const known = yield* select(foundRow(kind))`
    FROM ${sqlText(kind)} AS entities WHERE organization = ${organization}
      AND ${sqlText(idColumns[kind])} IN (SELECT given.text FROM ${texts(given)}) ${keptUntilCommit}`;
  const knownIds = new Set(known.map((entity) => entity.id));
  return {
    numbers: known.map(({ number }) => number),
    unknownIds: given.filter((id) => !knownIds.has(id)),
  };
}

/** No erasure deletes the selected entities before the commit. */
const keptUntilCommit = perEngine({ sqlite: "", postgres: "FOR KEY SHARE OF entities" });

const one = { users: "a user", accounts: "an account" } as const;
