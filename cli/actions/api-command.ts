/** Commands that ask the JSON API: each is an entry of a table. */
import { Argument, Command, Option } from "commander";
import type { RouteAnswer, RouteBody, RouteName } from "../../contract/api/routes.ts";
import { Refusal } from "../../contract/refusal.ts";
import type { OfOrganization } from "../installation.ts";
import { readId } from "../numbers.ts";
import { memberOf, readEmail } from "../people.ts";
import { segmentNamed } from "../segment-named.ts";
import { type Api, withApi } from "./api.ts";

interface ApiCommand<Options, Answer> {
  /** The verb and its arguments: `snooze <id> <date>`. */
  readonly words: string;
  readonly description: string;
  readonly options?: readonly Option[];
  readonly run: (
    api: Api,
    parameters: readonly string[],
    options: Options & OfOrganization,
  ) => Promise<Answer>;
  /** Prints an answer for people. With it, the command has `--json`, which prints the API's answer. */
  readonly print?: (answer: Answer) => void;
}

/** A command for an organization. */
export function apiCommand<Options extends object, Answer>(entry: ApiCommand<Options, Answer>): Command {
  const { words, description, options = [], run, print } = entry;
  const [verb, ...names] = words.split(" ");
  const command = new Command(verb).description(description);
  for (const name of names) {
    const argument = new Argument(name);
    command.addArgument(name === "<id>" ? argument.argParser(readId) : argument);
  }
  command.requiredOption("--organization <name>", "the organization");
  for (const option of options) command.addOption(option);
  if (print !== undefined) command.option("--json", "print the answer as JSON");
  return command.action(async (...given: unknown[]) => {
    const chosen = command.opts<Options & OfOrganization & { readonly json?: boolean }>();
    const parameters = given.slice(0, names.length).map(String);
    await withApi(chosen.organization, async (api) => {
      const answer = await run(api, parameters, chosen);
      if (chosen.json === true) process.stdout.write(`${JSON.stringify(answer)}\n`);
      else print?.(answer);
    });
  });
}

/** A command with others below it. */
export function group(name: string, description: string, commands: readonly Command[]): Command {
  const command = new Command(name).description(description);
  for (const one of commands) command.addCommand(one);
  return command;
}

/** The id of the team member with an e-mail; null for `nobody`. @throws Refusal when there is none */
export async function memberId({ installation, organization }: Api, email: string): Promise<number | null> {
  if (email === "nobody") return null;
  return (await memberOf(installation.ledger, organization.name, readEmail(email))).id;
}

/** The assignee filter of a list: the id of the team member with an e-mail, or `nobody`; undefined without an
 * e-mail. @throws Refusal when there is no such member */
export async function assigneeIn(api: Api, email: string | undefined): Promise<string | undefined> {
  return email === undefined ? undefined : String((await memberId(api, email)) ?? "nobody");
}

/** The id of the segment with a name, undefined when it is not given. @throws Refusal when there is none */
export async function segmentIdIn(
  { installation, organization }: Api,
  name: string | undefined,
): Promise<number | undefined> {
  return name === undefined ? undefined : (await segmentNamed(installation.ledger, organization.id, name)).id;
}

/** A user or an account, as options name it. */
export interface OfEntity {
  readonly user?: string | undefined;
  readonly account?: string | undefined;
}

/** The options of `OfEntity`. */
export const entityOptions: readonly Option[] = [
  new Option("--user <id>", "the user with this id").conflicts("account"),
  new Option("--account <id>", "the account with this id"),
];

type Method = "GET" | "POST" | "PATCH";
type AboutUser<M extends Method, What extends string> = Extract<RouteName, `${M} /api/users/:userId/${What}`>;

/** @throws Refusal when not one of both is named */
export function refuseUnlessOne({ user, account }: OfEntity): void {
  if ((user === undefined) === (account === undefined)) throw new Refusal("give either --user or --account.");
}

/** Asks a route that users and accounts both have. @throws Refusal when not one of both is named */
export function askAbout<M extends Method, What extends string>(
  { ask }: Api,
  entity: OfEntity,
  method: M,
  what: What,
  sent: {
    readonly body?: RouteBody<AboutUser<M, What>>;
    readonly query?: Readonly<Record<string, string | number | undefined>>;
  } = {},
): Promise<RouteAnswer<AboutUser<M, What>>> {
  refuseUnlessOne(entity);
  const { user, account } = entity;
  const [kind, path] =
    account === undefined
      ? (["users/:userId", { userId: user ?? "" }] as const)
      : (["accounts/:accountId", { accountId: account }] as const);
  // The routes of users and accounts take the same bodies and have the same answers.
  const name = `${method} /api/${kind}/${what}` as AboutUser<M, What>;
  return ask(name, { ...sent, path } as never);
}
