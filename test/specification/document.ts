/** The OpenAPI document as tests read it, and the answers that it documents. */
import { Compile, type Validator } from "typebox/compile";
import type { Server } from "../server.ts";

interface Content {
  readonly "application/json": { readonly schema: { readonly $ref: string } };
}
interface Response31 {
  readonly description: string;
  readonly content: Content;
}
interface Operation {
  readonly requestBody: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response31>>;
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string; readonly title: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: Readonly<Record<string, { readonly [key: string]: string }>>;
  };
}

/** JSON Schema, as far as our schemas use it. */
export interface Schema {
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** A document that was read, with what tests ask it. */
export class OpenApi {
  readonly document: Document;
  readonly #validators = new Map<string, Validator>();

  private constructor(document: Document) {
    this.document = document;
  }

  /** Reads the document that a server gives. */
  static async of(server: Server): Promise<OpenApi> {
    const response = await fetch(`${server.url}/openapi.json`);
    return new OpenApi((await response.json()) as Document);
  }

  /** The operation of `POST path`. */
  operation(path: string): Operation {
    const operation = this.document.paths[path]?.post;
    if (operation === undefined) throw new Error(`no operation ${path}`);
    return operation;
  }

  /** The schema of the body of `POST path`. */
  request(path: string): Schema {
    return this.#schema(this.operation(path).requestBody.content);
  }

  #schema(content: Content): Schema {
    const name = content["application/json"].schema.$ref.split("/").at(-1) ?? "";
    const schema = this.document.components.schemas[name];
    if (schema === undefined) throw new Error(`no schema ${name}`);
    return schema;
  }

  /** The difference between an answer to `POST path` and the document. Undefined for a documented answer. */
  whyUndocumented(path: string, status: number, body: unknown): string | undefined {
    const documented = this.operation(path).responses[status];
    if (documented === undefined) return `${path} is answered ${status}, which is not documented`;
    const key = `${path} ${status}`;
    const validator = this.#validators.get(key) ?? Compile(this.#schema(documented.content));
    this.#validators.set(key, validator);
    return validator.Check(body) ? undefined : `${key} is not of its schema: ${JSON.stringify(body)}`;
  }
}
