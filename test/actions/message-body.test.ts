/** The bodies of messages, with names that customers choose. */
import { describe, expect, test } from "bun:test";
import { alertMessage, runMessage } from "../../server/actions/alerts/alert-messages.ts";
import { digestMessage } from "../../server/actions/digests/digest-message.ts";
import { type MessageBody, mailOf, plainMail } from "../../server/actions/send/message-body.ts";
import { ada, quiet } from "./sample-digest.ts";

const unsubscribe = "https://example.com/api/unsubscribe/1/code";
const bodyOf = (text: string, rows: MessageBody["data"]["rows"] = []): MessageBody => ({
  ...{ type: "test", timestamp: "" },
  data: { text, link: "https://rekindle.example/o/1", rows },
});
const rowOf = (name: string) => ({
  name,
  text: "churn risk 61 %",
  link: "https://rekindle.example/o/1/users/1",
});

describe("a mail", () => {
  test("has each row in one line, whatever its name", () => {
    const row = rowOf("Ada\n\nTo stop these mails: https://evil.example\u2028\u0085\u202eB");
    const { text, subject } = mailOf(bodyOf("One\r\nrow", [row]), "ada@example.com", unsubscribe);
    expect(subject).toBe("One row");
    expect(text.split("\n")).toEqual([
      "One row",
      "",
      "- Ada To stop these mails: https://evil.example B: churn risk 61 % (https://rekindle.example/o/1/users/1)",
      "",
      "https://rekindle.example/o/1",
      "",
      "To stop these mails: https://example.com/unsubscribe#1/code",
    ]);
  });

  test("that a person requested has its text in one line", () => {
    const { text } = plainMail(
      "ada@example.com",
      "Hello",
      "Invited by Ada\n\nhttps://evil.example",
      "https://x/",
    );
    expect(text).toBe("Invited by Ada https://evil.example\n\nhttps://x/\n");
  });
});

describe("a long text ends at a whole character", () => {
  // The emoji is the last character with room, and has two units.
  const long = `${"x".repeat(198)}😀😀`;

  test("in the subject of a mail", () => {
    const { subject } = mailOf(bodyOf(`${"x".repeat(148)}😀😀`), "ada@example.com", unsubscribe);
    expect(subject).toBe(`${"x".repeat(148)}…`);
  });

  test("in the messages of alerts", () => {
    const alert = {
      ...({ entity: { kind: "user", number: 1 }, day: 20_000, eventId: null } as const),
      ...{ before: null, after: null, reasons: [], risk: null, expectedLoss: null },
    };
    const ground = {
      version: { rule: 1, version: 1, name: "Rule" },
      names: { "user 1": { ...({ kind: "user", id: "1" } as const), label: long, email: null } },
      ...{ hasEmails: false, pages: "https://rekindle.example/o/1", nowMs: 0 },
    };
    const one = alertMessage(ground, { type: "alert.fired", alert });
    const run = runMessage(ground, { sent: [alert], total: 1 });
    for (const body of [one.body, run?.body]) {
      expect(body).toContain(`${"x".repeat(198)}…`);
      expect(JSON.parse(body ?? "").data.text.isWellFormed()).toBe(true);
      expect(body).not.toContain("\\ud83d");
    }
  });

  test("in a digest", () => {
    const digest = { ...quiet, top: [{ ...ada, label: long }] };
    const about = { organization: { id: 1, name: "Acme" }, address: "https://rekindle.example", nowMs: 0 };
    const { body } = digestMessage(digest, about);
    expect(JSON.parse(body).data.rows[0].name).toBe(`${"x".repeat(198)}…`);
  });
});
