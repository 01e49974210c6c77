/**
 * The server of test/serve.ts, of which a process can be held between two chunks of a rule. The file `hold-chunk` of its data folder
 * names the step and a number. The process that comes to the step deletes it, writes `held-<number>`, and goes on when that file is deleted. A chunk
 * that intake held is late: the file `answered-<number>` has the answer that it got in the end.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";

/** The steps between two chunks: the first is committed and analysis has no answer yet, the next is not sent yet, and it has arrived at intake. */
export const chunkSteps = ["unanswered", "unsent", "arrived"] as const;
export type ChunkStep = (typeof chunkSteps)[number];

/** The files of a data folder by which a test and the held process speak. */
export function holdFiles(dataDir: string) {
  return {
    wanted: join(dataDir, "hold-chunk"),
    held: (number: number) => join(dataDir, `held-${number}`),
    answered: (number: number) => join(dataDir, `answered-${number}`),
  };
}

const files = holdFiles(process.env.DATA_DIR ?? "");

/** Holds this process if the file says so. @returns the number of the hold */
async function holdAt(step: ChunkStep): Promise<number | undefined> {
  if (!existsSync(files.wanted)) return undefined;
  const [wanted, number] = readFileSync(files.wanted, "utf8").split(" ");
  if (wanted !== step) return undefined;
  const held = files.held(Number(number));
  rmSync(files.wanted);
  writeFileSync(held, "");
  await until("the hold ends", () => !existsSync(held));
  return Number(number);
}

interface Chunk {
  readonly rule: number;
  readonly next: { readonly part: object | null };
}

const operation = "ruleDecisions.commitDecision";

/** The chunk that the body of a call commits. */
function chunkIn(body: unknown): Chunk | undefined {
  if (typeof body !== "string" || !body.includes(`"${operation}"`)) return undefined;
  const call = JSON.parse(body) as { readonly operation: string; readonly parameters: readonly [Chunk] };
  return call.operation === operation ? call.parameters[0] : undefined;
}

/** Rules of which this process has seen a chunk that another one has to follow. */
const inPart = new Set<number>();

function note({ rule, next }: Chunk): void {
  if (next.part === null) inPart.delete(rule);
  else inPart.add(rule);
}

function holdCalls(): void {
  const ordinary = globalThis.fetch;
  const holding = async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const chunk = chunkIn(init?.body);
    if (chunk === undefined) return ordinary(input, init);
    if (inPart.has(chunk.rule)) await holdAt("unsent");
    const response = await ordinary(input, init);
    if (!response.ok) return response;
    note(chunk);
    if (inPart.has(chunk.rule)) await holdAt("unanswered");
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
      const chunk = chunkIn(body);
      const number = chunk !== undefined && inPart.has(chunk.rule) ? await holdAt("arrived") : undefined;
      const response = await options.fetch(new Request(request, { body }));
      if (chunk !== undefined && response.ok) note(chunk);
      if (number !== undefined) writeFileSync(files.answered(number), await response.clone().text());
      return response;
    };
    return ordinary({ ...options, fetch: answer } as Parameters<typeof ordinary>[0]);
  };
  Bun.serve = holding as typeof ordinary;
}

if (import.meta.main) {
  if (process.argv.includes("analysis")) holdCalls();
  else holdAnswers();
  await import("../serve.ts");
}
