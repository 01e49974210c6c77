/** A ledger with data of every kind, and everything that its interface returns. A move to another store has
 * to keep it. */
import { workImporter } from "../../server/features/notes-and-tasks/imported/import-work.ts";
import { Importer } from "../../server/intake/importer.ts";
import { commandLine, personActor, settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { type PersonKey, userKey, visitorKey } from "../../server/ledger/rules/held-events.ts";
import { eventRow, userRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { alertRule, decision, renderDue } from "./alert-decision.ts";
import { noteOfAssistant } from "./assistant-write.ts";
import { account, append, inboxRows, look, needs, remember, user, writes } from "./writes.ts";

/** A text with difficult characters. PostgreSQL stores neither U+0000 nor, unchanged, the text that stands
 * for it. */
export const oddText = "a\u0000 \\0 \\\\ ü 😀 'single' \"double\"";
const day = 20_000;
export const dayMs = 86_400_000;

/** Users of the ledger below. */
const userIds = ["ada", "bob", "eve", oddText] as const;

/** Fills a ledger as intake, the loader and people do. Nothing waits in the end. @returns its first
 * organization */
export async function fillLedger(ledger: Ledger, nowMs: number): Promise<number> {
  const { id } = await ledger.organizations.create(
    { name: oddText, timezone: "Europe/Paris", nowMs },
    settingUp,
  );
  const other = await ledger.organizations.create({ name: "other", timezone: "UTC", nowMs }, settingUp);
  await ledger.organizations.set(
    id,
    { timezone: "Asia/Tokyo", keepEventsDays: 90, itemsPerSecondSet: 7 },
    settingUp,
    1,
  );
  await ledger.organizations.eventsDropped(id, 19_000);
  for (const credentials of [ledger.tokens, ledger.readKeys]) {
    for (const name of [oddText, "revoked"]) {
      const sha256 = `${name.length} of ${credentials === ledger.tokens}`;
      const wanted = { organization: id, name, rights: ["write", "read"] as const, sha256, lastFour: "wxyz" };
      const made = await credentials.create({ ...wanted, nowMs }, settingUp);
      if (name === "revoked") await credentials.revoke(made.id, settingUp, nowMs + 1);
      else await credentials.touch([{ id: made.id, atMs: nowMs + 2 }]);
    }
  }
  await fillUsers(ledger, id);
  await fillRejectedEvents(ledger, id);
  await eraseEve(ledger, id);
  await fillOperation(ledger, id, other.id, nowMs);
  await fillPeople(ledger, id, nowMs);
  await fillSources(ledger, id, nowMs);
  await fillDestinations(ledger, id, nowMs);
  await fillWork(ledger, id, nowMs);
  await fillAlerts(ledger, id, nowMs);
  await loadAll(ledger);
  return id;
}

async function fillUsers(ledger: Ledger, organization: number): Promise<void> {
  const users = userIds.map((userId, index) =>
    user(organization, userId, {
      number: index + 1,
      version: index + 2,
      account: index % 2,
      isAccountOwner: [null, true, false][index] ?? null,
      email: userId === "bob" ? null : `${userId}@example.com`,
      traits: { plan: oddText, n: index },
      fieldTimestampsMs: { email: 5 },
    }),
  );
  const accounts = [
    account(organization, oddText, {
      name: oddText,
      avatar: oddText,
      traits: { tier: oddText, seats: 3 },
      version: 3,
    }),
  ];
  await ledger.transact(needs({ users, accounts }), () =>
    writes(1_000, {
      users,
      accounts,
      inbox: [inboxRows(["a", "b"])],
      dayCounts: [{ organization, utcDay: day, events: 12, checksum: 2 ** 32 - 3 }],
      versionRows: [{ organization, rows: 8, versions: 20 }],
      accountVersionRows: [{ organization, rows: 3, versions: 6 }],
    }),
  );
}

async function fillRejectedEvents(ledger: Ledger, organization: number): Promise<void> {
  const timeMs = day * dayMs;
  const event = (n: number) =>
    eventRow({
      organization,
      user: 1,
      account: 0,
      event: oddText,
      timeMs,
      day,
      receivedAtMs: timeMs,
      id: n.toString(16).padStart(32, "0"),
      messageId: null,
      properties: "{}",
    });
  const versions = userRow(user(organization, "bob", { number: 2, version: 2 }));
  for (const [table, lines] of [
    ["events", [event(1), event(2), "no JSON"]],
    ["users", [versions]],
  ] as const) {
    const body = lines.map((line) => `${line}\n`).join("");
    await append(ledger, { table, year: 2024, schema: 1, rows: lines.length, body });
    for (const batch of await ledger.inbox.freeze(1_000)) {
      const rejectedRows = batch.table === table ? lines.map((row) => ({ table, row, reason: oddText })) : [];
      await ledger.inbox.finish(batch.number, batch.year === 2024 ? rejectedRows : []);
    }
  }
  const [newest] = await ledger.rejectedEvents.list({}, 1);
  await ledger.rejectedEvents.drop({ ids: [newest?.id ?? 0] }, settingUp, 1);
}

/** One erasure is done, and another has begun. */
async function eraseEve(ledger: Ledger, organization: number): Promise<void> {
  const erased = await ledger.erasures.begin(organization, "eve");
  await loadAll(ledger);
  const dayCounts = [{ organization, utcDay: day, events: 1, checksum: 9 }];
  await ledger.erasures.counted([{ id: erased?.id ?? 0, dayCounts, versions: 1, versionSum: 1, days: 1 }]);
  await ledger.erasures.finish([erased?.id ?? 0]);
  await ledger.erasures.begin(organization, "bob");
}

async function fillOperation(ledger: Ledger, id: number, other: number, nowMs: number): Promise<void> {
  const importer = new Importer(
    ledger,
    () => undefined,
    () => nowMs,
    { note: () => undefined },
    workImporter(ledger),
  );
  const file = { organization: id, sha256: "aa", mapping: oddText, fileName: oddText, nowMs };
  const { id: importId } = await ledger.imports.begin(file);
  const track = JSON.stringify({ type: "track", userId: "ada", event: "opened", messageId: "row-1" });
  await importer.append(importId, 0, [track, { invalid: oddText }]);
  await ledger.imports.finish(importId, nowMs + 3);
  const seen = { utcDay: day, firstSeenMs: nowMs, lastSeenMs: nowMs + 1, count: 3, message: oddText };
  await ledger.warnings.add([
    { organization: id, ...seen, kind: "unknown_key", endpoint: "track", detail: oddText, userId: oddText },
    { organization: other, ...seen, kind: "duplicate", endpoint: "track", detail: null, userId: null },
  ]);
  const { exclusions } = ledger;
  await exclusions.add(id, { kind: "trait", key: oddText, value: oddText }, settingUp, nowMs);
  const removed = await exclusions.add(id, { kind: "user", key: "", value: "ada" }, settingUp, nowMs);
  await exclusions.remove(id, removed.id, settingUp, 1);
  await exclusions.add(id, { kind: "account", key: "", value: oddText }, settingUp, nowMs);
  await ledger.outages.add(id, { fromDay: 20_000, toDay: 20_004 }, settingUp, nowMs);
  const check = { organization: id, atMs: nowMs, tookMs: 5, differences: 2, examples: [oddText, "b"] };
  await ledger.checks.keep(check);
}

async function fillPeople(ledger: Ledger, id: number, nowMs: number): Promise<void> {
  const { members: people, logins: entrance, settings, views } = ledger;
  await people.addClaimLink("claim", nowMs);
  const owner = { email: "owner@example.com", name: oddText, passwordHash: "$argon2id$x" };
  const claimed = await entrance.claim("claim", owner, nowMs);
  if (claimed === undefined) throw new Error("nobody claimed the ledger");
  const by = personActor(claimed);
  await entrance.begin(claimed.id, "session", nowMs);
  await people.membership(claimed.id, id, nowMs + 7);
  const invited = { organization: id, email: "new@example.com", role: "viewer" } as const;
  const expiresAtMs = nowMs + dayMs;
  await people.invite({ ...invited, sha256: "invitation", expiresAtMs }, by, nowMs);
  await people.addPasswordLink({ person: claimed.id, sha256: "password", expiresAtMs }, by, nowMs);
  await settings.change(id, { churnHorizonDays: 14, passiveEvents: ["a\\0b"] }, by, nowMs);
  await settings.change(id, { weekStart: 7 }, commandLine, nowMs + 1);
  await views.add(id, { page: "users", name: oddText, query: oddText }, by, nowMs);
  const { uploads } = ledger;
  const file = { node: null, folder: `folder ${id}`, fileName: oddText, bytes: 9 };
  const uploaded = await uploads.add(id, file, by, nowMs);
  await uploads.settle(uploaded.id, "reading", "ready", nowMs);
  await uploads.startCheck(id, uploaded.id, { from: null, kind: "events", eventName: oddText }, nowMs);
  await uploads.settle(uploaded.id, "checking", "checked", nowMs + 1);
  const filter = { traits: [{ trait: oddText, value: oddText }] };
  await ledger.segments.add(id, { kind: "users", name: oddText, content: { filter } }, by, nowMs);
  const fixed = { kind: "users", name: "fixed", content: { ids: ["ada", oddText] } } as const;
  await ledger.segments.add(id, fixed, by, nowMs);
}

async function fillSources(ledger: Ledger, id: number, nowMs: number): Promise<void> {
  const { sources, sourceSettings } = ledger;
  const counts = { accepted: 5, held: 4, duplicate: 3, rejected: 2, ignored: 1, organization: id };
  const times = { firstMs: nowMs, lastMs: nowMs + 1, firstHeardMs: nowMs, lastHeardMs: null };
  await sources.add([{ ...counts, ...times, source: "segment", utcHour: Math.floor(nowMs / 3_600_000) }]);
  await sources.retire(id, "segment", settingUp, nowMs + 9);
  await sourceSettings.changeStripe(id, { signingSecrets: [oddText] }, commandLine, nowMs);
  const held = [...peopleOf(id), visitorKey(id, "stranger")].map((person, index) => ({
    ...person,
    receivedAtMs: nowMs + index,
    atMs: nowMs,
    accountId: oddText,
    body: JSON.stringify({ text: oddText }),
  }));
  const links = ["ada", oddText, "mailto:nobody@example.com"].flatMap((userId) =>
    [userKey, visitorKey].map((keyOf) => ({
      ...keyOf(id, `linked to ${userId}`),
      link: { userId, atMs: nowMs },
    })),
  );
  const labels = [{ organization: id, event: oddText, label: ` ${oddText}` }];
  const needed = { people: [...held, ...links], labels };
  await ledger.transact(needs(needed), () =>
    writes(nowMs, { heldEvents: { taken: [], held, refused: [], links, labels } }),
  );
  await ledger.erasures.begin(id, "stranger");
}

async function fillDestinations(ledger: Ledger, id: number, nowMs: number): Promise<void> {
  const { destinations, deliveries } = ledger;
  const wanted = {
    kind: "webhook" as const,
    notices: ["source.silent" as const],
    name: oddText,
    address: "https://example.com/",
    secrets: ["whsec_b", "whsec_a"],
  };
  const to = await destinations.add(id, wanted, commandLine, nowMs);
  const body = JSON.stringify({ text: oddText });
  for (const messageId of [oddText, "tried", "waits"]) {
    await deliveries.add(id, to.id, { messageId, type: "test", body }, nowMs);
  }
  const tried = (await deliveries.list(id, { limit: 9 })).find(({ messageId }) => messageId === "tried");
  const answer = { status: 410, said: oddText, verdict: { is: "failed", isGone: true } } as const;
  await deliveries.tried([{ id: tried?.id ?? 0, ...answer }], nowMs + 1);
}

async function fillWork(ledger: Ledger, id: number, nowMs: number): Promise<void> {
  const ada = { kind: "user", id: "ada" } as const;
  await ledger.notes.add(id, ada, oddText, commandLine, nowMs);
  await noteOfAssistant(ledger, id, nowMs);
  const task = { title: oddText, dueDay: day, assignee: null };
  const done = await ledger.tasks.add(id, ada, task, commandLine, nowMs);
  await ledger.tasks.add(id, { kind: "user", id: oddText }, task, commandLine, nowMs);
  await ledger.tasks.change(id, done?.id ?? 0, { isDone: true }, commandLine, nowMs + 1);
  for (const accountId of [oddText]) {
    const said = await ledger.pulses.add(id, accountId, { value: 4, text: oddText }, commandLine, nowMs);
    await ledger.pulses.takeBack(id, said?.id ?? 0, commandLine, nowMs + 1);
    await ledger.pulses.add(
      id,
      accountId,
      { value: 1, text: "Their champion left." },
      commandLine,
      nowMs + 2,
    );
  }
  await ledger.alerts.setCallAside(id, ada, { snoozedUntil: day + 5 }, commandLine, nowMs);
  await importWork(ledger, id, nowMs);
}

/** Notes and tasks whose authors and assignees are no team members. */
async function importWork(ledger: Ledger, id: number, nowMs: number): Promise<void> {
  const file = { organization: id, sha256: "bb", mapping: "{}", fileName: oddText, nowMs };
  const { id: importId } = await ledger.imports.begin(file);
  const author = { id: null, text: oddText };
  const row = { row: 0, entity: { kind: "user", id: "ada" }, key: oddText, atMs: nowMs, author } as const;
  const chunk = { organization: id, importId, fromRow: 0, rows: 1, rejected: [] };
  await ledger.importedWork.addNotes(chunk, [{ ...row, text: oddText }], commandLine, nowMs);
  const task = { ...row, title: oddText, dueDay: day, assignee: author, doneAtMs: nowMs };
  await ledger.importedWork.addTasks({ ...chunk, fromRow: 1 }, [task], commandLine, nowMs);
}

async function fillAlerts(ledger: Ledger, id: number, nowMs: number): Promise<void> {
  const hook = { kind: "webhook", name: "alerts", address: "https://example.org/", notices: [] } as const;
  const to = await ledger.destinations.add(id, { ...hook, secrets: ["whsec_c"] }, commandLine, nowMs);
  const destinations = [to.id];
  const step = { kind: "task", afterDays: 0, title: oddText, dueDays: 2, assignee: null } as const;
  const rule = await ledger.alertRules.add(
    id,
    { ...alertRule, name: oddText, destinations, steps: [step], holdOutShare: 0.2 },
    commandLine,
    nowMs,
  );
  await ledger.ruleDecisions.holdOut(id, rule.id, 28, nowMs);
  const entity = { kind: "user", number: 1 } as const;
  const first = decision({ organization: id, rule: rule.id, entity, day, messages: destinations });
  const fired = first.fired.map((alert) => ({ ...alert, arm: "treated" as const }));
  const later = first.messages.map((one) => ({
    ...one,
    dueAtMs: nowMs + dayMs,
    message: { messageId: "msg_later", type: "alert.fired" as const },
  }));
  const messages = [...first.messages, ...later];
  await ledger.ruleDecisions.commitDecision({ ...first, fired, messages, insideBySettings: 2 }, nowMs);
  await renderDue(ledger, nowMs, { organization: id, today: day });
  const held = { ...alertRule, name: `held ${oddText}`, holdOutShare: 0.2 };
  const gone = await ledger.alertRules.add(id, held, commandLine, nowMs);
  await ledger.alertRules.remove(id, gone.id, commandLine, nowMs);
  // The step is of today, or of tomorrow in its timezone: it does not make up for the alert of that day.
  const today = Math.floor(nowMs / dayMs) + 1;
  const second = decision({ organization: id, rule: rule.id, entity, day: today });
  const [toDecide] = await ledger.ruleDecisions.toDecide(id);
  const after = toDecide?.watermark.sequence ?? 0;
  await ledger.ruleDecisions.commitDecision({ ...second, after, messages: [] }, nowMs);
  const morning = { today, nowMs, nextMorningMs: nowMs + dayMs };
  for (const due of await ledger.ruleSteps.due(id, today)) await ledger.ruleSteps.run(id, due, 0, morning);
  const listed = { user: 2, account: 0, mayEnter: false };
  await ledger.askedArms.list(id, { rule: rule.id, day, atMs: nowMs }, [listed]);
  const { alerts } = await ledger.alerts.list(id, { state: "all", today: day, limit: 9, offset: 0 });
  const verdict = { verdict: "handled", outcome: "saved", note: oddText } as const;
  await ledger.alerts.change(id, alerts[0]?.id ?? 0, verdict, commandLine, day, nowMs);
}

/** The secret of draws. */
async function holdOutOf(ledger: Ledger, id: number, nowMs: number): Promise<unknown> {
  const [rule] = await ledger.ruleDecisions.toDecide(id);
  return rule && ledger.ruleDecisions.holdOut(id, rule.version.rule, 28, nowMs);
}

/** The ids under which events are held. */
function peopleOf(organization: number): readonly PersonKey[] {
  return [
    visitorKey(organization, "visitor"),
    userKey(organization, oddText),
    visitorKey(organization, oddText),
  ];
}

/** The held events, the links and the erasures. */
function waitingIn(ledger: Ledger, organization: number): Promise<unknown> {
  const people = [
    ...peopleOf(organization),
    visitorKey(organization, "stranger"),
    userKey(organization, "eve"),
    ...[userKey, visitorKey].map((keyOf) => keyOf(organization, `linked to ${oddText}`)),
  ];
  return look(ledger, { people }, (stored) => [
    people.map((person) => [stored.heldEvents(person), stored.link(person), stored.erasedAtMs(person)]),
    userIds.map((userId) => stored.linksTo(organization, userId)),
  ]);
}

/** Finishes all that waits, as if the warehouse had taken it. @returns the number of the last batch */
export async function loadAll(ledger: Ledger): Promise<number> {
  let last = 0;
  for (;;) {
    const batches = await ledger.inbox.freeze(10_000);
    if (batches.length === 0) return last;
    for (const { number } of batches) {
      await ledger.inbox.finish(number, []);
      last = number;
    }
  }
}

/** Everything that the interface returns, except for the remembered message ids. */
export async function everythingIn(ledger: Ledger, nowMs: number): Promise<unknown> {
  const organizations = await ledger.organizations.list();
  const { newestInboxId, ...backlog } = await ledger.inbox.backlog();
  return {
    organizations,
    backlog,
    newestInboxId,
    of: await Promise.all(organizations.map(({ id }) => everythingOf(ledger, id, nowMs))),
    rebuilds: await ledger.rebuildsPending(),
    erasures: await ledger.erasures.pending(),
    rejectedEvents: await ledger.rejectedEvents.list({}, 99),
    revisions: await ledger.exclusions.revisions(),
    checks: await ledger.checks.list(),
    import: await ledger.imports.find(1),
    person: await ledger.members.withEmail("owner@example.com"),
    memberships: await ledger.members.membershipsOf(1),
    session: await ledger.logins.session("session", nowMs),
    links: [
      await ledger.logins.link("invitation", "invitation", nowMs),
      await ledger.logins.link("password", "password", nowMs),
    ],
  };
}

async function segmentsOf(ledger: Ledger, id: number): Promise<unknown> {
  const segments = await ledger.segments.list(id);
  return Promise.all(
    segments.map(async (one) => ({ ...one, numbers: await ledger.segments.numbers(id, one.id) })),
  );
}

async function everythingOf(ledger: Ledger, id: number, nowMs: number): Promise<unknown> {
  return {
    tokens: await ledger.tokens.list(id),
    readKeys: await ledger.readKeys.list(id),
    users: await Promise.all(userIds.map((userId) => ledger.findUser(id, userId))),
    withEmail: await ledger.identities.withEmail(id, "ADA@example.com"),
    linked: await ledger.identities.linkedTo(id, `linked to ${oddText}`),
    populations: await ledger.populations(id),
    days: await ledger.dayCounts(id),
    missing: await ledger.rejectedEvents.missing(id),
    erasures: await ledger.erasures.list(id),
    imports: await ledger.imports.ofFile(id, "aa"),
    warnings: await ledger.warnings.list(id, 99),
    exclusions: [await ledger.exclusions.list(id), await ledger.exclusions.rules(id)],
    outages: await ledger.outages.list(id),
    settings: [await ledger.settings.get(id), await ledger.settings.history(id, { limit: 99 })],
    members: await ledger.members.list(id),
    invitations: await ledger.members.invitations(id, nowMs),
    audit: await ledger.audit.list(id, { limit: 99 }),
    views: await ledger.views.list(id),
    uploads: await ledger.uploads.list(id),
    segments: await segmentsOf(ledger, id),
    sources: [await ledger.sources.totals(id), await ledger.sources.hours(id, 0)],
    sourceSettings: [await ledger.sourceSettings.webhooks(id), await ledger.sourceSettings.stripe(id)],
    destinations: await ledger.destinations.list(id),
    deliveries: await ledger.deliveries.list(id, { limit: 99 }),
    unrendered: await ledger.deliveries.toRender(0, nowMs + dayMs),
    work: [
      await ledger.notes.all(id, 0, 99),
      await ledger.tasks.all(id, 0, 99),
      await ledger.pulses.all(id, 0, 99),
    ],
    importedWork: [
      [...(await ledger.importedWork.known(id, "notes", [oddText]))],
      [...(await ledger.importedWork.known(id, "tasks", [oddText]))],
    ],
    assistantWrites: await ledger.assistantWrites.list(id, 99),
    calls: await ledger.alerts.workedOn(id, { users: [1, 2, 3], accounts: [1, 2, 3] }, 0, day),
    alerts: [
      await ledger.alertRules.list(id, day),
      await ledger.ruleDecisions.toDecide(id),
      await ledger.alerts.list(id, { state: "all", today: day, limit: 99, offset: 0 }),
      await ledger.alertRules.experiments(id),
      await holdOutOf(ledger, id, nowMs),
      await ledger.ruleDecisions.insideBySettings(id, 0, nowMs + 1),
      await ledger.alerts.verdicts(id, 0, 0, 99),
      await ledger.ruleSteps.due(id, day),
      await ledger.askedArms.lists(id),
    ],
    held: [await ledger.heldEvents.counts(id), await ledger.heldEvents.people(id, 99)],
    waiting: await waitingIn(ledger, id),
    labels: await ledger.heldEvents.labels(id, [oddText]),
    freshness: (await ledger.freshness(id)).rebuildingSinceMs,
  };
}

/** Stores messages under these ids. @returns those that are remembered already */
export async function send(
  ledger: Ledger,
  organization: number,
  ids: readonly string[],
  nowMs: number,
): Promise<readonly string[]> {
  const keys = ids.map((messageId) => ({ organization, kind: "track" as const, messageId }));
  return (await remember(ledger, keys, nowMs)).map(({ messageId }) => messageId);
}
