/**
 * Which users and accounts of a segment have tasks. Intake lists tasks, and asks this question of analysis.
 * Requests of people and keys do not reach its path, which is not below /api.
 */
import Type, { type Static } from "typebox";
import { analysisRoute } from "../../../contract/api/route.ts";
import { closedObject } from "../../../contract/api/schema.ts";
import { taskLists } from "../../../contract/notes-and-tasks.ts";
import { thoseInSegment } from "../../figures/segment-evaluation.ts";
import type { AnyContext, Handlers } from "../../http/api/context.ts";
import type { TaskFilter } from "./tasks.ts";

export const taskEntitiesPath = "/task-entities";

const query = closedObject({
  segment: Type.Integer({ minimum: 1 }),
  list: Type.Enum([...taskLists]),
  today: Type.Integer(),
  /** A person's id, or `nobody`. */
  assignee: Type.Optional(Type.String()),
});
const numbers = Type.Array(Type.Integer({ minimum: 1 }));

export const taskEntityRoutes = {
  [`GET ${taskEntitiesPath}`]: analysisRoute.read({
    summary: "Users and accounts of a segment that have tasks",
    query,
    answer: Type.Object({ users: numbers, accounts: numbers }),
  }),
};

export const taskEntityHandlers: Handlers<unknown> = {
  [`GET ${taskEntitiesPath}`]: async (context: AnyContext) => {
    const { ledger, organization } = context;
    // The route above has checked it.
    const { segment, assignee, ...rest } = context.query as Static<typeof query>;
    const person = assignee === "nobody" ? null : Number(assignee);
    const filter: TaskFilter = { ...rest, assignee: assignee === undefined ? undefined : person };
    return thoseInSegment(context, segment, await ledger.tasks.entities(organization.id, filter));
  },
};
