/** Alerts, notes and tasks of a timeline, each in one line. */
import { expect, test } from "bun:test";
import { entryText } from "../../dashboard/pages/entity/entry-text.ts";

test("a note is its text and its author", () => {
  expect(entryText("note", { text: "Decides in March.", by: "Ada" })).toBe("Decides in March. · by Ada");
  expect(entryText("note", { text: "Decides in March.", by: null })).toBe("Decides in March.");
});

test("a pulse is its value, its text and its author", () => {
  const pulse = { value: 2, text: "Their champion left.", by: "Ada" };
  expect(entryText("pulse", pulse)).toBe("2 of 5 · Their champion left. · by Ada");
});

test("an alert is its rule and its reasons", () => {
  const alert = {
    rule: "High risk",
    before: 0.2,
    after: 0.6,
    reasons: ["Silent for 9 days", "Fewer logins"],
  };
  expect(entryText("alert", alert)).toBe("High risk · Silent for 9 days · Fewer logins");
});

test("a task that was added has its day and its assignee, and one that was done the member who did it", () => {
  const task = { title: "Call Tim", due: "2026-12-01", assignee: "Grace", by: "Ada" };
  expect(entryText("task", task)).toBe("Call Tim · due 1 Dec 2026 · Grace");
  expect(entryText("task_done", task)).toBe("Call Tim · due 1 Dec 2026 · by Ada");
  expect(entryText("task", { ...task, due: null, assignee: null })).toBe("Call Tim");
});
