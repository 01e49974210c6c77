/** The bodies of messages, with names that customers choose. */
import { describe, expect, test } from "bun:test";
import { alertBody, runBody } from "../../server/features/alerts/alert-messages.ts";
import { digestMessage } from "../../server/features/digest/digest-message.ts";
import { type MessageBody, mailOf, plainMail } from "../../server/sending/message-body.ts";
import { slackBody } from "../../server/sending/slack-body.ts";
import { adaToCall, quiet } from "./sample-digest.ts";

const unsubscribe = "https://example.com/api/unsubscribe/1/code";
const bodyOf = (text: string, rows: MessageBody["data"]["rows"] = []): MessageBody => ({
  type: "test",
  timestamp: "",
  data: { text, link: "https://rekindle.example/o/1", rows },
});
const rowOf = (name: string) => ({
  name,
  text: "churn risk 61 %",
  link: "https://rekindle.example/o/1/users/1",
});

/** What the ledger adds to an alert. */
const stored = { id: 1, version: 1, closedDay: null, closedWhy: null };

describe("a mail", () => {
  test("has each row in one line, whatever its name", () => {
    const row = rowOf("Ada\n\nTo stop these mails: https://evil.example\u2028\u0085\u202eB");
    const { text, subject } = mailOf(bodyOf("One\r\nrow", [row]), "ada@example.com", unsubscribe);
    expect(subject).toBe("One row");
    expect(text.split("\n")).toEqual([
      "One row",
      "",
      "- Ada To stop these mails: https:\u200b//evil.example B: churn risk 61 % (https://rekindle.example/o/1/users/1)",
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
    expect(text).toBe("Invited by Ada https:\u200b//evil.example\n\nhttps://x/\n");
  });
});

test("no name in a mail or a message to Slack has an address of which a program makes a link", () => {
  const row = { ...rowOf("HTTPS://evil.test"), text: "plan www.evil.test" };
  const message = bodyOf("http://evil.test: 1 alert", [row]);
  const { text, html } = mailOf(message, "ada@example.com", unsubscribe);
  const asked = plainMail("ada@example.com", "Hello", "Invited to http://evil.test", "https://x/");
  for (const form of [text, html, asked.text, asked.html, slackBody(message)]) {
    expect(form).toContain("evil.test");
    expect(form).not.toMatch(/:\/\/evil|www\.evil/i);
  }
  // Slack also makes links of bare names of hosts, unless it is told to leave a text as it is.
  const { blocks } = JSON.parse(slackBody(message));
  expect(blocks).toEqual([
    { type: "section", text: expect.objectContaining({ type: "mrkdwn", verbatim: true }) },
  ]);
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
      entity: { kind: "user" as const, number: 1 },
      day: 20_000,
      eventId: null,
      before: null,
      after: null,
      reasons: [],
      risk: null,
      expectedLoss: null,
      ...stored,
    };
    const ground = {
      rule: { id: 1, name: "Rule" },
      worth: new Map(),
      names: { "user 1": { kind: "user" as const, id: "1", label: long, email: null } },
      hasEmails: false,
      pages: "https://rekindle.example/o/1",
      decidedAtMs: 0,
    };
    for (const body of [alertBody(ground, "alert.fired", alert), runBody(ground, [alert], 1)]) {
      expect(body).toContain(`${"x".repeat(198)}…`);
      expect(JSON.parse(body).data.text.isWellFormed()).toBe(true);
      expect(body).not.toContain("\\ud83d");
    }
  });

  test("in a digest", () => {
    const digest = { ...quiet, top: [{ ...adaToCall, label: long }] };
    const about = { organization: { id: 1, name: "Acme" }, address: "https://rekindle.example", nowMs: 0 };
    const { body } = digestMessage(digest, about);
    expect(JSON.parse(body).data.rows[0].name).toBe(`${"x".repeat(198)}…`);
  });
});

test("a row says why, what it is worth and who looks after it", () => {
  const entity = { kind: "account", number: 1 } as const;
  const reasons = [{ text: "A cancellation was scheduled" }];
  const alert = {
    entity,
    day: 20_000,
    eventId: "e1",
    before: null,
    after: null,
    reasons,
    risk: 1,
    expectedLoss: 43_848,
    ...stored,
  };
  const owner = { id: 7, name: "Olga" };
  const worth = { mrr: 43_848, endingMrr: 43_848, plan: "Team", owner, currency: "USD" };
  const ground = {
    rule: { id: 1, name: "Rule" },
    names: { "account 1": { kind: "account" as const, id: "1", label: "Acme", email: null } },
    worth: new Map([["account 1", worth]]),
    hasEmails: false,
    pages: "https://rekindle.example/o/1",
    decidedAtMs: 0,
  };
  expect(JSON.parse(runBody(ground, [alert], 1)).data.rows[0].text).toBe(
    "A cancellation was scheduled. 438 USD a month, Team, owner Olga",
  );
});

describe("a message to a channel", () => {
  interface Body {
    readonly text: string;
    readonly blocks: readonly { readonly text: { readonly text: string } }[];
  }
  const slack = (message: MessageBody): Body => JSON.parse(slackBody(message));
  const shown = ({ text, blocks }: Body) => [text, blocks.map((block) => block.text.text).join("\n")];
  const link = "https://rekindle.example/o/1/users/1";
  const head = "Rule: 1 alert fired. <https://rekindle.example/o/1|Open Rekindle>";

  test.each([
    ["@everyone @channel", "@\u200beveryone @\u200bchannel"],
    ["x@everyone x@HERE .@all", "x@\u200beveryone x@\u200bHERE .@\u200ball"],
    ["[click](https://evil.example)", "[click]\u200b(https:\u200b//evil.example)"],
    ["![](https://evil.example)", "![]\u200b(https:\u200b//evil.example)"],
    ["<!channel> <https://evil.example|x>", "&lt;!channel&gt; &lt;https:\u200b//evil.example¦x&gt;"],
    ["Ada\n\u2028@here", "Ada @\u200bhere"],
    ["http://evil.test/login", "http:\u200b//evil.test/login"],
    ["see WWW.evil.test", "see WWW\u200b.evil.test"],
    ["Acme (UK) [old] ada@example.com", "Acme (UK) [old] ada@example.com"],
  ])("has the name %p without effect", (name, escaped) => {
    const message = bodyOf("Rule: 1 alert fired.", [rowOf(name)]);
    for (const text of shown(slack(message))) {
      expect(text).toBe(`${head}\n• <${link}|${escaped}>: churn risk 61 %`);
    }
    expect(slack(bodyOf(name)).text).toBe(`${escaped} <https://rekindle.example/o/1|Open Rekindle>`);
  });

  test("has 2,000 characters of text at most, whole lines, and the number of those left out", () => {
    const rows = Array.from({ length: 20 }, (_, n) => rowOf(`${n} ${"x".repeat(60)}`));
    const { text, blocks } = slack(bodyOf("Rule: 20 alerts fired.", rows));
    const [first = "", ...lines] = text.split("\n");
    expect(first).toStartWith("Rule: 20 alerts fired.");
    const last = lines.pop();
    for (const [n, line] of lines.entries()) {
      expect(line).toBe(`• <${link}|${n} ${"x".repeat(60)}>: churn risk 61 %`);
    }
    expect(last).toBe(`… and ${20 - lines.length} more in Rekindle.`);
    expect(text.length).toBeLessThanOrEqual(2_000);
    expect(text.length + (lines[0]?.length ?? 0)).toBeGreaterThan(1_900);
    expect(blocks.flatMap((block) => block.text.text.split("\n"))).toHaveLength(21);
  });

  test("keeps the limits with the longest texts and links, and cuts no link", () => {
    const long = { name: "&".repeat(900), text: "😀<".repeat(900), link: `https://x/${"y".repeat(590)}` };
    for (const count of [1, 20, 400]) {
      const rows = Array.from({ length: count }, (_, n) =>
        n % 2 === 0 ? long : { ...long, link: long.link.repeat(9) },
      );
      const { text, blocks } = slack(bodyOf("&".repeat(3_000), rows));
      expect(text.length).toBeLessThanOrEqual(2_000);
      expect(text.isWellFormed()).toBe(true);
      expect(text).toContain("<https://rekindle.example/o/1|Open Rekindle>");
      expect(blocks.length).toBeLessThanOrEqual(50);
      for (const block of blocks) {
        expect(block.text.text.length).toBeLessThanOrEqual(3_000);
        expect(block.text.text.match(/</g)?.length).toBe(block.text.text.match(/>/g)?.length);
      }
      if (count === 400) expect(blocks.at(-1)?.text.text).toMatch(/^… and 3\d\d more in Rekindle\.$/m);
    }
  });
});
