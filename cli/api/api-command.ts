/** `rekindle api METHOD PATH` */
import { Command } from "commander";
import { needsSession, type Route } from "../../contract/api/route.ts";
import { routes } from "../../contract/api/routes.ts";
import { Refusal } from "../../contract/refusal.ts";
import { RouteTable } from "../../server/http/port/route-table.ts";
import { organizationOption } from "../installation.ts";
import { textOf } from "../text-of.ts";
import { withApi } from "./ask.ts";

interface Options {
  readonly organization?: string;
  readonly body?: string;
}

/** The command that sends any request of the JSON API. */
export function apiCommand(): Command {
  return new Command("api")
    .description("Send a request to the JSON API, and print its answer as it is")
    .argument("<method>", "GET, POST, PUT, PATCH or DELETE")
    .argument("<path>", "the path with its parameters: /api/users?limit=5")
    .addOption(organizationOption)
    .option("--body <json>", "the body as JSON, @FILE, or @- for standard input")
    .action(async (given: string, path: string, { organization, body = "{}" }: Options) => {
      const method = given.toUpperCase();
      refuseUnknown(method, path);
      const text = body.startsWith("@") ? await textOf(body.slice(1)) : body;
      const hasBody = method !== "GET" && method !== "DELETE";
      await withApi(organization, ({ send }) =>
        send({ method, path, ...(hasBody && { body: text }) }, async (answer) => {
          for await (const bytes of answer.body ?? []) process.stdout.write(bytes);
          const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
          if (isJson) process.stdout.write("\n");
        }),
      );
    });
}

/** @throws Refusal for a path that the command line cannot ask */
function refuseUnknown(method: string, path: string): void {
  const [pathname = ""] = path.split("?");
  const table: Readonly<Record<string, Route>> = routes;
  const found = new RouteTable(table).find(method, pathname);
  if (found === undefined)
    throw new Refusal(`the API has no ${method} ${pathname}: see /reference of the service.`);
  if (needsSession(found.route)) throw new Refusal(`${found.name} is for people who sign in.`);
}
