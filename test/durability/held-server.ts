/**
 * test/serve.ts, of which a process can be held at a point of its work, so that a test kills it there: see
 * holds.ts. Points are calls of analysis to intake, which are the commits of its work, statements that write
 * to the embedded engine, and messages of intake (`post`).
 */
import { PostingThread } from "../../server/sending/posting-thread.ts";
import { held, hold, holdStatements } from "./held-process.ts";
import { holdFiles, writeWhole } from "./hold-points.ts";

const files = holdFiles(process.env.DATA_DIR ?? "");

interface Call {
  readonly operation: string;
  readonly parameters: readonly unknown[];
}

interface Chunk {
  readonly rule: number;
  readonly next: { readonly part: object | null };
}

/** A call that commits a chunk of a rule's day. */
const chunkCall = "ruleDecisions.commitDecision";
/** Rules of which this process has seen a chunk that another one has to follow. */
const inPart = new Set<number>();

const chunkIn = ({ operation, parameters }: Call) =>
  operation === chunkCall ? (parameters[0] as Chunk) : undefined;

/** The name of a call, by which it is held. A chunk that follows another one is `next chunk`. */
function nameOf(call: Call): string {
  const chunk = chunkIn(call);
  return chunk !== undefined && inPart.has(chunk.rule) ? "next chunk" : call.operation;
}

function note(call: Call): void {
  const chunk = chunkIn(call);
  if (chunk?.next.part === null) inPart.delete(chunk.rule);
  else if (chunk !== undefined) inPart.add(chunk.rule);
}

function callIn(body: unknown): Call | undefined {
  return typeof body === "string" && body.startsWith('{"operation"') ? JSON.parse(body) : undefined;
}

function holdCalls(): void {
  const ordinary = globalThis.fetch;
  const holding = async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const call = callIn(init?.body);
    if (call === undefined) return ordinary(input, init);
    await hold(nameOf(call), "before");
    const response = await ordinary(input, init);
    if (!response.ok) return response;
    note(call);
    // After a chunk the next one is waited for.
    await hold(nameOf(call), "after");
    return response;
  };
  globalThis.fetch = Object.assign(holding, { preconnect: ordinary.preconnect });
}

type Answer = (request: Request) => Response | Promise<Response>;

function holdAnswers(): void {
  const ordinary = Bun.serve;
  const holding = (options: { readonly unix?: string; readonly fetch: Answer }) => {
    if (options.unix === undefined) return ordinary(options as Parameters<typeof ordinary>[0]);
    const answer: Answer = async (request) => {
      if (request.method !== "POST" || new URL(request.url).pathname !== "/call")
        return options.fetch(request);
      const body = await request.text();
      const call = callIn(body);
      const number = call && (await hold(nameOf(call), "arrived"));
      const response = await options.fetch(new Request(request, { body }));
      if (call !== undefined && response.ok) note(call);
      if (number !== undefined) writeWhole(files.answered(number), await response.clone().text());
      return response;
    };
    return ordinary({ ...options, fetch: answer } as Parameters<typeof ordinary>[0]);
  };
  Bun.serve = holding as typeof ordinary;
}

/** A message is claimed before, may have arrived within, and has arrived after, when its outcome is not
 * recorded yet. */
function holdPosts(): void {
  const { post } = PostingThread.prototype;
  PostingThread.prototype.post = function (this: PostingThread, message) {
    return held("post", () => post.call(this, message));
  };
}

if (process.argv.includes("analysis")) {
  holdCalls();
  holdStatements();
} else {
  holdAnswers();
  holdPosts();
}
await import("../serve.ts");
