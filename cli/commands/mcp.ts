/** `rekindle mcp` */
import { createInterface } from "node:readline";
import { Command } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import { readAssistantVariables, readConfig } from "../../server/config.ts";
import { remote } from "../../server/process/call.ts";
import { socketPeer, Unreachable } from "../../server/process/control.ts";
import { socketPath } from "../../server/process/sockets.ts";
import type { PublicPort } from "../../server/start/start-intake.ts";
import { bridge } from "../mcp-bridge.ts";

/** The command that AI assistants start. */
export function mcpCommand(): Command {
  return new Command("mcp")
    .description("Connect an AI assistant to Rekindle by standard input and output (MCP)")
    .option("--url <url>", "the address of Rekindle: REKINDLE_URL. Default: the server of DATA_DIR")
    .addHelpText("after", "\nThe read key comes from REKINDLE_KEY: Settings, Assistants makes one.")
    .action(async ({ url: given }: { url?: string }) => {
      const { url, key } = readAssistantVariables({ url: given });
      if (key === undefined) {
        throw new Refusal("REKINDLE_KEY is missing: set it to a read key, made under Settings, Assistants.");
      }
      const server = { url: (url ?? (await ownAddress())).replace(/\/$/, ""), key };
      const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
      await bridge(server, lines, (line) => process.stdout.write(`${line}\n`));
    });
}

/** The address of the server that runs here. @throws Refusal when none runs */
async function ownAddress(): Promise<string> {
  const { dataDir } = readConfig();
  try {
    return await remote<{ http: PublicPort }>(socketPeer(socketPath(dataDir, "control"))).http.address();
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    throw new Refusal(
      `no server runs on ${dataDir}: start one, or say with --url (REKINDLE_URL) where Rekindle is.`,
    );
  }
}
