/** Makes the command of a route: its arguments, its options, its help, and what it prints. */
import { Command } from "commander";
import { parse } from "csv-parse/sync";
import { objectOf } from "../../contract/json.ts";
import { Refusal } from "../../contract/refusal.ts";
import { type Asked, askedOf } from "../../server/http/api/asked.ts";
import { messageOf } from "../../server/process/message-of.ts";
import { organizationOption } from "../installation.ts";
import { textOf } from "../text-of.ts";
import { type Api, withApi } from "./ask.ts";
import { type Field, fieldsOf, flagOf, jsonIn, optionsOf, valueIn } from "./fields.ts";
import { idFor, idNamed, thingsIn } from "./names.ts";
import { type Operation, resourceOf } from "./operations.ts";
import { printAnswer } from "./printed.ts";

/** What an option was given; `csv` is true without columns. */
type Given = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** The command of a route. */
export function operationCommand(operation: Operation): Command {
  const { route, verb, parameters } = operation;
  const fields = fieldsOf(route);
  const command = new Command(verb).summary(route.summary).description(`${route.summary}.`);
  for (const parameter of parameters) command.argument(`<${parameter === "id" ? "id|name" : parameter}>`);
  command.addOption(organizationOption);
  for (const option of fields.flatMap(optionsOf)) command.addOption(option);
  if (route.body !== undefined) {
    command.option("--body <json>", "the whole body as JSON, @FILE, or @- for standard input");
  }
  if (route.answer !== undefined && route.isDocument !== true) {
    command.option("--json", "print the answer as JSON");
  }
  if (route.table !== undefined) {
    command.option("--csv [columns]", `print \`${route.table}\` as CSV, whole unless --limit is given`);
  }
  return command.action(async (...words: unknown[]) => {
    const given = command.opts<Given>();
    const organization = typeof given.organization === "string" ? given.organization : undefined;
    await withApi(organization, async (api) => {
      const asked = await requestOf(api, operation, words.slice(0, parameters.length).map(String), given);
      await api.send(asked, (answer) => printed(operation, answer, given));
    });
  });
}

/** The name under which Commander keeps an option: `scopeKind`. */
function keyOf(field: Field): string {
  return flagOf(field).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

async function requestOf(
  api: Api,
  operation: Operation,
  values: readonly string[],
  given: Given,
): Promise<Asked> {
  const { name, route, parameters } = operation;
  const path: Record<string, string | number> = {};
  for (const [at, parameter] of parameters.entries()) {
    const value = values[at] ?? "";
    path[parameter] = parameter === "id" ? await idNamed(api, resourceOf(name), value) : value;
  }
  const query = new URLSearchParams();
  for (const field of fieldsOf(route).filter(({ of }) => of === "query")) {
    const value = given[keyOf(field)];
    const [parameter = ""] = field.path;
    if (value === undefined) continue;
    query.set(parameter, String((await idFor(api, parameter, String(value))) ?? value));
  }
  if (given.csv !== undefined) query.set("format", "csv");
  if (typeof given.csv === "string") query.set("columns", given.csv);
  const body = route.body === undefined ? undefined : await bodyOf(api, operation, path.id, given);
  return askedOf(name, path, query, body);
}

/** The body of the options, or the one that is given whole. A PUT keeps what its options do not name. */
async function bodyOf(
  api: Api,
  { name, route }: Operation,
  id: string | number | undefined,
  given: Given,
): Promise<unknown> {
  if (typeof given.body === "string") return jsonIn(await bodyText(given.body), "--body");
  const fields = fieldsOf(route).filter(({ of }) => of === "body");
  const body: Record<string, unknown> = {};
  if (name.startsWith("PUT ") && id !== undefined) {
    const known = await thingsIn(api, resourceOf(name));
    const before = objectOf(known.find((thing) => thing.id === id));
    for (const { path } of fields) {
      const [outer = ""] = path;
      if (outer in before) body[outer] = before[outer];
    }
  }
  for (const field of fields) {
    const value = given[keyOf(field)];
    if (value === undefined) continue;
    const [outer = "", inner] = field.path;
    const sent = await namedIn(api, field, await valueIn(field, value, idsIn));
    body[outer] = inner === undefined ? sent : Object.assign({}, objectOf(body[outer]), { [inner]: sent });
  }
  return body;
}

/** The value with ids in place of names. */
async function namedIn(api: Api, { path }: Field, value: unknown): Promise<unknown> {
  const parameter = path.at(-1) ?? "";
  if (typeof value === "string") return idFor(api, parameter, value);
  if (!Array.isArray(value)) return value;
  return Promise.all(value.map((one) => (typeof one === "string" ? idFor(api, parameter, one) : one)));
}

async function bodyText(given: string): Promise<string> {
  return given.startsWith("@") ? textOf(given.slice(1)) : given;
}

const idColumns: readonly string[] = ["userId", "accountId"];

/** The first column of a CSV, without its header and Excel's line `sep=;`. @throws Refusal */
async function idsIn(file: string): Promise<readonly string[]> {
  const delimiter = [",", ";", "\t"];
  const options = { bom: true, delimiter, relaxColumnCount: true, skipEmptyLines: true };
  const text = await textOf(file);
  let rows: string[][];
  try {
    rows = parse(text, options);
  } catch (error) {
    throw new Refusal(`${file} is not a valid CSV: ${messageOf(error)}.`);
  }
  const ids = rows.map(([id = ""]) => id).filter((id, row) => id !== "" && (row > 0 || id !== "sep="));
  return idColumns.includes(ids[0] ?? "") ? ids.slice(1) : ids;
}

async function printed({ route }: Operation, answer: Response, given: Given): Promise<void> {
  if (answer.status === 204) return;
  if (given.json === true) {
    process.stdout.write(`${await answer.text()}\n`);
  } else if (given.csv !== undefined || route.isDocument === true) {
    for await (const bytes of answer.body ?? []) process.stdout.write(bytes);
  } else {
    printAnswer(await answer.json(), route.answer, route.table);
  }
}
