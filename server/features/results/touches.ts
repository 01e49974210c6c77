/** What was done for users and accounts: contacts, done tasks, messages of rules' later steps, and alerts and
 * calls that were handled. */
import type { WorkOutcome } from "../../../contract/alerts/rules.ts";
import { contactEvent } from "../../../contract/api/contacts.ts";
import type { TouchKind } from "../../../contract/api/results.ts";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { EntityNumbers, NamedPerson } from "../../ledger/stores/entity-rows.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import type { GivenVerdict } from "../alerts/store/verdicts.ts";

/** Something that was done for a user or an account. */
export interface Touch extends EntityNumbers {
  readonly what: TouchKind;
  readonly atMs: number;
  readonly person: NamedPerson | null;
  /** Who did it, if it was no team member. */
  readonly by: string | null;
  readonly text: string | null;
  /** The rule of a handled alert, or of the step. */
  readonly rule: { readonly id: number; readonly name: string } | null;
  /** Of a handled alert or call. */
  readonly outcome: WorkOutcome | null;
}

export interface TouchParts {
  readonly warehouse: Warehouse;
  readonly ledger: Pick<SharedLedger, "alerts" | "tasks" | "ruleSteps" | "members">;
}

export interface TouchSpan {
  readonly fromMs: number;
  /** Not included. */
  readonly toMs: number;
  /** A call that is handled once more after so long is another touch. */
  readonly againAfterMs: number;
}

/** Rows of the ledger that are read together, and the most contacts of a period. */
const rowsTogether = 2_000;
const mostContacts = 50_000;
const mostTextCharacters = 500;

/** All touches of an organization in a span, the oldest first. @throws WarehouseError */
export async function readTouches(
  parts: TouchParts,
  organization: number,
  span: TouchSpan,
): Promise<readonly Touch[]> {
  const { alerts, tasks, ruleSteps } = parts.ledger;
  const [contacts, done, messages, verdicts] = await Promise.all([
    contactsIn(parts, organization, span),
    allOf((after) => tasks.doneSince(organization, span.fromMs, after, rowsTogether)),
    allOf((after) => ruleSteps.messagesSince(organization, span.fromMs, after, rowsTogether)),
    // A verdict from before the span may have been about the same call.
    allOf((after) => alerts.verdicts(organization, span.fromMs - span.againAfterMs, after, rowsTogether)),
  ]);
  const ofTasks = done.map(
    ({ user, account, title, person, atMs }): Touch => ({
      what: "task",
      user,
      account,
      atMs,
      person,
      by: null,
      text: title,
      rule: null,
      outcome: null,
    }),
  );
  const ofSteps = messages.map(
    ({ user, account, rule, atMs }): Touch => ({
      what: "message",
      user,
      account,
      atMs,
      person: null,
      by: rule.name,
      text: null,
      rule,
      outcome: null,
    }),
  );
  return [...contacts, ...ofTasks, ...ofSteps, ...handledTouches(verdicts, span.againAfterMs)]
    .filter(({ atMs }) => atMs >= span.fromMs && atMs < span.toMs)
    .toSorted((a, b) => a.atMs - b.atMs);
}

async function allOf<Row extends { readonly id: number }>(
  page: (after: number) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let read: readonly Row[];
  do {
    read = await page(rows.at(-1)?.id ?? 0);
    rows.push(...read);
  } while (read.length === rowsTogether);
  return rows;
}

/**
 * Alerts and calls that were handled. Who changes an outcome does not touch the customer again: the touch
 * keeps its time and has the newest outcome. A verdict that was taken back, or replaced by "not useful", is
 * none.
 * @param verdicts in the order in which they were given
 */
export function handledTouches(verdicts: readonly GivenVerdict[], againAfterMs: number): Touch[] {
  const touches: Touch[] = [];
  const bySubject = Map.groupBy(verdicts, ({ alert, user, account }) =>
    alert === null ? `call ${user} ${account}` : `alert ${alert}`,
  );
  for (const own of bySubject.values()) {
    let open: Touch | undefined;
    let saidMs = 0;
    for (const { verdict, outcome, note, atMs, rule, person, by, user, account, alert } of own) {
      if (open !== undefined && alert === null && atMs - saidMs >= againAfterMs) {
        touches.push(open);
        open = undefined;
      }
      saidMs = atMs;
      if (verdict !== "handled") open = undefined;
      else if (open === undefined)
        open = { what: "handled", user, account, atMs, person, by, text: note, rule, outcome };
      else open = { ...open, outcome, text: note ?? open.text };
    }
    if (open !== undefined) touches.push(open);
  }
  return touches;
}

interface ContactRow {
  readonly user: number;
  readonly atMs: number;
  readonly properties: string;
}

/** Contacts of users who are not excluded. A mark of a team member says who made it. */
async function contactsIn(
  { warehouse, ledger }: TouchParts,
  organization: number,
  { fromMs, toMs }: TouchSpan,
): Promise<readonly Touch[]> {
  const rows = await warehouse.rows<ContactRow>(
    `SELECT user, toUnixTimestamp64Milli(time) AS atMs, properties FROM events
     WHERE organization = {organization:UInt32} AND event = {contactEvent:String}
       AND time >= fromUnixTimestamp64Milli({fromMs:Int64}) AND time < fromUnixTimestamp64Milli({toMs:Int64})
       AND ${isIncluded("user")}
     ORDER BY time DESC LIMIT {most:UInt32}`,
    { organization, contactEvent, fromMs, toMs, most: mostContacts },
  );
  const people = new Map((await ledger.members.list(organization)).map(({ id, name }) => [id, name]));
  return rows.map(({ user, atMs, properties }) => {
    const { by, text } = said(properties);
    const id = Number(/ \(person (\d+)\)$/.exec(by ?? "")?.[1] ?? Number.NaN);
    const name = people.get(id);
    const person = name === undefined ? null : { id, name };
    return {
      what: "contact",
      user,
      account: 0,
      atMs,
      person,
      by: person === null ? by : null,
      text,
      rule: null,
      outcome: null,
    };
  });
}

function said(properties: string): { readonly by: string | null; readonly text: string | null } {
  const parsed: unknown = JSON.parse(properties);
  const { by, text }: JsonObject = isJsonObject(parsed) ? parsed : {};
  const textOrNull = (value: unknown) =>
    typeof value === "string" && value !== "" ? value.slice(0, mostTextCharacters) : null;
  return { by: textOrNull(by), text: textOrNull(text) };
}
