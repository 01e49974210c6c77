/** Tasks while analysis gives no answer: the list works, and with a segment the caller may try again. */
import { expect, test } from "bun:test";
import { taskHandlers } from "../../server/features/notes-and-tasks/handlers.ts";
import { analysisStarting, refused, unexpected } from "../../server/http/port/answers.ts";
import { type Peer, Unreachable } from "../../server/process/control.ts";

async function listed(fetch: Peer["fetch"], parameters: object): Promise<unknown> {
  const context = {
    analysis: { fetch },
    ledger: { tasks: { list: async () => ({ total: 0, tasks: [] }) } },
    query: { list: "open", limit: 50, offset: 0, ...parameters },
    nowMs: 0,
    place: { organization: { id: 1, timezone: "UTC" }, actor: { by: "olga", person: null } },
  };
  return taskHandlers["GET /api/tasks"](context as never).catch(refused);
}

test.each([
  ["is gone", () => Promise.reject(new Unreachable("gone"))],
  ["is starting", async () => analysisStarting()],
  ["fails", async () => unexpected()],
])("the tasks of a segment are refused while analysis %s, and the others are listed", async (_, fetch) => {
  expect(await listed(fetch, {})).toEqual({ answer: { total: 0, tasks: [] } });
  const failure = await listed(fetch, { segment: 3 });
  if (!(failure instanceof Response)) throw new Error("The tasks of a segment were listed.");
  expect([failure.status, failure.headers.get("Retry-After")]).toEqual([500, "2"]);
  expect(await failure.json()).toMatchObject({
    name: "application_error",
    message: expect.stringContaining("or leave out segment"),
  });
});
