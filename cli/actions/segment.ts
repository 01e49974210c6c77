/** `rekindle segment list | create | change | delete | export | history` */

import { readFile } from "node:fs/promises";
import { Command, Option } from "commander";
import { parse } from "csv-parse/sync";
import { Compile } from "typebox/compile";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { explainInvalid } from "../../contract/explain.ts";
import { isName } from "../../contract/names.ts";
import { Refusal } from "../../contract/refusal.ts";
import { type Filter, FilterSchema } from "../../contract/segments/filters.ts";
import {
  type SegmentKind,
  segmentHistoryLimits,
  segmentKinds,
  segmentLimits,
} from "../../contract/segments/segments.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { Time } from "../../server/process/time.ts";
import { withFigures } from "../figures/ask.ts";
import { type OfOrganization, withOrganization } from "../installation.ts";
import { instant, oneLine, printTable } from "../print.ts";
import { segmentNamed, segmentOf } from "../segment-named.ts";
import { apiCommand } from "./api-command.ts";

/** The command for segments. */
export function segmentCommand(time: Time): Command {
  return new Command("segment")
    .description(
      "List, create, change, delete and export segments of users or accounts, and show their history",
    )
    .addCommand(list())
    .addCommand(create(time))
    .addCommand(change())
    .addCommand(remove(time))
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
        printSegments(segments.map((one) => ({ ...one, updatedAt: instant(one.updatedAtMs) })));
      }),
    );
}

type Printed = Pick<RouteAnswer<"PATCH /api/segments/:id">, "name" | "id" | "kind" | "filter" | "fixed"> & {
  readonly updatedAt: string;
};

function printSegments(segments: readonly Printed[]): void {
  printTable(
    ["NAME", "ID", "OF", "FILTER", "UPDATED"],
    segments.map(({ name, id, kind, filter, fixed, updatedAt }) => [
      oneLine(name),
      String(id),
      kind,
      filter === null ? `${fixed} fixed ids` : oneLine(JSON.stringify(filter)),
      updatedAt,
    ]),
  );
}

interface ContentOptions {
  readonly filter?: string;
  readonly ids?: string;
}

const filterOption = new Option("--filter <json>", 'conditions as in the API: \'{"riskBand": "high"}\'');
const idsOption = new Option(
  "--ids <file>",
  "a CSV whose first column has userIds or accountIds, with this name as its header or without one",
);

interface CreateOptions extends OfOrganization, ContentOptions {
  readonly kind: SegmentKind;
}

function create(time: Time): Command {
  return new Command("create")
    .description("Save a segment with a filter, or with the ids of a file")
    .argument("<name>", "the segment's name")
    .requiredOption(...organizationOption)
    .addOption(new Option("--kind <kind>", "what is in it").choices(segmentKinds).default("users"))
    .addOption(filterOption)
    .addOption(idsOption)
    .action((name: string, options: CreateOptions) =>
      withOrganization(options.organization, async ({ ledger }, { id }) => {
        if (!isName(name) || name.length > segmentLimits.nameCharacters) {
          throw new Refusal(`the name is not valid: give 1 to ${segmentLimits.nameCharacters} characters.`);
        }
        const content = await contentOf(options.kind, options);
        const wanted = { kind: options.kind, name: name.trim(), content };
        const { segment, unknownIds } = await ledger.segments.add(id, wanted, commandLine, time.nowMs());
        process.stderr.write(`segment ${segment.id} is saved\n`);
        warnOfUnknown(unknownIds);
      }),
    );
}

function warnOfUnknown(ids: readonly string[]): void {
  if (ids.length === 0) return;
  const some = ids.length === 1 ? "1 id is unknown and was" : `${ids.length} ids are unknown and were`;
  process.stderr.write(`${some} left out\n`);
}

interface ChangeOptions extends ContentOptions {
  readonly name?: string;
}

function change(): Command {
  return apiCommand<ChangeOptions, RouteAnswer<"PATCH /api/segments/:id">>({
    words: "change <name>",
    description: "Rename a segment, or change its filter or its ids",
    options: [new Option("--name <name>", "another name"), filterOption, idsOption],
    run: async ({ installation, organization, ask }, [name = ""], { name: renamed, ...options }) => {
      const { id, kind } = await segmentNamed(installation.ledger, organization.id, name);
      const isSame = options.filter === undefined && options.ids === undefined;
      if (renamed === undefined && isSame) throw new Refusal("give --name, --filter or --ids.");
      const body = {
        ...(renamed !== undefined && { name: renamed }),
        ...(!isSame && (await contentOf(kind, options))),
      };
      return ask("PATCH /api/segments/:id", { path: { id }, body });
    },
    print: (segment) => {
      printSegments([segment]);
      warnOfUnknown(segment.unknownIds);
    },
  });
}

/** @throws Refusal when not one of both is given, or it is not valid */
async function contentOf(
  kind: SegmentKind,
  { filter, ids }: ContentOptions,
): Promise<{ readonly filter: Filter } | { readonly ids: string[] }> {
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

/** The first column of a CSV, without its header and Excel's line `sep=;`. @throws Refusal when there are too
 * many ids */
function idsIn(csv: string, kind: SegmentKind): string[] {
  const delimiter = [",", ";", "\t"];
  const rows: string[][] = parse(csv, { bom: true, delimiter, relaxColumnCount: true, skipEmptyLines: true });
  const ids = rows.map(([id = ""]) => id).filter((id, row) => id !== "" && (row > 0 || id !== "sep="));
  if (ids[0] === (kind === "users" ? "userId" : "accountId")) ids.shift();
  if (ids.length > 0 && ids.length <= segmentLimits.fixedIds) return ids;
  throw new Refusal(`--ids has ${ids.length} ids: give 1 to ${segmentLimits.fixedIds}.`);
}

function remove(time: Time): Command {
  return new Command("delete")
    .description("Delete a segment that no other segment and no alert rule uses")
    .argument("<name>", "the segment's name")
    .requiredOption(...organizationOption)
    .action((name: string, { organization }: OfOrganization) =>
      withOrganization(organization, async ({ ledger }, { id }) => {
        const segment = await segmentNamed(ledger, id, name);
        await ledger.segments.remove(id, segment.id, commandLine, time.nowMs());
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
            day,
            String(size),
            String(entered),
            String(left),
            causes.join(", "),
          ]),
        );
      });
    });
}
