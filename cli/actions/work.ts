/** `rekindle note …`, `contact …`, `owner …` and `churn-reason …`: the work of team members on users and
 * accounts. */
import { type Command, Option } from "commander";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { type ContactKind, contactKinds } from "../../contract/notes-and-tasks/work.ts";
import { wholeNumber } from "../numbers.ts";
import { oneLine, printTable } from "../print.ts";
import {
  apiCommand,
  askAbout,
  entityOptions,
  group,
  memberId,
  type OfEntity,
  refuseUnlessOne,
} from "./api-command.ts";

type Note = RouteAnswer<"PATCH /api/notes/:id">;
type Paged = OfEntity & { readonly limit: number };

/** The command for notes on users and accounts. */
export function noteCommand(): Command {
  return group("note", "List, write, change and delete notes on users and accounts", [
    apiCommand<Paged & { readonly before?: number }, RouteAnswer<"GET /api/users/:userId/notes">>({
      words: "list",
      description: "List the notes on a user or an account, the newest first",
      options: [
        ...entityOptions,
        new Option("--limit <number>", "at most so many").argParser(wholeNumber(1, 200)).default(200),
        new Option("--before <id>", "only those before this one, to read on").argParser(
          wholeNumber(1, Number.MAX_SAFE_INTEGER),
        ),
      ],
      run: (api, _, { limit, before, ...entity }) =>
        askAbout(api, entity, "GET", "notes", { query: { limit, before } }),
      print: ({ notes }) => printNotes(notes),
    }),
    apiCommand<OfEntity, Note>({
      words: "add <text>",
      description: "Write a note on a user or an account",
      options: entityOptions,
      run: (api, [text = ""], entity) => askAbout(api, entity, "POST", "notes", { body: { text } }),
      print: (note) => printNotes([note]),
    }),
    apiCommand({
      words: "change <id> <text>",
      description: "Change the text of a note",
      run: ({ ask }, [id = "", text = ""]) => ask("PATCH /api/notes/:id", { path: { id }, body: { text } }),
      print: (note) => printNotes([note]),
    }),
    apiCommand({
      words: "delete <id>",
      description: "Delete a note",
      run: ({ ask }, [id = ""]) => ask("DELETE /api/notes/:id", { path: { id } }),
    }),
  ]);
}

function printNotes(notes: readonly Note[]): void {
  printTable(
    ["ID", "ABOUT", "WRITTEN", "BY", "TEXT"],
    notes.map(({ id, entity, createdAt, createdBy, text }) => [
      String(id),
      `${entity.kind} ${oneLine(entity.id)}`,
      createdAt,
      oneLine(createdBy?.name ?? "-"),
      oneLine(text),
    ]),
  );
}

interface ContactOptions {
  readonly kind?: ContactKind;
  readonly at?: string;
  readonly text?: string;
}

/** The command for contacts with users. */
export function contactCommand(): Command {
  return group("contact", "List contacts with users, and add one", [
    apiCommand<Paged & { readonly before?: string }, RouteAnswer<"GET /api/users/:userId/contacts">>({
      words: "list",
      description: "List the contacts with a user, or with the users of an account, the latest first",
      options: [
        ...entityOptions,
        new Option("--limit <number>", "at most so many").argParser(wholeNumber(1, 1_000)).default(1_000),
        new Option("--before <next>", "`next` of the answer before, to read on"),
      ],
      run: (api, _, { limit, before, ...entity }) =>
        askAbout(api, entity, "GET", "contacts", { query: { limit, before } }),
      print: ({ contacts }) =>
        printTable(
          ["AT", "USER", "KIND", "BY", "TEXT"],
          contacts.map(({ timestamp, userId, kind, by, text }) => [
            timestamp,
            oneLine(userId),
            kind ?? "-",
            oneLine(by ?? "-"),
            oneLine(text ?? ""),
          ]),
        ),
    }),
    apiCommand<ContactOptions, undefined>({
      words: "add <userId>",
      description: "Mark a user as contacted, now or at another time",
      options: [
        new Option("--kind <kind>", "how").choices(contactKinds),
        new Option("--at <time>", "a date, or an ISO 8601 date-time"),
        new Option("--text <text>", "a text about it"),
      ],
      run: ({ ask }, [userId = ""], { kind, at, text }) => {
        const body = {
          ...(kind !== undefined && { kind }),
          ...(at !== undefined && { timestamp: at }),
          ...(text !== undefined && { text }),
        };
        return ask("POST /api/users/:userId/contacts", { path: { userId }, body });
      },
    }),
  ]);
}

/** The command for owners of users and accounts. */
export function ownerCommand(): Command {
  return group("owner", "Set the owner of a user or an account", [
    apiCommand<OfEntity, undefined>({
      words: "set <email>",
      description: "Make a team member the owner of a user or an account, or nobody",
      options: entityOptions,
      run: async (api, [email = ""], entity) =>
        askAbout(api, entity, "PATCH", "owner", { body: { owner: await memberId(api, email) } }),
    }),
    apiCommand<OfEntity, Owner>({
      words: "show",
      description:
        "Show the owner of a user or an account; that of the account counts for a user without one",
      options: entityOptions,
      run: async ({ ask }, _, { user, account }) => {
        refuseUnlessOne({ user, account });
        const { owner, ownerId } = account
          ? await ask("GET /api/accounts/:accountId", { path: { accountId: account } })
          : await ask("GET /api/users/:userId", { path: { userId: user ?? "" } });
        return { owner, ownerId };
      },
      print: ({ owner, ownerId }) =>
        printTable(["OWNER", "PERSON"], [[oneLine(owner ?? "nobody"), String(ownerId ?? "-")]]),
    }),
  ]);
}

type Owner = Pick<RouteAnswer<"GET /api/users/:userId">, "owner" | "ownerId">;

/** The command for reasons of churn. */
export function churnReasonCommand(): Command {
  return group("churn-reason", "Say why a user or an account left", [
    apiCommand<OfEntity, undefined>({
      words: "set <text>",
      description: "Say why a user or an account left; an empty text removes it",
      options: entityOptions,
      run: (api, [text = ""], entity) =>
        askAbout(api, entity, "PATCH", "churn-reason", { body: { reason: text === "" ? null : text } }),
    }),
  ]);
}
