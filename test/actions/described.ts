/** The part of the OpenAPI document about messages to webhooks. */
import { Compile } from "typebox/compile";
import type { Server } from "../server.ts";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}
interface Operation {
  readonly parameters: readonly { readonly name: string }[];
  readonly requestBody: { readonly content: { readonly "application/json": { readonly schema: Schema } } };
}

/** The part of the document about messages. */
export interface MessagesDocument {
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
}

/** The document that a server gives. */
export async function documentOf(server: Server): Promise<MessagesDocument> {
  return (await (await fetch(`${server.url}/openapi.json`)).json()) as MessagesDocument;
}

/** The headers that a message has. */
export function headersOf({ webhooks }: MessagesDocument, text: string): readonly string[] {
  return (webhooks[typeOf(text)]?.post.parameters ?? []).map(({ name }) => name);
}

function typeOf(text: string): string {
  return (JSON.parse(text) as { readonly type: string }).type;
}

/** The differences between a message and the document: none for a message that it describes in every
 * field. */
export function notDescribed({ webhooks }: MessagesDocument, text: string): readonly string[] {
  const [type, message] = [typeOf(text), JSON.parse(text) as object];
  const schema = webhooks[type]?.post.requestBody.content["application/json"].schema;
  if (schema === undefined) return [`There is no webhook ${type}.`];
  const errors = Compile(schema).Errors(message);
  return [
    ...Array.from(errors, ({ instancePath, message: why }) => `${instancePath} ${why}`),
    ...unknownFields(schema, message, ""),
  ];
}

function unknownFields(schema: Schema, value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => unknownFields(schema.items ?? {}, item, `${path}/${index}`));
  }
  if (typeof value !== "object" || value === null) return [];
  if (schema.anyOf !== undefined) {
    const chosen = schema.anyOf.find((alternative) => Compile(alternative).Check(value));
    return unknownFields(chosen ?? {}, value, path);
  }
  return Object.entries(value).flatMap(([name, inside]) => {
    const field = schema.properties?.[name];
    return field === undefined
      ? [`${path}/${name} is not described`]
      : unknownFields(field, inside, `${path}/${name}`);
  });
}
