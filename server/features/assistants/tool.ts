/** How a tool of assistants is made: its words, its input, and what it answers. */
import { type CallToolResult, fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";
import type { Static, TObject } from "typebox";
import Type from "typebox";
import { Compile } from "typebox/compile";
import { assistantLimits } from "../../../contract/assistants/assistants.ts";
import { explainInvalid } from "../../../contract/explain.ts";
import { ApiError, Refusal } from "../../../contract/refusal.ts";
import type { ToolAnswer } from "./answer.ts";
import type { Asking } from "./asking.ts";

interface Definition<Input extends TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly writes?: true;
  readonly run: (asking: Asking, input: Static<Input>) => Promise<ToolAnswer>;
}

/** A tool that can be offered to an assistant. */
export interface Tool {
  readonly name: string;
  readonly writes: boolean;
  /** @param taken waits for, or refuses, a call @throws ApiError past the limit */
  offer(server: McpServer, asking: Asking, taken: () => void): void;
}

/** Makes a tool. */
export function tool<Input extends TObject>(definition: Definition<Input>): Tool {
  const { name, title, description, input, run, writes = false } = definition;
  const inputSchema = checkedInput(input);
  const annotations = writes
    ? { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false }
    : { readOnlyHint: true, openWorldHint: false };
  return {
    name,
    writes,
    offer: (server, asking, taken) => {
      server.registerTool(name, { title, description, inputSchema, annotations }, (given) =>
        resultOf(() => {
          taken();
          return run(asking, given);
        }),
      );
    },
  };
}

/** A schema as the protocol's library takes it, with our sentences for what is wrong. */
export function checkedInput<Input extends TObject>(input: Input) {
  const validator = Compile(input);
  return fromJsonSchema<Static<Input>>(input, {
    getValidator:
      <Value>() =>
      (given: unknown) =>
        validator.Check(given)
          ? { valid: true, data: given as Value, errorMessage: undefined }
          : { valid: false, data: undefined, errorMessage: explainInvalid(input, validator, given) },
  });
}

/** What cannot be answered is said in words: the assistant can then ask better. */
async function resultOf(answer: () => Promise<ToolAnswer>): Promise<CallToolResult> {
  try {
    const structured = await answer();
    return {
      content: [{ type: "text", text: JSON.stringify(structured) }],
      structuredContent: { ...structured },
    };
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof Refusal)) throw error;
    const wait = error instanceof ApiError ? error.retryAfterSeconds : undefined;
    const text = wait === undefined ? error.message : `${error.message} Try again in ${wait} s.`;
    return { content: [{ type: "text", text }], isError: true };
  }
}

const id = { minLength: 1, maxLength: 256 } as const;

/** Inputs that several tools have. */
export const Input = {
  userId: Type.String(id),
  accountId: Type.String(id),
  text: (description: string) => Type.Optional(Type.String({ ...id, description })),
  kind: Type.Enum(["user", "account"]),
  day: (description: string) => Type.Optional(Type.String({ format: "date", description })),
  segment: Type.Optional(Type.Integer({ minimum: 1, description: "Segment id." })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: assistantLimits.mostRows,
      description: `Rows; default ${assistantLimits.rows}.`,
    }),
  ),
  idempotencyKey: Type.String({
    minLength: 8,
    maxLength: 64,
    pattern: "^[A-Za-z0-9._:-]+$",
    description: "New for each change; the same again only to retry.",
    "x-send": "8 to 64 letters, digits and . _ : -",
  }),
};

/** An input without other fields. */
export const input = <Properties extends Type.TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
