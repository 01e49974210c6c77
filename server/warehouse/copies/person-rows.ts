/** Rows of the ledger about one person, as objects of the copy of everything about the person. */
import { dayOrNull } from "../../calendar/days.ts";
import { instant } from "../../calendar/instant.ts";
import type { ExportedRows } from "../../ledger/feature.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { PersonDelivery } from "../../ledger/stores/about-person.ts";
import { alertLine } from "./work-export.ts";

/** Rows that are read together. A rejected row may have a megabyte, and a message has up to 20 kB. */
const page = { rejected: 50, audit: 500, alerts: 200, messages: 100 } as const;

export interface OfPerson {
  readonly ledger: SharedLedger;
  readonly organization: number;
  /** The user's number. */
  readonly user: number;
  readonly userId: string;
}

type Pages = AsyncGenerator<readonly object[]>;

/** Alerts about the person, those of controls among them, as in the export of alerts. */
export async function* alertsOf({ ledger, organization, userId }: OfPerson): Pages {
  for (let after = 0; ; ) {
    const alerts = await ledger.alerts.ofEntity(
      organization,
      { kind: "user", id: userId },
      after,
      page.alerts,
    );
    yield alerts.map((alert) => alertLine(alert).line);
    after = alerts.at(-1)?.id ?? after;
    if (alerts.length < page.alerts) return;
  }
}

/** Rows of a feature about the person. */
export async function* rowsOf(rows: ExportedRows, { ledger, organization, userId }: OfPerson): Pages {
  for await (const page of rows.ofUser(ledger, organization, { kind: "user", id: userId })) {
    yield page.map(({ line }) => line);
  }
}

/** States that alert rules keep of the person. */
export async function* alertStatesOf({ ledger, organization, user }: OfPerson): Pages {
  const states = await ledger.personData.alertStates(organization, user);
  yield states.map(({ restsUntil, firedOn, ...state }) => ({
    ...state,
    restsUntil: dayOrNull(restsUntil),
    firedDay: dayOrNull(firedOn),
  }));
}

/** What team members said about the person's row of the call list. */
export async function* callsOf({ ledger, organization, user }: OfPerson): Pages {
  const calls = await ledger.personData.calls(organization, user);
  yield calls.map(({ snoozedUntil, verdict, verdictAtMs }) => ({
    snoozedUntil: dayOrNull(snoozedUntil),
    verdict,
    verdictAt: verdictAtMs === null ? null : instant(verdictAtMs),
  }));
}

/** Entries of the person into hold-outs. */
export async function* holdOutEntriesOf({ ledger, organization, user }: OfPerson): Pages {
  const entries = await ledger.personData.holdOutEntries(organization, user);
  yield entries.map(({ enteredDay, ...entry }) => ({ ...entry, enteredDay: dayOrNull(enteredDay) }));
}

/** Messages that name the person, those that wait among them. */
export async function* messagesOf({ ledger, organization, user, userId }: OfPerson): Pages {
  for (let after = 0; ; ) {
    const messages = await ledger.personData.deliveries(organization, user, after, page.messages);
    yield messages.map(({ body, createdAtMs, dueAtMs, attemptedAtMs, ...message }) => ({
      ...message,
      createdAt: instant(createdAtMs),
      dueAt: instant(dueAtMs),
      attemptedAt: attemptedAtMs === null ? null : instant(attemptedAtMs),
      content: contentAbout({ organization, user, userId }, body),
    }));
    after = messages.at(-1)?.id ?? after;
    if (messages.length < page.messages) return;
  }
}

/** The parts of a message that tell whom it is about. */
interface SentContent {
  readonly data?: {
    readonly entity?: { readonly kind: string; readonly id?: string | null };
    readonly rows?: readonly { readonly of?: string; readonly link?: string }[];
  };
}

/** The content of a message without the lines and values about others. Null when nothing is left: an erasure
 * of another person deletes the content of messages that name both. */
function contentAbout(
  { organization, user, userId }: Omit<OfPerson, "ledger">,
  body: PersonDelivery["body"],
): object | null {
  if (body === "") return null;
  const { data } = JSON.parse(body) as SentContent;
  if (data === undefined) return null;
  const { entity, rows } = data;
  if (entity !== undefined && (entity.kind !== "user" || entity.id !== userId)) return null;
  if (rows === undefined) return data;
  // Lines of digests name users by the addresses of their pages alone.
  const page = `/o/${organization}/users/${encodeURIComponent(userId)}`;
  const isOwn = ({ of, link }: { readonly of?: string; readonly link?: string }) =>
    of === undefined ? link?.endsWith(page) === true : of === `user ${user}`;
  return { ...data, rows: rows.filter(isOwn) };
}

/** Rows that the warehouse refused. */
export async function* rejectedOf({ ledger, organization, user }: OfPerson): Pages {
  for (let after = 0; ; ) {
    const rows = await ledger.personData.rejectedEvents(organization, user, after, page.rejected);
    yield rows.map(({ atMs, table, row, reason }) => ({ at: instant(atMs), table, reason, row }));
    after = rows.at(-1)?.id ?? after;
    if (rows.length < page.rejected) return;
  }
}

/** Entries of the audit log about the person, the newest first. */
export async function* auditOf({ ledger, organization, user }: OfPerson): Pages {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const entries = await ledger.personData.auditEntries(organization, user, before, page.audit);
    yield entries.map(({ id, atMs, person, action, summary, detail }) => ({
      id,
      at: instant(atMs),
      by: person?.name ?? null,
      action,
      summary,
      detail,
    }));
    before = entries.at(-1)?.id ?? before;
    if (entries.length < page.audit) return;
  }
}
