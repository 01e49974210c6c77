/** `rekindle export` */
import { Argument, Command, Option } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import { features } from "../../server/features/features.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import { CallFailed } from "../../server/process/control.ts";
import { messageOf } from "../../server/process/message-of.ts";
import type { AnalysisService } from "../../server/warehouse/analysis.ts";
import { type ExportFormat, exportFormats } from "../../server/warehouse/copies/export.ts";
import { exportNames } from "../../server/warehouse/copies/work-export.ts";
import { withAnalysis } from "../analysis.ts";
import { type OfOrganization, organizationOf, organizationOption } from "../installation.ts";

interface Options extends OfOrganization {
  readonly format: ExportFormat;
  readonly user?: string;
}

export function exportCommand(): Command {
  return new Command("export")
    .description("Write an organization's data to standard output, including everything acknowledged before")
    .addArgument(new Argument("<what>", "what to export").choices([...exportNames(features), "person"]))
    .addOption(organizationOption)
    .addOption(new Option("--format <format>", "how it is written").choices(exportFormats).default("jsonl"))
    .option("--user <id>", "of person: the user about whom everything is written, as one JSON document")
    .action((what: string, options: Options) => {
      const { organization: name, user: userId } = options;
      if ((what === "person") !== (userId !== undefined)) {
        throw new Refusal("export person needs --user, and nothing else takes it.");
      }
      return withAnalysis(async ({ ledger }, analysis) => {
        const { id } = await organizationOf(ledger, name);
        try {
          await writeToStdout(bytesOf(analysis, what, id, options));
        } catch (error) {
          if (error instanceof Refusal || (error instanceof CallFailed && error.isRefusal)) throw error;
          throw new CallFailed(`the export is incomplete: ${messageOf(error)}`);
        }
      });
    });
}

function bytesOf(
  analysis: AnalysisService,
  what: string,
  organization: number,
  { format, user = "" }: Options,
): AsyncIterable<Uint8Array> {
  return what === "person"
    ? analysis.person({ organization, userId: user, by: commandLine })
    : analysis.export(organization, what, format);
}

async function writeToStdout(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const output = Bun.stdout.writer();
  for await (const chunk of chunks) {
    output.write(chunk);
    // Waits for a slow reader, so that memory stays flat.
    await output.flush();
  }
  await output.end();
}
