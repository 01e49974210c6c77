/** `rekindle segment list | create | delete | export | history` */
import { readFile } from "node:fs/promises";
import { Command, Option } from "commander";
import { parse } from "csv-parse/sync";
import { Compile } from "typebox/compile";
import { type Filter, FilterSchema } from "../../contract/actions/filters.ts";
import {
  type SegmentKind,
  segmentHistoryLimits,
  segmentKinds,
  segmentLimits,
} from "../../contract/actions/segments.ts";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { explainInvalid } from "../../contract/explain.ts";
import { isName } from "../../contract/names.ts";
import { Refusal } from "../../contract/refusal.ts";
import { commandLine, type SegmentContent } from "../../server/ledger/ledger.ts";
import { withFigures } from "../figures/ask.ts";
import { type OfOrganization, withOrganization } from "../installation.ts";
import { instant, oneLine, printTable } from "../print.ts";
import { segmentNamed, segmentOf } from "../segment-named.ts";

/** The command for segments. */
export function segmentCommand(): Command {
  return new Command("segment")
    .description("List, create, delete and export segments of users or accounts, and show their history")
    .addCommand(list())
    .addCommand(create())
    .addCommand(remove())
    .addCommand(exported())
    .addCommand(history());
}

const organizationOption = ["--organization <name>", "the organization"] as const;

function list(): Command {
  return new Command("list")
    .description("List an organization's segments")
    .requiredOption(...organizationOption)
    .action(({ organization }: OfOrganization) =>
      withOrganization(organization, async ({ ledger }, { id }) => {
        const segments = await ledger.segments.list(id);
        printTable(
          ["NAME", "ID", "OF", "FILTER", "UPDATED"],
          segments.map((one) => [
            ...[oneLine(one.name), String(one.id), one.kind],
            one.filter === null ? `${one.fixed} fixed ids` : oneLine(JSON.stringify(one.filter)),
            instant(one.updatedAtMs),
          ]),
        );
      }),
    );
}

interface CreateOptions extends OfOrganization {
  readonly kind: SegmentKind;
  readonly filter?: string;
  readonly ids?: string;
}

function create(): Command {
  return new Command("create")
    .description("Save a segment with a filter, or with the ids of a file")
    .argument("<name>", "the segment's name")
    .requiredOption(...organizationOption)
    .addOption(new Option("--kind <kind>", "what is in it").choices(segmentKinds).default("users"))
    .option("--filter <json>", 'conditions as in the API: \'{"riskBand": "high"}\'')
    .option(
      "--ids <file>",
      "a CSV whose first column has userIds or accountIds, with this name as its header or without one",
    )
    .action((name: string, options: CreateOptions) =>
      withOrganization(options.organization, async ({ ledger }, { id }) => {
        if (!isName(name) || name.length > segmentLimits.nameCharacters) {
          throw new Refusal(`the name is not valid: give 1 to ${segmentLimits.nameCharacters} characters.`);
        }
        const wanted = { kind: options.kind, name: name.trim(), content: await contentOf(options) };
        const { segment, unknownIds } = await ledger.segments.add(id, wanted, commandLine, Date.now());
        process.stderr.write(`segment ${segment.id} is saved\n`);
        if (unknownIds.length > 0) {
          process.stderr.write(`${unknownIds.length} ids are unknown and were left out\n`);
        }
      }),
    );
}

/** @throws Refusal when not one of both is given, or it is not valid */
async function contentOf({ kind, filter, ids }: CreateOptions): Promise<SegmentContent> {
  if (filter !== undefined && ids === undefined) return { filter: filterOf(filter) };
  if (ids === undefined || filter !== undefined) throw new Refusal("give either --filter or --ids.");
  let text: string;
  try {
    text = await readFile(ids, "utf8");
  } catch (error) {
    throw new Refusal(`--ids: ${ids} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  return { ids: idsIn(text, kind) };
}

function filterOf(text: string): Filter {
  let filter: unknown;
  try {
    filter = JSON.parse(text);
  } catch {
    throw new Refusal("--filter is not valid: give a JSON object.");
  }
  const validator = Compile(FilterSchema);
  if (validator.Check(filter)) return filter;
  throw new Refusal(`--filter: ${explainInvalid(FilterSchema, validator, filter)}`);
}

/** The first column of a CSV, without its header. @throws Refusal when there are too many ids */
function idsIn(csv: string, kind: SegmentKind): string[] {
  const rows: string[][] = parse(csv, { bom: true, relaxColumnCount: true, skipEmptyLines: true });
  const ids = rows.map(([id = ""]) => id).filter((id) => id !== "");
  if (ids[0] === (kind === "users" ? "userId" : "accountId")) ids.shift();
  if (ids.length > 0 && ids.length <= segmentLimits.fixedIds) return ids;
  throw new Refusal(`--ids has ${ids.length} ids: give 1 to ${segmentLimits.fixedIds}.`);
}

function remove(): Command {
  return new Command("delete")
    .description("Delete a segment that no other one has in its filter")
    .argument("<name>", "the segment's name")
    .requiredOption(...organizationOption)
    .action((name: string, { organization }: OfOrganization) =>
      withOrganization(organization, async ({ ledger }, { id }) => {
        const segment = await segmentNamed(ledger, id, name);
        await ledger.segments.remove(id, segment.id, commandLine, Date.now());
      }),
    );
}

function exported(): Command {
  return new Command("export")
    .description("Write the users or accounts that are in a segment now as CSV")
    .argument("<name>", "the segment's name")
    .requiredOption(...organizationOption)
    .action(async (name: string, { organization }: OfOrganization) => {
      const { kind, id } = await segmentOf(organization, name);
      await withFigures(organization, async (ask) => {
        const { body } = await ask(`/api/${kind}?segment=${id}&format=csv`);
        for await (const bytes of body ?? []) process.stdout.write(bytes);
      });
    });
}

function history(): Command {
  return new Command("history")
    .description(
      "Show how many users or accounts were in a segment on each day, and how many entered and left",
    )
    .argument("<name>", "the segment's name")
    .requiredOption(...organizationOption)
    .action(async (name: string, { organization }: OfOrganization) => {
      const { id } = await segmentOf(organization, name);
      await withFigures(organization, async (ask) => {
        const answer = await ask(`/api/segments/${id}/history?days=${segmentHistoryLimits.days}`);
        const { days } = (await answer.json()) as RouteAnswer<"GET /api/segments/:id/history">;
        printTable(
          ["DAY", "SIZE", "ENTERED", "LEFT", "CAUSES"],
          days.map(({ day, size, entered, left, causes }) => [
            ...[day, String(size), String(entered), String(left), causes.join(", ")],
          ]),
        );
      });
    });
}
