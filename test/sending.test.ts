/** The programs of docs/send-reliably.md run as they stand, over a connection that loses the first request
 * and the first answer: what they send is stored once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Gate, type Mischief } from "./client/gate.ts";
import { run, Server } from "./server.ts";

const page = readFileSync(join(import.meta.dir, "..", "docs", "send-reliably.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "rekindle-sending-"));
let server: Server;

beforeAll(async () => {
  server = await Server.shared();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

const languages = [
  { language: "sh", file: "send.sh", interpreter: Bun.which("sh") },
  { language: "ts", file: "send.ts", interpreter: process.execPath },
  // Python is not among what tests need: where there is none, only the program's presence is looked at.
  { language: "python", file: "send.py", interpreter: Bun.which("python3") },
];

async function runProgram(
  language: string,
  file: string,
  interpreter: string,
  next: Mischief[],
  token: string,
) {
  const [, program = ""] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "ms").exec(page) ?? [];
  const gate = await Gate.before(() => server.url);
  gate.next = next;
  writeFileSync(join(folder, file), program.replaceAll("http://127.0.0.1:8080", gate.url));
  const ended = await run([interpreter, join(folder, file)], { env: { ...process.env, TOKEN: token } });
  gate.close();
  return { ...ended, requests: gate.seen.length };
}

test.each(languages)(
  "$language: identify, track and a batch are stored once",
  async ({ language, file, interpreter }) => {
    if (interpreter === null) return expect(page).toContain(`\`\`\`${language}\n`);
    const token = await server.organization(`Sending by ${language}`);
    const busy: Mischief = { status: 429, headers: { "Retry-After": "1" }, body: "{}" };
    const trouble: Mischief[] = ["refuse", "pass", "cut", busy, "pass", { status: 503 }, "cut"];
    const { exitCode, stdout, requests } = await runProgram(language, file, interpreter, trouble, token);
    expect(exitCode).toBe(0);
    expect(requests).toBe(8);
    expect(stdout.replaceAll(/['"\s]/g, "").toLowerCase()).toContain("accepted:0,duplicates:2,rejected:[]");
    const users = await server.exported("users", `Sending by ${language}`);
    const events = await server.exported("events", `Sending by ${language}`);
    expect(users.map(({ userId }) => userId).sort()).toEqual(["u1", "u2"]);
    expect(events.map(({ event }) => event).sort()).toEqual(["report_created", "report_sent"]);
    for (const { messageId } of events) expect(messageId).toBeString();
  },
);

test.each(languages.filter(({ language }) => language !== "sh"))(
  "$language: what is refused is not sent again, and says why",
  async ({ language, file, interpreter }) => {
    if (interpreter === null) return expect(page).toContain(`\`\`\`${language}\n`);
    const ended = await runProgram(language, file, interpreter, [], "rk-wrong");
    expect(ended).toMatchObject({ requests: 1, exitCode: 1 });
    expect(ended.stderr).toContain("Missing or invalid Project Token.");
  },
);
