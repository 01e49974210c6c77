/**
 * The reference for people: the whole OpenAPI document as one page of HTML and styles, without scripts. The
 * browser's own search finds everything: it opens the closed operations.
 */
import { openApiDocument } from "./openapi.ts";
import { sourcesTag } from "./openapi-sources.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly content?: Content;
}

interface Operation {
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;
type Schemas = Readonly<Record<string, Schema>>;

interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Paths;
  readonly webhooks: Paths;
  readonly components: { readonly schemas: Schemas };
}

/** One operation with its address; of a webhook, the type of the message is the address. */
interface Listed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** The page as HTML; every text in it is escaped. */
export function referencePage(publicUrl: string): string {
  const { info, paths, webhooks, components } = openApiDocument(publicUrl) as OpenApi;
  const { schemas } = components;
  const all = listed(paths);
  // Jitsu's and Dittofeed's paths begin with /api, too.
  const ofSources = all.filter(({ operation }) => operation.tags?.includes(sourcesTag));
  const others = all.filter((one) => !ofSources.includes(one));
  const api = others.filter(({ path }) => path.startsWith("/api/"));
  const writes = others.filter((one) => !api.includes(one));
  const topics = Map.groupBy(api, ({ path }) => path.split("/")[2] ?? "");
  const title = escapeHtml(info.title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title} API</h1>
<p>${escapeHtml(info.description)} Version ${escapeHtml(info.version)}, also as <a href="openapi.json">OpenAPI 3.1</a>.</p>
<p>Errors are <code>{"message", "statusCode", "name"}</code>: branch on <code>name</code>.</p>
<nav>
<a href="#write">The write API</a>
<a href="#sources">${sourcesTag}</a>
<a href="#messages">Messages to destinations</a>
${[...topics.keys()].map((topic) => `<a href="#api-${topic}">/api/${topic}</a>`).join("\n")}
</nav>
<h2 id="write">The write API</h2>
<p>Every request carries <code>Authorization: Basic &lt;PROJECT_TOKEN&gt;</code> and a JSON body,
which may be compressed: <code>Content-Encoding: gzip</code> or <code>deflate</code>.</p>
${writes.map((one) => writeSection(one, schemas, publicUrl)).join("\n")}
<h2 id="sources">${sourcesTag}</h2>
${sourcesTable(ofSources)}
<h2 id="api">The JSON API</h2>
<p>Requests carry <code>Authorization: Bearer &lt;READ_KEY&gt;</code>, or the cookie of a session. Every table is also CSV: <code>format=csv</code>.</p>
${[...topics].map(([topic, ones]) => `<h3 id="api-${topic}">/api/${topic}</h3>\n${details(ones, schemas)}`).join("\n")}
<h2 id="messages">Messages to destinations</h2>
${details(listed(webhooks), schemas)}
</main>
</body>
</html>
`;
}

function listed(paths: Paths): Listed[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

const examples: Record<string, object> = {
  "/identify": {
    userId: "u1",
    email: "ada@example.com",
    properties: { name: "Ada", plan: "pro", acquisitionChannel: "search" },
    account: { id: "a1", name: "Analytical Engines" },
  },
  "/track": {
    userId: "u1",
    event: "report_created",
    properties: { pages: 3 },
    timestamp: "2026-05-17T09:30:00Z",
  },
  "/batch": {
    batch: [
      { type: "identify", userId: "u1", email: "ada@example.com" },
      { type: "track", userId: "u1", event: "report_created" },
    ],
  },
};

function writeSection({ method, path, operation }: Listed, schemas: Schemas, publicUrl: string): string {
  const example = JSON.stringify(examples[path] ?? {});
  return `<section>
<h3><span class="method">${method}</span> ${escapeHtml(path)}</h3>
<p><strong>${escapeHtml(operation.summary)}.</strong> ${escapeHtml(operation.description ?? "")}</p>
<pre>curl -X POST ${escapeHtml(publicUrl + path)} \\
  -H 'Authorization: Basic rk-…' \\
  -H 'Content-Type: application/json' \\
  -d '${escapeHtml(example)}'</pre>
${tables(operation, schemas)}
</section>`;
}

function sourcesTable(ofSources: readonly Listed[]): string {
  const rows = ofSources.map(({ path, operation }) => [
    `<code>POST ${escapeHtml(path)}</code>`,
    `${prose(operation.summary)}.`,
  ]);
  return `<p>${prose(ofSources[0]?.operation.description ?? "")}</p>
${table(["Path", "What it takes"], rows)}`;
}

function details(ones: readonly Listed[], schemas: Schemas): string {
  const each = ones.map(
    ({ method, path, operation }) => `<details>
<summary><code><span class="method">${method}</span> ${escapeHtml(path)}</code> ${prose(operation.summary)}</summary>
<p>${prose(operation.description ?? "")}</p>
${tables(operation, schemas)}
</details>`,
  );
  return each.join("\n");
}

/** Parameters, fields of the body, fields of the answer, and statuses. */
function tables({ parameters = [], requestBody, responses }: Operation, schemas: Schemas): string {
  const answer = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  const ofBody = fieldRows(schemaOf(requestBody?.content, schemas), schemas, "");
  const ofAnswer = fieldRows(schemaOf(answer?.content, schemas), schemas, "");
  return [
    table(
      ["Parameter", "Type", "Meaning"],
      parameters.map((one) => parameterRow(one, schemas)),
    ),
    table(["Field", "Type", "Meaning"], ofBody),
    table(
      ["Field of the answer", "Type", "Meaning"],
      ofAnswer.map(([name = "", ...others]) => [name.replace(requiredMark, ""), ...others]),
    ),
    table(
      ["Status", "Meaning"],
      Object.entries(responses).map(([status, { description }]) => [status, prose(description)]),
    ),
  ].join("");
}

/** Cells are HTML. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
  return `<table>
<thead>${line(head, "th")}</thead>
<tbody>
${rows.map((cells) => line(cells, "td")).join("\n")}
</tbody>
</table>
`;
}

function parameterRow(parameter: Parameter, schemas: Schemas): string[] {
  const { name, in: place, required = false, description, content } = parameter;
  const schema = parameter.schema ?? schemaOf(content, schemas);
  const where = place === "query" ? "" : ` (${place})`;
  const type = typeOf(schema, schemas) + where;
  return row(name, { type, required, description: description ?? schema.description ?? "" });
}

/** A row for each field, and below an object, or a list of objects, the rows of its own fields. */
function fieldRows(schema: Schema, schemas: Schemas, prefix: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const inner = objectIn(field, schemas);
    const path = `${prefix}${key}${inner?.isList ? "[]" : ""}`;
    const description = field.description ?? inner?.schema.description ?? "";
    const required = schema.required?.includes(key) === true;
    const own = row(path, { type: typeOf(field, schemas), required, description });
    return inner === undefined ? [own] : [own, ...fieldRows(inner.schema, schemas, `${path}.`)];
  });
}

const requiredMark = ' <em class="required">required</em>';

function row(name: string, about: { type: string; required: boolean; description: string }): string[] {
  const { type, required, description } = about;
  return [
    `<code>${escapeHtml(name)}</code>${required ? requiredMark : ""}`,
    escapeHtml(type),
    prose(description),
  ];
}

/** The object with fields of its own that a field is, may be, or is a list of. */
function objectIn(
  field: Schema,
  schemas: Schemas,
): { readonly schema: Schema; readonly isList: boolean } | undefined {
  for (const choice of [field, ...(field.anyOf ?? [])].map((one) => resolved(one, schemas))) {
    if (choice.properties !== undefined) return { schema: choice, isList: false };
    const item = choice.items && objectIn(choice.items, schemas);
    if (item !== undefined) return { schema: item.schema, isList: true };
  }
  return undefined;
}

function schemaOf(content: Content | undefined, schemas: Schemas): Schema {
  const schema = content?.["application/json"]?.schema;
  return schema === undefined ? {} : resolved(schema, schemas);
}

function resolved(schema: Schema, schemas: Schemas): Schema {
  return schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema;
}

function typeOf(field: Schema, schemas: Schemas): string {
  const schema = resolved(field, schemas);
  if (schema.anyOf !== undefined) {
    return [...new Set(schema.anyOf.map((choice) => typeOf(choice, schemas)))].join(" or ");
  }
  if ("const" in schema) return JSON.stringify(schema.const);
  const said = schema.enum?.map((value) => JSON.stringify(value)).join(", ") ?? schema.type ?? "any";
  const items = schema.items === undefined ? "" : ` of ${typeOf(schema.items, schemas)}`;
  const format = schema.format === undefined ? "" : ` (${schema.format})`;
  const limits = [
    schema.maxLength === undefined ? "" : `, at most ${schema.maxLength} characters`,
    schema.minimum === undefined ? "" : `, from ${schema.minimum}`,
    schema.maximum === undefined ? "" : `, to ${schema.maximum}`,
    schema.default === undefined ? "" : `, default ${JSON.stringify(schema.default)}`,
  ];
  return `${said}${items}${format}${limits.join("")}`;
}

/** Text with `code` in back-ticks. */
function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const style = `
:root { color-scheme: light dark; --ink: #1c2321; --soft: #5b6763; --line: #d9dfdc; --ground: #fbfcfb; --accent: #0b6e4f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6ece9; --soft: #9aa7a2; --line: #303a36; --ground: #121715; --accent: #5ec79f; }
}
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 56rem; margin: 0 auto; padding: 2.5rem 1.25rem 5rem; }
h1 { font-size: 1.7rem; letter-spacing: -0.02em; }
h2 { margin-top: 3rem; font-size: 1.25rem; font-family: ui-monospace, monospace; }
.method { color: var(--accent); }
.required { color: var(--accent); font-size: 0.8rem; }
a { color: var(--accent); }
code, pre { font-family: ui-monospace, monospace; font-size: 0.875rem; }
pre { padding: 1rem; border: 1px solid var(--line); border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; margin: 1rem 0; font-size: 0.925rem; }
th { text-align: left; color: var(--soft); font-weight: 500; }
th, td { padding: 0.5rem 0.75rem 0.5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:first-child { white-space: nowrap; }
details { border-bottom: 1px solid var(--line); padding: 0.5rem 0; }
summary { cursor: pointer; }
summary code { font-weight: 600; }
nav { columns: 14rem; margin: 1rem 0; }
nav a { display: block; }
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
  td { display: block; padding: 0.1rem 0; border: 0; }
  td:nth-child(2):not(:last-child) { color: var(--soft); }
}
`;
