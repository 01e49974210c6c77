/** Admission of imported notes, tasks, contacts and owners: what a row says, or why it is rejected. Pure. */
import Type from "typebox";
import { anyText, taskTitle } from "../../../../contract/api/notes-and-tasks.ts";
import { closedObject } from "../../../../contract/api/schema.ts";
import type { JsonObject } from "../../../../contract/json.ts";
import { limits } from "../../../../contract/limits.ts";
import { nameRules } from "../../../../contract/names.ts";
import {
  type ContactKind,
  contactKinds,
  workLimits,
  workTypes,
} from "../../../../contract/notes-and-tasks.ts";
import { parseDay } from "../../../calendar/days.ts";
import { parseEventTime } from "../../../calendar/event-time.ts";
import type { Zone } from "../../../calendar/zone.ts";
import { compile, explain } from "../../../intake/admission/admit-event.ts";
import { type Invalid, isInvalid } from "../../../intake/admission/json.ts";
import type { WorkRow } from "../../../intake/import-rows.ts";
import { personActor } from "../../../ledger/audit.ts";
import { emailKey } from "../../../ledger/rules/email-key.ts";
import { type Owners, ownerIn } from "../../../ledger/rules/owners.ts";
import type { EntityRef } from "../../../ledger/stores/entity-rows.ts";
import type { ImportedPerson } from "./store.ts";

/** A team member with the address that the trait `owner` has. */
export interface TeamMember {
  readonly id: number;
  readonly name: string;
  readonly email: string;
}

/** The user or the account of a row, as the row names it. */
export type NamedSubject = EntityRef | { readonly kind: "email"; readonly id: string };

interface OfRow {
  readonly subject: NamedSubject;
  /** What makes the row another row: its own id, else all that it says. */
  readonly meaning: readonly unknown[];
  readonly atMs: number;
}

/** An admitted row. */
export type AdmittedWork =
  | (OfRow & { readonly work: "notes"; readonly author: ImportedPerson; readonly text: string })
  | (OfRow & {
      readonly work: "tasks";
      readonly author: ImportedPerson;
      readonly title: string;
      readonly dueDay: number | null;
      readonly assignee: ImportedPerson;
      readonly doneAtMs: number | null;
    })
  | (OfRow & {
      readonly work: "contacts";
      /** Who made the contact: a name, with the number of a team member. */
      readonly by: string | null;
      readonly kind: ContactKind | null;
      readonly text: string | null;
    })
  | (OfRow & { readonly work: "owners"; readonly owner: TeamMember });

export interface AdmissionGround {
  readonly zone: Zone;
  readonly nowMs: number;
  readonly members: Owners<TeamMember>;
}

const personText = Type.String({
  ...nameRules,
  maxLength: workLimits.authorCharacters,
  "x-send": `1 to ${workLimits.authorCharacters} characters and no control character`,
});
const identifier = Type.String({
  minLength: 1,
  maxLength: limits.identifierCharacters,
  "x-send": `a string of 1 to ${limits.identifierCharacters} characters`,
});
const time = Type.String({ maxLength: 100, "x-send": "a date, or an ISO 8601 date-time" });
const ofEveryRow = {
  userId: Type.Optional(identifier),
  accountId: Type.Optional(identifier),
  email: Type.Optional(
    Type.String({ minLength: 1, maxLength: limits.emailCharacters, "x-send": "an e-mail address" }),
  ),
  messageId: Type.Optional(identifier),
};
const author = Type.Optional(personText);

const schemas = {
  notes: closedObject({ ...ofEveryRow, timestamp: time, author, text: anyText(workLimits.noteCharacters) }),
  tasks: closedObject({
    ...ofEveryRow,
    timestamp: Type.Optional(time),
    author,
    title: taskTitle,
    due: Type.Optional(time),
    done: Type.Optional(Type.Union([Type.Boolean(), time])),
    assignee: Type.Optional(personText),
  }),
  contacts: closedObject({
    ...ofEveryRow,
    timestamp: time,
    author,
    kind: Type.Optional(Type.Enum([...contactKinds], { "x-send": `one of ${contactKinds.join(", ")}` })),
    text: Type.Optional(anyText(workLimits.noteCharacters)),
  }),
  owners: closedObject({ ...ofEveryRow, timestamp: Type.Optional(time), owner: personText }),
};
const validators = {
  notes: compile(schemas.notes),
  tasks: compile(schemas.tasks),
  contacts: compile(schemas.contacts),
  owners: compile(schemas.owners),
};

/** What the row says, or why it is rejected. The reason begins with the name of the wrong field. */
export function admitWork(row: WorkRow, ground: AdmissionGround): AdmittedWork | Invalid {
  const { work, fields: sent } = row;
  if (!workTypes.includes(work))
    return { invalid: `work is not valid: send one of ${workTypes.join(", ")}.` };
  const fields = trimmed(sent);
  const odd = Object.keys(fields).find((name) => !isWellFormed(fields[name]));
  if (odd !== undefined) return { invalid: `${odd} has half of a character: save the file as UTF-8.` };
  const subject = subjectOf(fields);
  if (isInvalid(subject)) return subject;
  switch (work) {
    case "notes":
      return admitNote(fields, subject, ground);
    case "tasks":
      return admitTask(fields, subject, ground);
    case "contacts":
      return admitContact(fields, subject, ground);
    case "owners":
      return admitOwner(fields, subject, ground);
  }
}

/** A reason that begins with the column of its field, as the file calls it. */
export function inColumns({ invalid }: Invalid, { columns }: WorkRow): Invalid {
  const named = invalid.replace(/^\w+/, (field) =>
    Object.hasOwn(columns, field) ? (columns[field] ?? field) : field,
  );
  return { invalid: named };
}

/** Texts without spaces around them, and with the line ends that notes have. Empty cells are not sent. */
function trimmed(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const text = typeof value === "string" ? value.trim().replace(/\r\n?/g, "\n") : value;
      return text === "" || text === null || text === undefined ? [] : [[name, text]];
    }),
  );
}

function isWellFormed(value: unknown): boolean {
  return typeof value !== "string" || value.isWellFormed();
}

function subjectOf({ userId, accountId, email }: JsonObject): NamedSubject | Invalid {
  const named = [userId, accountId, email].filter((one) => one !== undefined);
  if (named.length === 0) return { invalid: "userId, accountId or email is missing: send one of the three." };
  if (named.length > 1) {
    return { invalid: "userId, accountId and email name the same thing: send one of the three in a row." };
  }
  if (email !== undefined) return { kind: "email", id: emailKey(String(email)) };
  return userId === undefined
    ? { kind: "account", id: String(accountId) }
    : { kind: "user", id: String(userId) };
}

/** A clock elsewhere may be ahead. */
const aheadMs = 60_000;

/** The time of a column, which is past. */
function pastTime(name: string, text: string, { zone, nowMs }: AdmissionGround): number | Invalid {
  const ms = parseEventTime(text, zone);
  if (ms === undefined)
    return { invalid: `${name} is not a time that can be read: send a date, or a date-time.` };
  if (ms > nowMs + aheadMs) return { invalid: `${name} is in the future: send when it happened.` };
  return Math.min(ms, nowMs);
}

/** Written by Rekindle behind the name of a team member, whose number is another one elsewhere. */
const numberOfPerson = / \(person \d+\)$/;

function personIn(text: string | undefined, { members }: AdmissionGround): ImportedPerson {
  if (text === undefined) return { id: null, text: null };
  const name = text.replace(numberOfPerson, "");
  const member = ownerIn(members, name);
  return member === undefined ? { id: null, text: name } : { id: member.id, text: null };
}

/** What a row without an id of its own is known by. The user or the account is added when it is found. */
function meaningOf(messageId: string | undefined, said: readonly unknown[]): readonly unknown[] {
  return messageId === undefined ? ["says", ...said] : ["id", messageId];
}

function admitNote(
  fields: JsonObject,
  subject: NamedSubject,
  ground: AdmissionGround,
): AdmittedWork | Invalid {
  if (!validators.notes.Check(fields)) return explain(schemas.notes, validators.notes, fields);
  const { timestamp, text, author: by, messageId } = fields;
  const atMs = pastTime("timestamp", timestamp, ground);
  if (isInvalid(atMs)) return atMs;
  const meaning = meaningOf(messageId, [atMs, by, text]);
  return { work: "notes", subject, meaning, atMs, author: personIn(by, ground), text };
}

function admitTask(
  fields: JsonObject,
  subject: NamedSubject,
  ground: AdmissionGround,
): AdmittedWork | Invalid {
  if (!validators.tasks.Check(fields)) return explain(schemas.tasks, validators.tasks, fields);
  const { timestamp, title, due, done, assignee, author: by, messageId } = fields;
  const sentMs = timestamp === undefined ? undefined : pastTime("timestamp", timestamp, ground);
  if (isInvalid(sentMs)) return sentMs;
  const dueDay = due === undefined ? null : dueDayOf(due, ground);
  if (isInvalid(dueDay)) return dueDay;
  const atMs = sentMs ?? ground.nowMs;
  const doneAtMs = doneAtOf(done, atMs, ground);
  if (isInvalid(doneAtMs)) return doneAtMs;
  // Without a time the import's own is taken, which is another one at the next import.
  const meaning = meaningOf(messageId, [sentMs, by, title, dueDay, done, assignee]);
  return {
    work: "tasks",
    subject,
    meaning,
    atMs,
    author: personIn(by, ground),
    title,
    dueDay,
    assignee: personIn(assignee, ground),
    doneAtMs,
  };
}

function dueDayOf(due: string, { zone }: AdmissionGround): number | Invalid {
  const ms = parseEventTime(due, zone);
  if (ms === undefined)
    return { invalid: "due is not a date that can be read: send one such as 2027-03-31." };
  return parseDay(due) ?? zone.dayOf(ms);
}

const yes = /^(true|yes|y|1|x|done)$/i;
const no = /^(false|no|n|0|open)$/i;

/** When a task was done. One that is done at a time that nobody wrote down was done when it was added. */
function doneAtOf(
  done: string | boolean | undefined,
  atMs: number,
  ground: AdmissionGround,
): number | null | Invalid {
  if (done === undefined || done === false) return null;
  if (done === true || yes.test(done)) return atMs;
  if (no.test(done)) return null;
  return pastTime("done", done, ground);
}

function admitContact(
  fields: JsonObject,
  subject: NamedSubject,
  ground: AdmissionGround,
): AdmittedWork | Invalid {
  const { kind: said } = fields;
  const sent = { ...fields, ...(typeof said === "string" && { kind: kindOf(said) }) };
  if (!validators.contacts.Check(sent)) return explain(schemas.contacts, validators.contacts, sent);
  const { timestamp, kind = null, text = null, author: by, messageId } = sent;
  const atMs = pastTime("timestamp", timestamp, ground);
  if (isInvalid(atMs)) return atMs;
  const { id, text: name } = personIn(by, ground);
  const member = id === null ? undefined : [...ground.members.values()].find((one) => one.id === id);
  return {
    work: "contacts",
    subject,
    meaning: meaningOf(messageId, [atMs, by, kind, text]),
    atMs,
    by: member === undefined ? name : personActor(member).by,
    kind,
    text,
  };
}

/** Other tools write `E-Mail` and `Phone call`. */
function kindOf(said: string): string {
  const plain = said.toLowerCase().replace(/[\s_-]/g, "");
  return Object.hasOwn(kindsElsewhere, plain) ? (kindsElsewhere[plain] ?? plain) : plain;
}

const kindsElsewhere: Readonly<Record<string, ContactKind>> = {
  phonecall: "call",
  phone: "call",
  mail: "email",
};

function admitOwner(
  fields: JsonObject,
  subject: NamedSubject,
  ground: AdmissionGround,
): AdmittedWork | Invalid {
  if (!validators.owners.Check(fields)) return explain(schemas.owners, validators.owners, fields);
  const { timestamp, owner: said, messageId } = fields;
  const sentMs = timestamp === undefined ? undefined : pastTime("timestamp", timestamp, ground);
  if (isInvalid(sentMs)) return sentMs;
  const owner = ownerIn(ground.members, said);
  if (owner === undefined) {
    return {
      invalid: `owner ${JSON.stringify(said)} is no team member: send the e-mail address or the name of one, and invite who is missing.`,
    };
  }
  const atMs = sentMs ?? ground.nowMs;
  return { work: "owners", subject, meaning: meaningOf(messageId, [sentMs, owner.id]), atMs, owner };
}
