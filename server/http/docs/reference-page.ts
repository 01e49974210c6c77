/** The reference for people: the OpenAPI document as one page without scripts. */
import { openApiDocument } from "./openapi.ts";
import { sourcesTag } from "./openapi-sources.ts";

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface Operation {
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly requestBody: { readonly content: { "application/json": { schema: { $ref: string } } } };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The page as HTML; every text in it is escaped. */
export function referencePage(publicUrl: string): string {
  const { info, paths, components } = openApiDocument(publicUrl) as OpenApi;
  const all = Object.entries(paths);
  // Jitsu's and Dittofeed's paths begin with /api, too.
  const ofSources = all.filter(([, item]) => item.post?.tags?.includes(sourcesTag));
  const sections = all
    .filter((one) => !one[0].startsWith("/api/") && !ofSources.includes(one))
    .map(([path, { post }]) => operationSection(path, post, components.schemas, publicUrl));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)} write API</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(info.title)} write API</h1>
<p>${escapeHtml(info.description)} Version ${escapeHtml(info.version)}, also as <a href="openapi.json">OpenAPI 3.1</a>.</p>
<p>Every request carries <code>Authorization: Basic &lt;PROJECT_TOKEN&gt;</code> and a JSON body,
which may be compressed: <code>Content-Encoding: gzip</code> or <code>deflate</code>. Errors are
<code>{"message", "statusCode", "name"}</code>: branch on <code>name</code>.</p>
${sections.join("\n")}
${sourcesSection(ofSources)}
</main>
</body>
</html>
`;
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

function operationSection(
  path: string,
  operation: Operation,
  schemas: Readonly<Record<string, Schema>>,
  publicUrl: string,
): string {
  const name = operation.requestBody.content["application/json"].schema.$ref.split("/").at(-1) ?? "";
  const example = JSON.stringify(examples[path] ?? {});
  return `<section>
<h2><span class="method">POST</span> ${escapeHtml(path)}</h2>
<p><strong>${escapeHtml(operation.summary)}.</strong> ${escapeHtml(operation.description)}</p>
<pre>curl -X POST ${escapeHtml(publicUrl + path)} \\
  -H 'Authorization: Basic rk-…' \\
  -H 'Content-Type: application/json' \\
  -d '${escapeHtml(example)}'</pre>
<table>
<thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead>
<tbody>
${fieldRows(schemas[name] ?? {}, "")}
</tbody>
</table>
<table>
<thead><tr><th>Status</th><th colspan="2">Meaning</th></tr></thead>
<tbody>
${Object.entries(operation.responses)
  .map(([status, { description }]) => `<tr><td>${status}</td><td colspan="2">${prose(description)}</td></tr>`)
  .join("\n")}
</tbody>
</table>
</section>`;
}

function sourcesSection(ofSources: readonly (readonly [string, { readonly post: Operation }])[]): string {
  const rows = ofSources.map(
    ([path, { post }]) =>
      `<tr><td><code>POST ${escapeHtml(path)}</code></td><td colspan="2">${prose(post.summary)}.</td></tr>`,
  );
  return `<section>
<h2>${sourcesTag}</h2>
<p>${prose(ofSources[0]?.[1].post.description ?? "")}</p>
<table>
<thead><tr><th>Path</th><th colspan="2">What it takes</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>
</section>`;
}

/** A row for each field, and below an object the rows of its own fields. */
function fieldRows(schema: Schema, prefix: string): string {
  return Object.entries(schema.properties ?? {})
    .map(([key, field]) => {
      const required = schema.required?.includes(key) ? ' <em class="required">required</em>' : "";
      const path = prefix + key;
      const inner = [field, ...(field.anyOf ?? [])].find((choice) => choice.properties !== undefined);
      const description = field.description ?? inner?.description ?? "";
      return `<tr><td><code>${escapeHtml(path)}</code>${required}</td><td>${escapeHtml(typeOf(field))}</td><td>${prose(description)}</td></tr>
${inner === undefined ? "" : fieldRows(inner, `${path}.`)}`;
    })
    .join("\n");
}

function typeOf(schema: Schema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" or ");
  const limit = schema.maxLength === undefined ? "" : `, at most ${schema.maxLength} characters`;
  const format = schema.format === undefined ? "" : ` (${schema.format})`;
  return `${schema.type ?? "any"}${format}${limit}`;
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
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
  td { display: block; padding: 0.1rem 0; border: 0; }
  td:nth-child(2):not([colspan]) { color: var(--soft); }
}
`;
