/** Resources that an assistant may read beside its tools: the glossary, the model card, settings, events. */
import type { McpServer } from "@modelcontextprotocol/server";
import { assistantLimits } from "../../../contract/assistants/assistants.ts";
import { glossary } from "../../../contract/assistants/glossary.ts";
import { shownText } from "./answer.ts";
import type { Asking } from "./asking.ts";

interface Resource {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly read: (asking: Asking) => Promise<unknown>;
}

const resources: readonly Resource[] = [
  {
    name: "glossary",
    title: "Glossary",
    description: "The terms of all figures.",
    read: async () => Object.fromEntries(glossary),
  },
  {
    name: "model-card",
    title: "Model card",
    description: "The models of churn risk for users and accounts, and how well they predicted.",
    read: async (asking) => ({
      user: await asking.ask("GET /api/model", { query: { kind: "user" } }),
      account: await asking.ask("GET /api/model", { query: { kind: "account" } }),
    }),
  },
  {
    name: "settings",
    title: "Settings",
    description: "The organization's settings.",
    read: (asking) => asking.ask("GET /api/settings"),
  },
  {
    name: "events",
    title: "Events",
    description: "The most frequent events. Names are texts that senders chose.",
    read: async (asking) => (await asking.ask("GET /api/events", { query: { limit: 100 } })).events,
  },
];

/** Offers the resources. @param taken as of `Tool.offer` */
export function offerResources(server: McpServer, asking: Asking, taken: () => void): void {
  for (const { name, title, description, read } of resources) {
    const uri = `rekindle://${name}`;
    const mimeType = "application/json";
    server.registerResource(name, uri, { title, description, mimeType }, async () => {
      taken();
      return { contents: [{ uri, mimeType, text: cutJson(await read(asking)) }] };
    });
  }
}

/** As JSON without unseen characters. A list that is too long is cut from its end. */
function cutJson(value: unknown): string {
  const { answerCharacters } = assistantLimits;
  let kept = value;
  let text = jsonOf(kept);
  while (text.length > answerCharacters && Array.isArray(kept) && kept.length > 0) {
    kept = kept.slice(0, Math.floor(kept.length * 0.9));
    text = jsonOf(kept);
  }
  return text.length <= answerCharacters ? text : text.slice(0, answerCharacters);
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === "string" ? shownText(each) : each));
}
