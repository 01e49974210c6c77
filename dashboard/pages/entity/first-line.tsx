/** The first line of the page of a user or an account. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { classes } from "../../text/classes.ts";
import type { Entity } from "../tasks/task-form.tsx";
import { type Done, firstLine } from "./first-line-words.ts";
import type { Score } from "./score-text.ts";

const bases = { user: "/api/users/:userId", account: "/api/accounts/:accountId" } as const;
interface FirstLineProps {
  readonly entity: Entity;
  readonly score: Score | undefined;
  /** The stored days of scores that the page shows. */
  readonly days: Parameters<typeof firstLine>[0]["days"] | undefined;
}

/** What is wrong, since when, and what was done last. Nothing until the scores are known. */
export function FirstLine({ entity, score, days }: FirstLineProps): ReactElement | null {
  const { timezone } = useOrganization();
  const done = useDone(entity);
  if (score === undefined || days === undefined || done === undefined) return null;
  const line = firstLine({ score, days, done, timezone, what: entity.kind });
  return (
    <p aria-label="In short" role="note" className="text-base [overflow-wrap:anywhere]">
      {line.wrong !== null && (
        <b className={classes("font-medium", line.isBad && "text-at-risk")}>{line.wrong}. </b>
      )}
      <span className="text-soft">{line.done}.</span>
    </p>
  );
}

/** What the team did with an entity. Undefined until it is known. */
function useDone({ kind, id }: Entity): readonly Done[] | undefined {
  const base = bases[kind];
  const path = { userId: id, accountId: id };
  const contacts = useRead(`${base}/contacts` as const, { path, query: { limit: 1 } });
  const notes = useRead(`${base}/notes` as const, { path, query: { limit: 1 } });
  const tasks = useRead(`${base}/tasks` as const, { path });
  if ([contacts, notes, tasks].some(({ data, isError }) => data === undefined && !isError)) return undefined;
  return [
    ...(contacts.data?.contacts ?? []).map(({ kind: how, timestamp, by }) => ({
      what: how === null || how === "other" ? "contact" : contactWords[how],
      at: timestamp,
      by,
    })),
    ...(notes.data?.notes ?? []).map(({ createdAt, createdBy, writtenAs }) => ({
      what: "note",
      at: createdAt,
      by: createdBy?.name ?? writtenAs,
    })),
    ...(tasks.data?.tasks ?? []).flatMap(({ title, doneAt, assignee }) =>
      doneAt === null ? [] : [{ what: `task “${title}”`, at: doneAt, by: assignee?.name ?? null }],
    ),
  ];
}

const contactWords = { call: "call", email: "e-mail", meeting: "meeting", chat: "chat" } as const;
