/** `rekindle segment export`; the other commands of segments are those of the API. */
import { Command } from "commander";
import { withApi } from "../api/ask.ts";
import { idNamed } from "../api/names.ts";
import { organizationOption } from "../installation.ts";

interface Options {
  readonly organization?: string;
}

/** The topic of segments. */
export function segmentCommand(): Command {
  return new Command("segment")
    .description("Segments of users or accounts, their history and their members")
    .addCommand(exported());
}

function exported(): Command {
  return new Command("export")
    .description("Write the users or accounts that are in a segment now as CSV")
    .argument("<id|name>")
    .addOption(organizationOption)
    .action((name: string, { organization }: Options) =>
      withApi(organization, async (api) => {
        const id = await idNamed(api, "segments", name);
        const { segments } = await api.ask("GET /api/segments");
        const kind = segments.find((segment) => segment.id === id)?.kind ?? "users";
        const path = `/api/${kind}?segment=${id}&format=csv`;
        await api.send({ method: "GET", path }, async ({ body }) => {
          for await (const bytes of body ?? []) process.stdout.write(bytes);
        });
      }),
    );
}
