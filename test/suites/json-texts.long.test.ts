/**
 * The 318 JSON texts of nst/JSONTestSuite against the real endpoint. `y_` must be taken, `n_` must be
 * refused, `i_` may be either, and none may harm. Each is sent three times, byte by byte. It is the whole
 * body, a property of an event, and a trait of a user.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { immediately } from "../specification/operation-support.ts";
import { type Answer, filesIn, refusalOf, sender, withSuite } from "./support.ts";

export const runsOn = { postgres: true };

/** Of the texts that may be either, those that are taken. The others hold values that storage cannot give
 * back. They have half of a surrogate pair, more than 32 levels, or no UTF-8. Or they have a number out of
 * range or with too many digits. */
const takenOfEither: readonly string[] = [
  // Doubles that are nearest to what was sent, as for 0.1: here that is 0.
  "i_number_double_huge_neg_exp.json",
  "i_number_real_underflow.json",
  // An integer that a double holds exactly.
  "i_number_too_big_pos_int.json",
];

type Way = "whole" | "property" | "trait";
type Files = ReturnType<typeof filesIn>;

let server: Server;
let processes: (number | undefined)[];
/** By the way in which a file was sent, and its name. */
const answers: Readonly<Record<Way, Map<string, Answer>>> = {
  whole: new Map(),
  property: new Map(),
  trait: new Map(),
};

async function sendAll(files: Files): Promise<void> {
  const post = await sender(server, "JSON");
  const inside = (head: object, bytes: Uint8Array) => {
    const start = `${JSON.stringify(head).slice(0, -1)},"properties":{"value":`;
    return Buffer.concat([Buffer.from(start), bytes, Buffer.from("}}")]);
  };
  await Promise.all(
    files.map(async ({ name, bytes }) => {
      answers.whole.set(name, await post("/track", bytes));
      const event = { userId: "u", event: "e", messageId: name };
      answers.property.set(name, await post("/track", inside(event, bytes)));
      const user = { userId: name, email: "ada@example.com" };
      answers.trait.set(name, await post("/identify", inside(user, bytes)));
    }),
  );
}

/** Compares the statuses of the files of one kind with what is expected of each. */
function expectStatuses(files: Files, way: Way, kind: string, expected: (name: string) => number): void {
  const names = files.map(({ name }) => name).filter((name) => name.startsWith(kind));
  expect(names.map((name) => `${name} ${answers[way].get(name)?.status}`)).toEqual(
    names.map((name) => `${name} ${expected(name)}`),
  );
}

withSuite("json/test_parsing", (folder) => {
  const files = filesIn(folder);
  const named = (kind: string) => files.filter(({ name }) => name.startsWith(kind)).map(({ name }) => name);

  beforeAll(async () => {
    server = await Server.shared();
    await server.ready();
    processes = [server.pid, server.analysisPid()];
    await sendAll(files);
  });
  afterAll(() => server.stop());

  test("there are 318", () => {
    expect([files, named("y_"), named("n_"), named("i_")].map(({ length }) => length)).toEqual([
      318, 95, 188, 35,
    ]);
  });

  describe.each(["property", "trait"] as const)("as a %s", (way) => {
    test("each that must be taken is taken", () => expectStatuses(files, way, "y_", () => 201));

    test("each that must be refused is refused, in words", () => {
      expectStatuses(files, way, "n_", () => 400);
      for (const name of named("n_")) {
        expect(refusalOf(answers[way].get(name))).toStartWith("body is not valid ");
      }
    });

    test("of those that may be either, the ones are taken whose value can be kept", () => {
      expectStatuses(files, way, "i_", (name) => (takenOfEither.includes(name) ? 201 : 400));
      expect(named("i_")).toEqual(expect.arrayContaining([...takenOfEither]));
    });
  });

  test("as the whole body, each is refused: for its grammar when it has none, else for what it lacks", () => {
    const messages = (kind: string) => named(kind).map((name) => refusalOf(answers.whole.get(name)));
    for (const message of messages("n_")) expect(message).toStartWith("body is not valid ");
    for (const message of messages("y_"))
      expect(message).toMatch(/^(userId is missing|body is not a JSON object)/);
    expect(messages("i_")).toHaveLength(35);
  });

  test("accepted texts are exported with the same value", async () => {
    await expectExported(files.filter(({ name }) => answers.property.get(name)?.status === 201));
  });

  test("neither process was harmed", async () => {
    expect<unknown>([server.pid, server.analysisPid()]).toEqual(processes);
    await immediately(async () => (await fetch(`${server.url}/readyz`)).status, 200);
    expect(server.output()).not.toContain('"level":50');
  });
});

async function expectExported(stored: Files): Promise<void> {
  const events = await server.exported("events", "JSON");
  const users = await server.exported("users", "JSON");
  expect(events).toHaveLength(stored.length);
  // Beside "u".
  expect(users).toHaveLength(stored.length + 1);
  for (const { name, bytes } of stored) {
    const sent: unknown = JSON.parse(bytes.toString());
    const event = events.find(({ messageId }) => messageId === name);
    const user = users.find(({ userId }) => userId === name);
    // As text, so that 0 is the -0 that was sent: JSON has one zero.
    const [inEvent, inUser] = [event, user].map((row) => JSON.stringify(row?.properties));
    const text = JSON.stringify({ value: sent });
    expect([name, inEvent, inUser]).toEqual([name, text, text]);
  }
}
