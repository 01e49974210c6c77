/** The part of the contract about changes and their entries in the audit log: both are one commit. */
import { describe, expect, test } from "bun:test";
import { Refusal } from "../../contract/refusal.ts";
import { commandLine, personActor, settingUp } from "../../server/ledger/audit.ts";
import type { Beside, Fault } from "./beside.ts";
import type { Change } from "./change-kinds.ts";
import { changes } from "./changes.ts";
import { eventLine, reject } from "./contract-operation.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

/** More than are changed in one commit. */
const manyRows = 2_100;
const unknown = 999;

/** Changes of which each database has its own implementation, and one of a store that is written once. */
const isOwn = (name: string) => /^(erasures|rejectedEvents)\.|^views\.add$/.test(name);

/** Declares the tests of commits: a change and its entry are one, whichever database does it. */
export function commitsContract(subject: LedgerUnderTest): void {
  describe("a change and its entry in the audit log", () => {
    commits(subject, isOwn);
    severalCommits(subject);
  });
}

/** Declares the tests of the other changes and their entries. */
export function changesContract(subject: LedgerUnderTest): void {
  describe("a change and its entry in the audit log", () => {
    commits(subject, (name) => !isOwn(name));
    settingUps(subject);
    unknownOrganizations(subject);
  });
}

async function ground(subject: LedgerUnderTest) {
  const { id } = await subject.organization();
  return { subject, ledger: subject.ledger, id, nowMs: subject.nowMs };
}

function made(change: Change, organization: number): Promise<unknown> {
  return "of" in change ? change.of(organization) : change.make();
}

/** Nothing is there to be changed: the change says so, or resolves. */
async function expectNothing(attempt: Promise<unknown>): Promise<void> {
  const result = await attempt.catch((error: unknown) => error);
  if (result instanceof Error) expect(result).toBeInstanceOf(Refusal);
}

async function expectRefusal(attempt: () => Promise<unknown>, message: string): Promise<void> {
  const error: unknown = await attempt().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Refusal);
  expect(String(error)).toContain(message);
}

/** The entries of an organization, the newest first. */
async function entriesOf(subject: LedgerUnderTest, organization: number) {
  const entries = await subject.ledger.audit.list(organization, { limit: 100 });
  return entries.map(({ action, detail }) => ({ action, rows: detail.rows }));
}

/** Works with the ledger's database beside it. */
async function withBeside(subject: LedgerUnderTest, work: (beside: Beside) => Promise<void>): Promise<void> {
  const beside = await subject.beside();
  try {
    await work(beside);
  } finally {
    await beside.close();
  }
}

/** Expects that an attempt fails while some commits fail. */
async function expectFailure(beside: Beside, fault: Fault, attempt: () => Promise<unknown>): Promise<void> {
  await beside.failCommits(fault);
  await expect(attempt()).rejects.toThrow();
  await beside.repair();
}

function commits(subject: LedgerUnderTest, isMeant: (name: string) => boolean): void {
  test.each(changes.filter(([name]) => isMeant(name)))("are one commit: %s", async (_name, prepare) => {
    const at = await ground(subject);
    const change = await prepare(at);
    await withBeside(subject, async (beside) => {
      const before = await beside.rows();
      if ("of" in change) await expectNothing(change.of(unknown));
      expect(await beside.rows()).toEqual(before);
      for (const fault of ["entry", "change"] as const) {
        await expectFailure(beside, fault, () => made(change, at.id));
        expect(await beside.rows()).toEqual(before);
      }

      const result = await made(change, at.id);
      const { audit_log: entries, ...after } = await beside.rows();
      const { audit_log: entriesBefore, ...others } = before;
      expect(after).not.toEqual(others);
      expect(entries).toHaveLength((entriesBefore?.length ?? 0) + 1);
      const [newest] = await entriesOf(subject, change.logOf?.(result) ?? at.id);
      expect(newest?.action).toBe(change.action);
      if (change.repeats) return;
      await expectNothing(made(change, at.id));
      expect(await beside.rows()).toEqual({ ...after, audit_log: entries ?? [] });
    });
  });
}

function settingUps(subject: LedgerUnderTest): void {
  test("have no entry when an organization is set up", async () => {
    const { id } = await subject.organization();
    const { organizations, audit } = subject.ledger;
    await organizations.set(id, { name: "set up" }, settingUp, 1);
    expect(await audit.list(id, { limit: 1 })).toEqual([]);
  });
}

const segment = { kind: "users", name: "mine", content: { filter: { riskBand: "high" } } } as const;

function unknownOrganizations(subject: LedgerUnderTest): void {
  test("say that the organization does not exist to which something was to be added", async () => {
    const { ledger, nowMs } = subject;
    const rule = { kind: "user", key: "", value: "ada" } as const;
    const view = { page: "users", name: "mine", query: "" } as const;
    const webhook = { name: "crm", mapping: { event: { path: "name" }, userId: "id" } } as const;
    const file = { organization: unknown, sha256: "ab", mapping: "{}", fileName: "a.csv", nowMs };
    const attempts = [
      () => ledger.exclusions.add(unknown, rule, commandLine, nowMs),
      () => ledger.views.add(unknown, view, commandLine, nowMs),
      () => ledger.segments.add(unknown, segment, commandLine, nowMs),
      () => ledger.sourceSettings.addWebhook(unknown, webhook, commandLine, nowMs),
      () =>
        ledger.sourceSettings.changeStripe(unknown, { signingSecrets: ["whsec_1234"] }, commandLine, nowMs),
      () => ledger.members.makeOwner(unknown, 1, commandLine, nowMs),
      () => ledger.imports.begin(file),
    ];
    for (const attempt of attempts) {
      await expectRefusal(attempt, `There is no organization with the id ${unknown}.`);
    }
  });

  test("are refused for an unknown person, and the service's own work does not fail", async () => {
    const { id, ledger, nowMs } = await ground(subject);
    const nobody = personActor({ id: unknown, name: "Nobody" });
    const view = { page: "users", name: "mine", query: "" } as const;
    const invitation = { organization: id, email: "b@example.com", role: "viewer", sha256: "b" } as const;
    const attempts = [
      () => ledger.views.add(id, view, nobody, nowMs),
      () => ledger.segments.add(id, segment, nobody, nowMs),
      () => ledger.members.invite({ ...invitation, expiresAtMs: nowMs + 1 }, nobody, nowMs),
      () => ledger.members.makeOwner(id, unknown, commandLine, nowMs),
      () => ledger.logins.begin(unknown, "session", nowMs),
    ];
    for (const attempt of attempts) await expectRefusal(attempt, "This account is not there any more.");
    const check = { organization: unknown, atMs: 1, tookMs: 1, differences: 0, examples: [] };
    await ledger.checks.keep(check);
    expect(await ledger.checks.list()).toEqual([]);
  });
}

function severalCommits(subject: LedgerUnderTest): void {
  const lines = (organization: number) =>
    Array.from({ length: manyRows }, (_, number) => eventLine(organization, number));

  test("changes of rejected events are one entry, whose number of rows is right after every commit", async () => {
    const { id } = await subject.organization();
    await reject(subject, "events", lines(id), 2024);
    const { rejectedEvents } = subject.ledger;
    const retry = () => rejectedEvents.retry({ organization: id }, commandLine, 1);
    await withBeside(subject, (beside) => expectFailure(beside, "entry updated", retry));
    const left = await rejectedEvents.count({ organization: id });
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(manyRows);
    const stopped = { action: "rejected_events.retried", rows: manyRows - left } as const;
    expect(await entriesOf(subject, id)).toEqual([stopped]);
    await rejectedEvents.drop({ organization: id }, commandLine, 2);
    expect(await entriesOf(subject, id)).toEqual([
      { action: "rejected_events.dropped", rows: left },
      stopped,
    ]);
  });

  test("changes of all organizations' rejected events are in each organization's log, without ids", async () => {
    const [one, other] = [await subject.organization(), await subject.organization("other")];
    const absent = unknown;
    await reject(
      subject,
      "events",
      [...lines(one.id), eventLine(other.id, 1), eventLine(absent, 2), "no JSON"],
      2024,
    );
    const { rejectedEvents, audit } = subject.ledger;
    expect(await rejectedEvents.drop({}, commandLine, 5)).toBe(manyRows + 3);
    const [entry, ...more] = await audit.list(one.id, { limit: 9 });
    expect(more).toEqual([]);
    expect(entry).toEqual({
      id: entry?.id ?? 0,
      atMs: 5,
      person: null,
      action: "rejected_events.dropped",
      summary: `Dropped: ${manyRows} rejected events`,
      detail: { rows: manyRows, by: "command line" },
    });
    expect((await audit.list(other.id, { limit: 9 })).map(({ summary }) => summary)).toEqual([
      "Dropped: 1 rejected event",
    ]);
  });
}
