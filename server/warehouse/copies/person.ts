/**
 * Everything about one person as one JSON document, for an access request. It is written while it is read: of
 * the warehouse each row passes as bytes, and of the ledger a page at a time. So a user with a million events
 * needs no more memory than one with ten.
 *
 * The engine lists the tables with rows of users, as for an erasure. So a table that is added later is in the
 * document, too.
 */

import { errorMessages } from "../../../contract/errors.ts";
import { ApiError } from "../../../contract/refusal.ts";
import { instant } from "../../calendar/instant.ts";
import type { Actor } from "../../ledger/audit.ts";
import type { UserAndAccount } from "../../ledger/entities.ts";
import { personExportedNote } from "../../ledger/erasures.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { IdentityData } from "../../ledger/stores/person-data.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import { type ColumnOfUsers, columnsOfUsers } from "../upkeep/erase.ts";
import { inOrder, isoText, jsonLine, jsonOrNull, messageId, type Source, timeOrNull } from "./export.ts";
import { auditOf, rejectedOf } from "./person-rows.ts";

export interface PersonRequest {
  readonly organization: number;
  readonly userId: string;
  /** For the audit log. */
  readonly by: Actor;
}

interface Stores {
  readonly warehouse: Warehouse;
  readonly ledger: SharedLedger;
  readonly nowMs: number;
}

/** The document's bytes. Drain the inbox before. The audit log has an entry before the first byte.
 * @throws ApiError without any data of a person with this id, before the first byte */
export async function* exportPerson(
  { warehouse, ledger, nowMs }: Stores,
  { organization, userId, by }: PersonRequest,
): AsyncGenerator<Uint8Array> {
  const found = await ledger.findUser(organization, userId);
  const identity = await ledger.personData.identity(organization, userId);
  const { ids, held, warnings } = identity;
  if (found === undefined && ids.length + held.length + warnings.length === 0) {
    throw new ApiError("not_found", errorMessages.userNotFound);
  }
  const user = found?.user.number ?? 0;
  await ledger.audit.add({ organization, actor: by, atMs: nowMs, ...personExportedNote(user) });
  const ofPerson = { ledger, organization, user, userId };
  const ofFeatures = ledger.features.flatMap(({ aboutUser = {} }) => Object.entries(aboutUser));
  yield* document({
    userId,
    exportedAt: instant(nowMs),
    ...identitySections(found, identity),
    exclusions: await exclusionsOf(ledger, organization, found, userId),
    ...(found === undefined ? {} : await warehouseSections(warehouse, organization, user)),
    ...Object.fromEntries(
      ofFeatures.map(([name, pages]) => [name, found === undefined ? [] : lines(pages(ledger, ofPerson))]),
    ),
    rejectedEvents: found === undefined ? [] : lines(rejectedOf(ofPerson)),
    auditLog: found === undefined ? [] : lines(auditOf(ofPerson)),
  });
}

/** A value that is in memory, or the bytes of an array's elements with line feeds between them. */
type Section = unknown | Elements;

class Elements {
  readonly chunks: AsyncIterable<Uint8Array>;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.chunks = chunks;
  }
}

const encoder = new TextEncoder();

async function* document(sections: Readonly<Record<string, Section>>): AsyncGenerator<Uint8Array> {
  let before = "{";
  for (const [name, section] of Object.entries(sections)) {
    yield encoder.encode(`${before}\n${JSON.stringify(name)}:`);
    before = ",";
    if (section instanceof Elements) yield* arrayOf(section.chunks);
    else yield encoder.encode(JSON.stringify(section));
  }
  yield encoder.encode("\n}\n");
}

/** Elements that end with a line feed each, as an array. JSON has line feeds in no text. */
async function* arrayOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield encoder.encode("[");
  let isBetween = false;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    const ends = chunk.at(-1) === lineFeed;
    // Every byte is one character here, and stays the same byte.
    const text = Buffer.from(ends ? chunk.subarray(0, -1) : chunk).toString("latin1");
    yield Buffer.from(`${isBetween ? ",\n" : ""}${text.replaceAll("\n", ",\n")}`, "latin1");
    isBetween = ends;
  }
  yield encoder.encode("]");
}

const lineFeed = 10;

/** Objects as elements. */
function lines(pages: AsyncIterable<readonly object[]>): Elements {
  return new Elements(
    (async function* () {
      for await (const objects of pages) {
        yield encoder.encode(objects.map((object) => `${JSON.stringify(object)}\n`).join(""));
      }
    })(),
  );
}

function identitySections(found: UserAndAccount | undefined, { ids, held, warnings }: IdentityData) {
  return {
    identity: found === undefined ? null : identityOf(found),
    linkedIds: ids.map(({ kind, id, atMs }) => ({ kind, id, linkedAt: instant(atMs) })),
    heldEvents: held.map(({ body, receivedAtMs, atMs }) => ({
      timestamp: instant(atMs),
      receivedAt: instant(receivedAtMs),
      item: JSON.parse(body) as unknown,
    })),
    ingestionWarnings: warnings.map(({ kind, endpoint, detail, message, count, lastSeenMs, userId }) => ({
      userId,
      kind,
      endpoint,
      detail,
      message,
      count,
      lastSeen: instant(lastSeenMs),
    })),
  };
}

function identityOf({ user, account }: UserAndAccount) {
  const { userId, email, isAccountOwner, traits, firstIdentifiedAtMs, updatedAtMs, number } = user;
  return {
    userId,
    number,
    email,
    isAccountOwner,
    traits,
    account: account === null ? null : { id: account.accountId, name: account.name },
    firstIdentifiedAt: instant(firstIdentifiedAtMs),
    updatedAt: instant(updatedAtMs),
  };
}

/** Rules that exclude exactly this person. */
async function exclusionsOf(
  ledger: SharedLedger,
  organization: number,
  found: UserAndAccount | undefined,
  userId: string,
): Promise<readonly object[]> {
  const email = found?.user.email?.toLowerCase();
  return (await ledger.exclusions.list(organization))
    .filter(
      ({ kind, value }) =>
        (kind === "user" && value === userId) || (kind === "email" && value.toLowerCase() === email),
    )
    .map(({ kind, value, createdAtMs }) => ({ kind, value, createdAt: instant(createdAtMs) }));
}

/** Names of sections, by their tables. A table without a name has its own. */
const names: Readonly<Record<string, string>> = {
  user_versions: "versions",
  events: "events",
  billing_events: "billingEvents",
  subscriptions: "subscriptions",
  user_event_days: "eventsByDay",
  user_spans: "activeSpan",
  user_scores: "scores",
  user_score_shifts: "scoreShifts",
  user_snapshots: "features",
  user_segment_changes: "segmentChanges",
};

async function warehouseSections(
  warehouse: Warehouse,
  organization: number,
  user: number,
): Promise<Record<string, Elements>> {
  const bound = { organization, user };
  const tables = (await columnsOfUsers(warehouse)).filter(
    // The users themselves come from the ledger, and bitmaps are made of the days of events.
    ({ table, isBitmap }) => !isBitmap && table !== "users",
  );
  const sections: Record<string, Elements> = {
    accounts: new Elements(warehouse.stream(accountsOfUser, "JSONEachRow", bound)),
  };
  for (const column of tables) {
    const { table } = column;
    const source = sources[table];
    sections[names[table] ?? table] = new Elements(
      source === undefined
        ? warehouse.stream(plainRows(column), "JSONEachRow", bound)
        : warehouse.stream(
            `SELECT ${jsonLine(source)} FROM ${source.from} SETTINGS ${inOrder}`,
            "TabSeparatedRaw",
            bound,
          ),
    );
  }
  return sections;
}

const ofUser = "organization = {organization:UInt32} AND user = {user:UInt32}";

/** The accounts that the numbers in other sections mean. */
const accountsOfUser = `
  SELECT account AS number, account_id AS id, name FROM accounts FINAL
  WHERE organization = {organization:UInt32} AND account IN (
    SELECT account FROM users FINAL WHERE ${ofUser}
    UNION DISTINCT SELECT ifNull(account, 0) FROM user_versions WHERE ${ofUser}
    UNION DISTINCT SELECT account FROM user_event_days WHERE ${ofUser}
    UNION DISTINCT SELECT account FROM events WHERE ${ofUser})
  ORDER BY account`;

function plainRows({ table, column, isMerging, sortingKey }: ColumnOfUsers): string {
  return `
    SELECT * EXCEPT (organization, ${column}) FROM ${table}${isMerging ? " FINAL" : ""} WHERE ${ofUser}
    ORDER BY ${sortingKey}`;
}

const accountIds = `
  (SELECT account, account_id FROM accounts FINAL WHERE organization = {organization:UInt32})`;
const knownAccount = "nullIf(a.account_id, '')";
const accountId = { name: "accountId", value: knownAccount, json: jsonOrNull(knownAccount) };

/** Tables whose rows have JSON in a column, or rows of others beside those of the user. */
const sources: Readonly<Record<string, Source>> = {
  user_versions: {
    from: `(SELECT * FROM user_versions WHERE ${ofUser} ORDER BY version, at) AS v
      LEFT ANY JOIN ${accountIds} AS a ON ifNull(v.account, 0) = a.account`,
    columns: [
      { name: "at", value: "v.at", text: isoText("v.at") },
      { name: "traits", value: "v.traits", json: "v.traits" },
      {
        name: "isAccountChanged",
        value: "v.account IS NOT NULL",
        json: "toString(toBool(v.account IS NOT NULL))",
      },
      accountId,
    ],
  },
  events: {
    from: `(SELECT * FROM events WHERE ${ofUser} ORDER BY user, time, id) AS e
      LEFT ANY JOIN ${accountIds} AS a ON e.account = a.account`,
    columns: [
      { name: "event", value: "toString(e.event)" },
      { name: "timestamp", value: "e.time", text: isoText("e.time") },
      { name: "receivedAt", value: "e.received_at", text: isoText("e.received_at") },
      { name: "properties", value: "e.properties", json: "e.properties" },
      { name: "messageId", value: messageId, json: jsonOrNull(messageId) },
      { name: "isActivity", value: "e.is_activity", json: "toString(e.is_activity)" },
      accountId,
    ],
  },
  billing_events: {
    from: `(SELECT * FROM billing_events FINAL WHERE ${ofUser} ORDER BY time, id) AS b
      LEFT ANY JOIN ${accountIds} AS a ON b.account = a.account`,
    columns: [
      { name: "event", value: "toString(b.event)" },
      { name: "timestamp", value: "b.time", text: isoText("b.time") },
      { name: "subscriptionId", value: "b.subscription" },
      { name: "properties", value: "b.properties", json: "b.properties" },
      accountId,
    ],
  },
  subscriptions: {
    from: `(SELECT subscription, "from", status, plan, mrr, currency, ends_at, payer_user, payer_account FROM subscriptions FINAL
        ARRAY JOIN "from", status, plan, mrr, currency, ends_at, payer_user, payer_account
        WHERE organization = {organization:UInt32} AND has(of_users, {user:UInt32}) AND payer_user = {user:UInt32}
        ORDER BY subscription, "from") AS s
      LEFT ANY JOIN ${accountIds} AS a ON s.payer_account = a.account`,
    columns: [
      { name: "subscriptionId", value: "s.subscription" },
      { name: "from", value: 's."from"', text: isoText('s."from"') },
      { name: "status", value: "toString(s.status)" },
      { name: "plan", value: "s.plan" },
      { name: "mrr", value: "s.mrr", json: "toString(s.mrr)" },
      { name: "currency", value: "toString(s.currency)" },
      { name: "endsAt", ...timeOrNull("s.ends_at") },
      accountId,
    ],
  },
  user_segment_changes: {
    from: `(SELECT * FROM user_segment_changes WHERE ${ofUser} AND (segment, evaluation) IN (
        SELECT segment, evaluation FROM segment_evaluations FINAL WHERE organization = {organization:UInt32})
        ORDER BY at, segment) AS c`,
    columns: [
      { name: "segment", value: "c.segment", json: "toString(c.segment)" },
      { name: "at", value: "c.at", text: isoText("c.at") },
      { name: "change", value: "if(c.entered, 'entered', 'left')" },
      { name: "cause", value: "toString(c.cause)" },
    ],
  },
};
