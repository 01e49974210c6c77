/** `rekindle export` */
import { Argument, Command, Option } from "commander";
import { CallFailed, messageOf } from "../../server/process/process.ts";
import {
  type ExportFormat,
  type ExportTable,
  exportFormats,
  exportTables,
} from "../../server/warehouse/warehouse.ts";
import { withAnalysis } from "../analysis.ts";
import { type OfOrganization, organizationNamed } from "../installation.ts";

export function exportCommand(): Command {
  return new Command("export")
    .description("Write an organization's data to standard output, including everything acknowledged before")
    .addArgument(new Argument("<what>", "what to export").choices(exportTables))
    .requiredOption("--organization <name>", "the organization")
    .addOption(new Option("--format <format>", "how it is written").choices(exportFormats).default("jsonl"))
    .action((what: ExportTable, { organization: name, format }: OfOrganization & { format: ExportFormat }) =>
      withAnalysis(async ({ ledger }, analysis) => {
        const { id } = await organizationNamed(ledger, name);
        try {
          await writeToStdout(analysis.export(id, what, format));
        } catch (error) {
          throw new CallFailed(`the export is incomplete: ${messageOf(error)}`);
        }
      }),
    );
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
