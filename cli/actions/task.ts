/** `rekindle task list | add | change | done | reopen | delete` */
import { type Command, Option } from "commander";
import type { RouteAnswer, RouteBody } from "../../contract/api/routes.ts";
import { type TaskList, taskLists } from "../../contract/notes-and-tasks/work.ts";
import { wholeNumber } from "../numbers.ts";
import { oneLine, printTable } from "../print.ts";
import type { Api } from "./api.ts";
import {
  apiCommand,
  askAbout,
  assigneeIn,
  entityOptions,
  group,
  memberId,
  type OfEntity,
  segmentIdIn,
} from "./api-command.ts";

type Task = RouteAnswer<"PATCH /api/tasks/:id">;
type Change = RouteBody<"PATCH /api/tasks/:id">;

/** The command for tasks about users and accounts. */
export function taskCommand(): Command {
  return group("task", "List, add, change, finish and delete tasks about users and accounts", [
    list(),
    ofEntity(),
    add(),
    change<Fields>(
      "change <id>",
      "Change a task",
      async (api, { title, ...fields }) => ({
        ...(title !== undefined && { title }),
        ...(await fieldsOf(api, fields)),
      }),
      [new Option("--title <text>", "another title"), ...fieldOptions],
    ),
    change("done <id>", "Mark a task as done", () => ({ isDone: true })),
    change("reopen <id>", "Open a task again", () => ({ isDone: false })),
    remove(),
  ]);
}

interface ListOptions {
  readonly list: TaskList;
  readonly assignee?: string;
  readonly segment?: string;
  readonly limit: number;
  readonly offset: number;
}

function list(): Command {
  return apiCommand<ListOptions, RouteAnswer<"GET /api/tasks">>({
    words: "list",
    description: "List the tasks across all users and accounts",
    options: [
      new Option("--list <list>", "which ones").choices(taskLists).default("open"),
      new Option("--assignee <email>", "only those of a team member, or of nobody"),
      new Option("--segment <name>", "only tasks for users or accounts that are in this segment now"),
      new Option("--limit <number>", "at most so many").argParser(wholeNumber(1, 200)).default(200),
      new Option("--offset <number>", "pass over so many").argParser(wholeNumber(0, 100_000)).default(0),
    ],
    run: async (api, _, { list: which, assignee, segment, limit, offset }) => {
      const query = {
        list: which,
        limit,
        offset,
        assignee: await assigneeIn(api, assignee),
        segment: await segmentIdIn(api, segment),
      };
      return api.ask("GET /api/tasks", { query });
    },
    print: ({ tasks }) => printTasks(tasks),
  });
}

function ofEntity(): Command {
  return apiCommand({
    words: "about",
    description: "List the tasks about a user or an account, done ones too",
    options: entityOptions,
    run: (api, _, entity: OfEntity) => askAbout(api, entity, "GET", "tasks"),
    print: ({ tasks }) => printTasks(tasks),
  });
}

interface Fields {
  readonly title?: string;
  readonly due?: string;
  readonly assignee?: string;
}

const fieldOptions = [
  new Option("--due <date>", "by when, or none"),
  new Option("--assignee <email>", "a team member who shall do it, or nobody"),
];

async function fieldsOf(api: Api, { due, assignee }: Fields): Promise<Pick<Change, "due" | "assignee">> {
  return {
    ...(due !== undefined && { due: due === "none" ? null : due }),
    ...(assignee !== undefined && { assignee: await memberId(api, assignee) }),
  };
}

function add(): Command {
  return apiCommand<Fields & OfEntity, Task>({
    words: "add <title>",
    description: "Add a task about a user or an account",
    options: [...entityOptions, ...fieldOptions],
    run: async (api, [title = ""], options) =>
      askAbout(api, options, "POST", "tasks", { body: { title, ...(await fieldsOf(api, options)) } }),
    print: (task) => printTasks([task]),
  });
}

function change<Options extends object>(
  words: string,
  description: string,
  bodyOf: (api: Api, options: Options) => Change | Promise<Change>,
  options: readonly Option[] = [],
): Command {
  return apiCommand<Options, Task>({
    words,
    description,
    options,
    run: async (api, [id = ""], chosen) =>
      api.ask("PATCH /api/tasks/:id", { path: { id }, body: await bodyOf(api, chosen) }),
    print: (task) => printTasks([task]),
  });
}

function remove(): Command {
  return apiCommand({
    words: "delete <id>",
    description: "Delete a task",
    run: ({ ask }, [id = ""]) => ask("DELETE /api/tasks/:id", { path: { id } }),
  });
}

function printTasks(tasks: readonly Task[]): void {
  printTable(
    ["ID", "ABOUT", "TITLE", "DUE", "STATE", "ASSIGNEE"],
    tasks.map(({ id, entity, title, due, isOverdue, doneAt, assignee }) => [
      String(id),
      `${entity.kind} ${oneLine(entity.id)}`,
      oneLine(title),
      due ?? "-",
      doneAt === null ? (isOverdue ? "overdue" : "open") : "done",
      oneLine(assignee?.name ?? "-"),
    ]),
  );
}
