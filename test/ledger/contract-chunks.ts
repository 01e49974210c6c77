/** The part of the contract about chunks as they are drawn, chosen and committed: who is a control, and which
 * alerts are sent. */
import { describe, expect, test } from "bun:test";
import { commitChunk } from "../../server/features/alerts/commit-chunk.ts";
import type { DecisionChunk, FiredAlert } from "../../server/features/alerts/store/decisions.ts";
import { commandLine as by } from "../../server/ledger/audit.ts";
import type { RuleEntity } from "../../server/ledger/stores/entity-rows.ts";
import { alertRule, renderDue } from "./alert-decision.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, user, writePeople } from "./writes.ts";

const day = 20_000;
const msPerDay = 86_400_000;
const numbers = Array.from({ length: 40 }, (_, index) => index + 1);
const ofAccounts = { scope: { kind: "accounts" }, condition: { kind: "paymentFailed" } } as const;
const ofUsers = { ...ofAccounts, scope: { kind: "users" } } as const;

type Fired = Pick<FiredAlert, "entity"> & Partial<FiredAlert>;

/** 40 users, 40 accounts and a rule, whose chunks are committed as decisions are. */
async function ground(subject: LedgerUnderTest, settings: Partial<typeof alertRule>) {
  const { ledger, nowMs } = subject;
  const { id } = await subject.organization();
  await writePeople(ledger, {
    accounts: numbers.map((number) => account(id, `a${number}`, { number })),
    users: numbers.map((number) => user(id, `u${number}`, { number, account: 0 })),
  });
  const webhook = { kind: "webhook", name: "hook", address: "https://example.org/", notices: [] } as const;
  const { id: hook } = await ledger.destinations.add(id, { ...webhook, secrets: ["whsec_c"] }, by, nowMs);
  const rule = await ledger.alertRules.add(id, { ...alertRule, ...settings }, by, nowMs);
  const change = (fields: Partial<typeof alertRule>) =>
    ledger.alertRules.change(id, rule.id, fields, by, nowMs);
  /** Alerts of a day without one of their own fire. */
  const fire = async (onDay: number, alerts: readonly Fired[], more: Partial<DecisionChunk> = {}) => {
    const [toDecide] = await ledger.ruleDecisions.toDecide(id);
    if (toDecide === undefined) throw new Error("The rule is not decided.");
    const { version, watermark } = toDecide;
    const chunk: DecisionChunk = {
      organization: id,
      rule: rule.id,
      version: version.version,
      after: watermark.sequence,
      horizonDays: 28,
      next: { decidedThrough: onDay, part: null, cursor: null },
      states: [],
      closed: [],
      insideBySettings: 0,
      fired: alerts.map((alert, index) => ({
        day: onDay,
        before: null,
        after: null,
        reasons: [],
        risk: null,
        expectedLoss: null,
        eventId: `${watermark.sequence} ${index}`,
        isExempt: false,
        account: alert.entity.kind === "account" ? alert.entity.number : null,
        ...alert,
      })),
      ...more,
    };
    const todayMs = onDay * msPerDay;
    const at = { todayMs, nowMs: todayMs + 1_000, nextMorningMs: todayMs + 9_000 };
    await commitChunk(ledger, version, chunk, {
      ...at,
    });
  };
  const list = async (today: number, state: "all" | "open" = "all") =>
    (await ledger.alerts.list(id, { state, today, limit: 200, offset: 0 })).alerts;
  /** The numbers of users and accounts that alerts of a day name on that day. */
  const named = async (onDay: number) =>
    (await list(onDay)).flatMap(({ entity, firedDay }) =>
      firedDay === onDay && entity.kind !== "source" ? [Number(entity.id.slice(1))] : [],
    );
  const controls = async (today: number, kind: RuleEntity["kind"]) => {
    const all = await ledger.alerts.controls(id, today);
    return all.flatMap((one) => (one.kind === kind ? [one.number] : []));
  };
  const entries = async () =>
    (await ledger.alertRules.experiments(id)).map((one) =>
      one.entries.map(({ arm, entries: n }) => [arm, n]),
    );
  return { id, ledger, hook, change, fire, list, named, controls, entries };
}

const accountOf = (number: number): Fired => ({ entity: { kind: "account", number } });
const userOf = (number: number, more: Partial<FiredAlert> = {}): Fired => ({
  entity: { kind: "user", number },
  ...more,
});
const others = (than: readonly number[]) => numbers.filter((number) => !than.includes(number));

/** Declares the tests of chunks. */
export function chunksContract(subject: LedgerUnderTest): void {
  describe("chunks", () => {
    anotherExperiment(subject);
    anotherUnit(subject);
    sameAccount(subject);
    erasedUser(subject);
    capOfMoments(subject);
    noDestination(subject);
    work(subject);
    versionOfSameDay(subject);
  });
}

function anotherExperiment(subject: LedgerUnderTest): void {
  test.each([
    ["share", 0.2, 28],
    ["share, of nobody", 0, 28],
    ["churn horizon", 0.5, 30],
  ])("a control stays one until its horizon is over, with another %s", async (_, share, horizonDays) => {
    const its = await ground(subject, { ...ofAccounts, holdOutShare: 0.5 });
    await its.fire(day, numbers.map(accountOf));
    const held = await its.controls(day, "account");
    expect(held.length).toBeGreaterThan(8);
    await its.change({ holdOutShare: share });
    await its.fire(day + 3, numbers.map(accountOf), { horizonDays });
    const named = await its.named(day + 3);
    expect(named.filter((number) => held.includes(number))).toEqual([]);
    // They are in no result of the other experiment, and their time is no longer than it was.
    const [, next = []] = await its.entries();
    const drawn = share === 0 ? 0 : 40 - held.length;
    expect(next.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(drawn);
    const until = (await its.ledger.alerts.controls(its.id, day)).filter(({ number }) =>
      held.includes(number),
    );
    expect(new Set(until.map(({ untilDay }) => untilDay))).toEqual(new Set([day + 27]));
    await its.fire(day + 28, numbers.map(accountOf), { horizonDays });
    const [, after = []] = await its.entries();
    expect(after.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(drawn === 0 ? 0 : 40);
  });
}

function anotherUnit(subject: LedgerUnderTest): void {
  test("a user keeps the arm in an account, and a control is named by no alert when it is exempt", async () => {
    const its = await ground(subject, { ...ofUsers, holdOutShare: 0.5 });
    await its.fire(
      day,
      numbers.map((number) => userOf(number)),
    );
    const held = await its.controls(day, "user");
    expect(held.length).toBeGreaterThan(8);
    const inAccounts = (more: Partial<FiredAlert> = {}) =>
      numbers.map((number) => userOf(number, { account: number, ...more }));
    await its.fire(day + 1, inAccounts());
    expect((await its.named(day + 1)).toSorted((a, b) => a - b)).toEqual(others(held));
    await its.fire(day + 2, inAccounts({ isExempt: true }));
    expect((await its.named(day + 2)).toSorted((a, b) => a - b)).toEqual(others(held));
    // The re-entry of the day after began another horizon.
    await its.fire(day + 29, inAccounts({ isExempt: true }));
    expect(await its.named(day + 29)).toHaveLength(40);
    // An entry that comes again has the same arm.
    await its.fire(day + 60, inAccounts());
    expect((await its.named(day + 60)).toSorted((a, b) => a - b)).toEqual(others(held));
    expect(await its.entries()).toEqual([
      [
        ["control", held.length],
        ["treated", 40 - held.length],
      ],
    ]);
  });
}

function sameAccount(subject: LedgerUnderTest): void {
  test("an exempt user is not named while the account is a control, also in the same chunk", async () => {
    const its = await ground(subject, { ...ofUsers, holdOutShare: 0.5 });
    const pairs = numbers.filter((number) => number % 2 === 1);
    const exempt = (number: number) => userOf(number + 1, { account: number, isExempt: true });
    await its.fire(
      day,
      pairs.flatMap((number) => [exempt(number), userOf(number, { account: number })]),
    );
    const held = await its.controls(day, "account");
    expect(held.length).toBeGreaterThan(4);
    const ofHeld = held.flatMap((number) => [number, number + 1]);
    expect((await its.named(day)).toSorted((a, b) => a - b)).toEqual(others(ofHeld));
    await its.fire(day + 2, pairs.map(exempt));
    expect((await its.named(day + 2)).toSorted((a, b) => a - b)).toEqual(
      others(ofHeld).filter((number) => number % 2 === 0),
    );
  });
}

function erasedUser(subject: LedgerUnderTest): void {
  test("the account of an erased control stays one until its horizon is over, and its other users are not named", async () => {
    const its = await ground(subject, { ...ofUsers, holdOutShare: 0.5 });
    const inAccount = (number: number, account = number) => userOf(number, { account });
    const some = numbers.slice(0, 20);
    await its.fire(
      day,
      some.map((number) => inAccount(number)),
    );
    const held = await its.controls(day, "account");
    expect(held.length).toBeGreaterThan(4);
    // Another user of a control, and one that stays a control in another experiment.
    const [first = 0, second = 0, third = 0] = held;
    await its.fire(day + 5, [inAccount(21, first)]);
    await its.change({ holdOutShare: 0.4 });
    await its.fire(day + 6, [inAccount(second)]);
    const entries = await its.entries();
    for (const number of some) await its.ledger.erasures.begin(its.id, `u${number}`, { by });
    const untilDays = async () => {
      const all = await its.ledger.alerts.controls(its.id, day);
      return new Map(
        all.flatMap(({ kind, number, untilDay }) => (kind === "account" ? [[number, untilDay]] : [])),
      );
    };
    const kept = new Map(held.map((number) => [number, day + (number === first ? 32 : 27)]));
    expect(await untilDays()).toEqual(kept);
    await its.ledger.erasures.begin(its.id, "u21", { by });
    expect(await untilDays()).toEqual(kept);
    const others = some.map((number) => inAccount(number + 20, number));
    await its.fire(day + 7, others);
    expect((await its.named(day + 7)).filter((number) => held.includes(number - 20))).toEqual([]);
    expect((await its.entries())[0]).toHaveLength(entries[0]?.length ?? 0);
    // An erased account is no control, and nothing names it.
    await its.ledger.erasures.beginAccount(its.id, `a${third}`, { by });
    const rows = Object.values((await (await subject.beside()).rows()).hold_out_entries ?? []);
    expect(rows.filter((row) => JSON.parse(row).account_number === third)).toEqual([]);
  });
}

function capOfMoments(subject: LedgerUnderTest): void {
  test("the cap counts moments on the day on which they fire, and not by the days of their events", async () => {
    const its = await ground(subject, { ...ofAccounts, cap: 5 });
    await its.change({ destinations: [its.hook] });
    const look = (onDay: number) =>
      its.fire(onDay, [
        { ...accountOf(1), day: onDay - 2, expectedLoss: 9 },
        ...numbers.slice(1, 11).map((number) => ({ ...accountOf(number), expectedLoss: 1 / number })),
      ]);
    for (let at = 0; at < 3; at++) await look(day);
    await its.fire(day, [{ ...accountOf(12), day: day - 1, expectedLoss: 10 }]);
    const sent = async () => (await its.list(day + 1)).filter(({ isSent }) => isSent);
    expect((await sent()).map(({ expectedLoss }) => expectedLoss)).toEqual([9, 1 / 2, 1 / 3, 1 / 4, 1 / 5]);
    // The next day has a cap of its own, and the moments of the day before are no part of it.
    await look(day + 1);
    expect(await sent()).toHaveLength(10);
  });
}

function noDestination(subject: LedgerUnderTest): void {
  test("without a destination no alert is sent, and a later destination is told of no end alone", async () => {
    const its = await ground(subject, { scope: { kind: "accounts" } });
    const alert = (number: number) => ({ ...accountOf(number), eventId: null });
    await its.fire(day, [alert(1)]);
    await its.change({ destinations: [its.hook] });
    await its.fire(day + 1, [alert(2)]);
    expect((await its.list(day + 1)).map(({ entity, isSent }) => [entity, isSent])).toMatchObject([
      [{ id: "a2" }, true],
      [{ id: "a1" }, false],
    ]);
    const closed = [1, 2].map((number) => ({
      entity: accountOf(number).entity,
      firedOn: day + number - 1,
      day: day + 2,
      why: "resolved" as const,
    }));
    await its.fire(day + 2, [], { closed });
    await renderDue(its.ledger, (day + 3) * msPerDay, { organization: its.id, today: day + 2 });
    const deliveries = await its.ledger.deliveries.list(its.id, { limit: 9 });
    const told = deliveries.map(({ type, body }) => [type, JSON.parse(body).data.entity.id]);
    expect(told.toSorted()).toEqual([
      ["alert.fired", "a2"],
      ["alert.resolved", "a2"],
    ]);
  });
}

function work(subject: LedgerUnderTest): void {
  test("an alert has the time of the first task since it fired, and of its verdict", async () => {
    const its = await ground(subject, { scope: { kind: "accounts" } });
    await its.fire(day, [accountOf(1), accountOf(2)]);
    const at = (later: number) => (day + later) * msPerDay;
    const task = { title: "Call", dueDay: null, assignee: null };
    const [own, other] = [
      { kind: "account", id: "a1" },
      { kind: "account", id: "a2" },
    ] as const;
    for (const later of [-1, 200, 30]) await its.ledger.tasks.add(its.id, own, task, by, at(later));
    await its.ledger.tasks.add(its.id, other, task, by, at(-1));
    const [alert] = (await its.list(day)).filter(
      ({ entity }) => entity.kind !== "source" && entity.id === "a2",
    );
    await its.ledger.alerts.change(its.id, alert?.id ?? 0, { verdict: "handled" }, by, day, at(40));
    const fired = await its.ledger.alerts.fired(its.id, { fromDay: day, toDay: day, today: day, limit: 9 });
    expect(fired.map(({ entity, taskAtMs, verdictAtMs }) => [entity, taskAtMs, verdictAtMs])).toEqual([
      [accountOf(2).entity, null, at(40)],
      [accountOf(1).entity, at(30), null],
    ]);
  });
}

function versionOfSameDay(subject: LedgerUnderTest): void {
  test("a version that looks elsewhere fires on the day of an alert of the version before", async () => {
    const its = await ground(subject, { scope: { kind: "accounts" }, condition: { kind: "sourceSilent" } });
    const entity = { kind: "source", source: "stripe" } as const;
    const states = [{ entity, hasLeft: false, daysOut: 0, restsUntil: day + 1, firedOn: day, value: null }];
    const silent = () => its.fire(day, [{ entity, eventId: null }], { states });
    await its.change({ destinations: [its.hook] });
    await silent();
    await its.change({ condition: { kind: "sourceSilent", source: "stripe" }, includeCurrent: true });
    await silent();
    const told = (alerts: Awaited<ReturnType<typeof its.list>>) =>
      alerts.map(({ version, closedWhy, isSent }) => [version, closedWhy, isSent]);
    expect(told(await its.list(day))).toEqual([
      [2, null, true],
      [1, "ruleChanged", true],
    ]);
    // The same version fires once on a day.
    await silent();
    expect(await its.list(day)).toHaveLength(2);
    const closed = [{ entity, firedOn: day, day: day + 1, why: "resolved" } as const];
    await its.fire(day + 1, [], { closed });
    expect(told(await its.list(day))).toEqual([
      [2, "resolved", true],
      [1, "ruleChanged", true],
    ]);
    expect(
      (await its.ledger.deliveries.list(its.id, { limit: 9 })).map(({ type }) => String(type)).toSorted(),
    ).toEqual(["alert.fired", "alert.fired", "alert.resolved"]);
  });
}
