/** The routes about what assistants wrote. */
import Type from "typebox";
import { keyRoute } from "../api/route.ts";
import { Field, listOf, nullable } from "../api/schema.ts";
import { assistantLimits, assistantWriteKinds } from "./assistants.ts";

const { keptDays, writesShown } = assistantLimits;

const AssistantWritesAnswer = Type.Object({
  writes: listOf(`The newest first: at most ${writesShown}, of the last ${keptDays} days.`, {
    id: Type.Integer({ minimum: 1 }),
    at: Field.instant("When it was written."),
    author: Field.text("`assistant` and the id of its read key."),
    keyName: Field.text("The name of the read key."),
    what: Field.oneOf(
      [...assistantWriteKinds],
      "note: a note was added. task: a task was added. alert: an alert was marked as handled.",
    ),
    target: Type.Integer({ minimum: 1, description: "The id of the note, the task or the alert." }),
    undoneAt: nullable(Field.instant("When it was undone. Null if it was not.")),
  }),
});

/** Answered by intake. */
export const assistantRoutes = {
  "GET /api/assistant-writes": keyRoute.read({
    summary: "What assistants wrote by the Model Context Protocol",
    command: "assistant list",
    answer: AssistantWritesAnswer,
  }),
  "POST /api/assistant-writes/:id/undo": keyRoute.manage({
    summary: "Undo what an assistant wrote: delete its note or task, or take back its outcome of an alert",
    command: "assistant undo",
    status: 204,
  }),
} as const;
