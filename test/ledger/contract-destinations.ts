/** The part of the contract about destinations. */
import { describe, expect, test } from "bun:test";
import { destinationLimits, ownDigestName } from "../../contract/destinations/destinations.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import { callsOn, dayMs, hostile } from "./destination-calls.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

/** Declares the tests of destinations. */
export function destinationsContract(subject: LedgerUnderTest): void {
  destinations(subject);
  mailboxes(subject);
  agreements(subject);
  askedRecipients(subject);
  ownDigests(subject);
  namesAndPlaces(subject);
}

function destinations(subject: LedgerUnderTest): void {
  const { add, change } = callsOn(subject);

  describe("destinations", () => {
    test("are listed by name, and are there after a restart", async () => {
      const { id } = await subject.organization();
      const other = await subject.organization("other");
      for (const name of ["b", "é", "A", hostile]) await add(id, name);
      await add(other.id, "b");
      await subject.reopen();
      const destinations = await subject.ledger.destinations.list(id);
      expect(destinations.map(({ name }) => name)).toEqual(["A", hostile, "b", "é"]);
      expect(destinations[0]).toMatchObject({
        organization: id,
        kind: "webhook",
        address: "https://example.com/",
        secrets: ["whsec_x"],
        notices: ["source.silent"],
        state: "active",
        pending: 0,
        held: 0,
        createdAtMs: subject.nowMs,
      });
    });

    test("are changed and deleted, and the log has neither address nor secret", async () => {
      const { id } = await subject.organization();
      const added = await add(id, "b");
      const after = { name: "c", address: "https://secret.example/" };
      expect(await change(id, added.id, after)).toMatchObject({ ...after, mustAgree: false });
      const { destinations, audit } = subject.ledger;
      expect(await destinations.addSecret(id, added.id, "whsec_y", commandLine, 1)).toBe(true);
      expect((await destinations.find(id, added.id))?.secrets).toEqual(["whsec_y", "whsec_x"]);
      expect(await destinations.remove(id, added.id, commandLine, 1)).toBe(true);
      const log = await audit.list(id, { limit: 9 });
      expect(log.map(({ summary }) => summary)).toEqual([
        "Deleted the destination c",
        "Changed secrets of the destination c",
        "Changed address, name of the destination c",
        "Added the destination b",
      ]);
      expect(JSON.stringify(log)).not.toMatch(/whsec|https/);
    });

    test("have each of two secrets that are made at once", async () => {
      const { id } = await subject.organization();
      const added = await add(id, "b");
      const { destinations } = subject.ledger;
      await Promise.all(
        ["whsec_y", "whsec_z"].map((secret) =>
          destinations.addSecret(id, added.id, secret, commandLine, subject.nowMs),
        ),
      );
      const { secrets = [] } = (await destinations.find(id, added.id)) ?? {};
      expect(secrets.toSorted()).toEqual(["whsec_y", "whsec_z"]);
    });
  });
}

const mailbox = {
  kind: "email" as const,
  notices: [],
  name: "Ada",
  address: "ada@example.com",
  secrets: ["code"],
};

function mailboxesOf(subject: LedgerUnderTest) {
  const addMailbox = (organization: number, name = mailbox.name, atMs = subject.nowMs) =>
    subject.ledger.destinations.add(organization, { ...mailbox, name }, commandLine, atMs);
  /** The id of a destination whose recipient agreed. */
  const agreed = async (organization: number) => {
    const { id } = await addMailbox(organization);
    await subject.ledger.destinations.agree(id, "code", subject.nowMs);
    return id;
  };
  return { addMailbox, agreed };
}

function mailboxes(subject: LedgerUnderTest): void {
  const { add } = callsOn(subject);
  const { addMailbox } = mailboxesOf(subject);

  describe("destinations of e-mail", () => {
    test("send when the recipient agrees, and no more when the recipient unsubscribes", async () => {
      const { id } = await subject.organization();
      const { destinations, deliveries, audit } = subject.ledger;
      const added = await addMailbox(id);
      expect(added.state).toBe("unconfirmed");
      const message = { messageId: "1", type: "test", body: "{}" } as const;
      await deliveries.add(id, added.id, message, subject.nowMs);
      expect(await destinations.agree(added.id, "other", 1)).toBeUndefined();
      expect(await destinations.unsubscribe(added.id, "other", 1)).toBeUndefined();
      expect(await destinations.agree(added.id, "code", 1)).toMatchObject({ state: "active" });
      expect(await destinations.find(id, added.id)).toMatchObject({ state: "active", pending: 0 });
      await deliveries.add(id, added.id, message, subject.nowMs);
      expect(await destinations.unsubscribe(added.id, "code", 2)).toMatchObject({ state: "disabled" });
      expect(await destinations.find(id, added.id)).toMatchObject({
        state: "disabled",
        stoppedBecause: "The recipient unsubscribed.",
        held: 1,
      });
      expect((await audit.list(id, { limit: 9 })).map(({ summary }) => summary)).toEqual([
        "Disabled the destination Ada: The recipient unsubscribed.",
        "The recipient of Ada agreed",
        "Asked the recipient of Ada to agree",
        "Added the destination Ada",
      ]);
      const webhook = await add(id, "b");
      expect(await destinations.agree(webhook.id, "whsec_x", 1)).toBeUndefined();
    });
  });
}

function agreements(subject: LedgerUnderTest): void {
  const { change } = callsOn(subject);
  const { agreed } = mailboxesOf(subject);

  describe("destinations of e-mail", () => {
    test("are unconfirmed by a new code after another address, and when they start after a stop", async () => {
      const { id } = await subject.organization();
      const { destinations } = subject.ledger;
      const ada = await agreed(id);
      expect(await change(id, ada, { name: "Countess" })).toMatchObject({
        state: "active",
        mustAgree: false,
      });
      expect(await change(id, ada, { address: mailbox.address })).toMatchObject({ mustAgree: false });
      const moved = await change(id, ada, { address: "ada@elsewhere.example" });
      expect(moved).toMatchObject({ state: "unconfirmed", mustAgree: true });
      expect(await destinations.agree(ada, "code", 1)).toBeUndefined();
      await expect(change(id, ada, { state: "active" })).rejects.toThrow("has not agreed yet");
      const again = await change(id, ada, { address: "ada@elsewhere.example" });
      expect(again).toMatchObject({ state: "unconfirmed", mustAgree: true });
      expect(again?.secrets).not.toEqual(moved?.secrets ?? []);
      const code = again?.secrets[0] ?? "";
      await destinations.agree(ada, code, 1);
      await destinations.unsubscribe(ada, code, 2);
      expect(await change(id, ada, { state: "paused" })).toMatchObject({
        state: "unconfirmed",
        stoppedBecause: null,
        mustAgree: true,
      });
    });

    test("are not active after a resumption at the moment of the unsubscription", async () => {
      const { id } = await subject.organization();
      const ada = await agreed(id);
      await change(id, ada, { state: "paused" });
      const { destinations } = subject.ledger;
      await Promise.all([destinations.unsubscribe(ada, "code", 2), change(id, ada, { state: "active" })]);
      expect((await destinations.find(id, ada))?.state).toBeOneOf(["unconfirmed", "disabled"]);
    });
  });
}

function askedRecipients(subject: LedgerUnderTest): void {
  const { change } = callsOn(subject);
  const { addMailbox } = mailboxesOf(subject);

  describe("destinations of e-mail", () => {
    test("ask so many recipients a day at most, whether they were added, changed or deleted", async () => {
      const { id } = await subject.organization();
      const other = await subject.organization("other");
      const { nowMs, ledger } = subject;
      for (let asked = 0; asked < destinationLimits.askedPerDay - 2; asked++) {
        const { id: added } = await addMailbox(id, `${asked}`);
        await ledger.destinations.remove(id, added, commandLine, nowMs);
      }
      const ada = await addMailbox(id);
      expect(await change(id, ada.id, { address: mailbox.address })).toMatchObject({ mustAgree: true });
      const refusal = "Too many requests: 20 e-mails that ask for agreement were sent within 24 hours.";
      await expect(change(id, ada.id, { address: "b@example.com" })).rejects.toThrow(refusal);
      await expect(addMailbox(id, "b")).rejects.toThrow(refusal);
      expect(await ledger.destinations.list(id)).toMatchObject([{ name: "Ada", address: mailbox.address }]);
      expect(await change(id, ada.id, { name: "b" })).toMatchObject({ name: "b" });
      expect(await addMailbox(other.id)).toMatchObject({ state: "unconfirmed" });
      expect(await addMailbox(id, "later", nowMs + dayMs + 1)).toMatchObject({ state: "unconfirmed" });
    });
  });
}

function ownDigests(subject: LedgerUnderTest): void {
  const { add, change } = callsOn(subject);
  const { addMailbox } = mailboxesOf(subject);
  const summaries = async (id: number) =>
    (await subject.ledger.audit.list(id, { limit: 100 })).map(({ summary }) => summary);

  describe("destinations", () => {
    test("are not written without a difference, and the log has the fields that changed", async () => {
      const { id } = await subject.organization();
      const added = await add(id, "b");
      const before = await subject.ledger.destinations.find(id, added.id);
      const same = { name: "b", address: added.address, notices: added.notices, state: "active" } as const;
      for (let n = 0; n < 3; n += 1) {
        expect(await change(id, added.id, same)).toEqual({ ...added, mustAgree: false });
      }
      expect(await subject.ledger.destinations.find(id, added.id)).toEqual(before);
      await change(id, added.id, { ...same, notices: [], state: "paused" });
      await change(id, added.id, { state: "paused" });
      expect(await summaries(id)).toEqual([
        "Changed notices, state of the destination b",
        "Added the destination b",
      ]);
    });

    test("of members' own digests ask three times a day, and leave the organization its mails", async () => {
      const { id } = await subject.organization();
      const { ownAskedPerDay, askedPerDay } = destinationLimits;
      const [ours, theirs] = [await addMailbox(id, ownDigestName(1)), ownDigestName(2)];
      const ask = () => change(id, ours.id, { address: mailbox.address });
      for (let asked = 1; asked < ownAskedPerDay; asked += 1) {
        expect(await ask()).toMatchObject({ mustAgree: true });
      }
      const refusal = "Too many requests: 3 e-mails that ask for agreement about your digest were sent";
      await expect(ask()).rejects.toThrow(refusal);
      await subject.ledger.destinations.remove(id, ours.id, commandLine, subject.nowMs);
      await expect(addMailbox(id, ours.name)).rejects.toThrow(refusal);
      await addMailbox(id, theirs);
      for (let asked = 0; asked < askedPerDay; asked += 1) {
        const { id: one } = await addMailbox(id, `mailbox ${asked}`);
        await subject.ledger.destinations.remove(id, one, commandLine, subject.nowMs);
      }
      await expect(addMailbox(id, "one more")).rejects.toThrow("Too many requests: 20 e-mails");
      await addMailbox(id, ours.name, subject.nowMs + dayMs + 1);
      expect((await summaries(id)).filter((summary) => summary.startsWith("Asked"))).toHaveLength(25);
    });

    test("of members' own digests change so often a day at most", async () => {
      const { id } = await subject.organization();
      const name = ownDigestName(1);
      const { id: own } = await addMailbox(id, name);
      await subject.ledger.destinations.agree(own, "code", subject.nowMs);
      const choose = (n: number) => change(id, own, { notices: [n % 2 ? "digest.weekly" : "digest.daily"] });
      for (let n = 1; n <= destinationLimits.ownChangesPerDay; n += 1) await choose(n);
      await expect(choose(21)).rejects.toThrow("your digest was changed 20 times within 24 hours");
      expect(await choose(20)).toMatchObject({ notices: ["digest.daily"] });
      expect(await change(id, own, { state: "paused" })).toMatchObject({ state: "paused" });
      const changes = (await summaries(id)).filter((summary) => summary.startsWith("Changed notices"));
      expect(changes).toHaveLength(20);
    });
  });
}

function namesAndPlaces(subject: LedgerUnderTest): void {
  const { add, change, send, states } = callsOn(subject);

  describe("destinations", () => {
    test("are paused in a ledger that is at another place, and their messages held", async () => {
      const { id } = await subject.organization();
      const { ledger, nowMs } = subject;
      const place = await ledger.place();
      expect(await ledger.copies.pauseElsewhere(place, nowMs)).toBe(0);
      const [active, paused] = [await add(id, "active"), await add(id, "paused")];
      await change(id, paused.id, { state: "paused" });
      await send(id, active.id, "1");
      await subject.reopen();
      const { copies, destinations } = subject.ledger;
      expect(await subject.ledger.place()).toBe(place);
      expect(await copies.pauseElsewhere(place, nowMs)).toBe(0);
      expect(await states(id)).toEqual(["1 pending 0"]);
      expect(await copies.pauseElsewhere("elsewhere", nowMs)).toBe(1);
      expect(await states(id)).toEqual(["1 held 0"]);
      const because = "This installation was restored, copied or moved.";
      expect(await destinations.list(id)).toMatchObject([
        { name: "active", state: "paused", stoppedBecause: because, held: 1 },
        { name: "paused", state: "paused", stoppedBecause: null },
      ]);
      const [entry] = await subject.ledger.audit.list(id, { limit: 1 });
      expect(entry).toMatchObject({
        action: "destination.paused",
        summary: `Paused the destination active: ${because}`,
      });
      expect(await change(id, active.id, { state: "active" })).toMatchObject({ stoppedBecause: null });
      expect(await copies.pauseElsewhere("elsewhere", nowMs)).toBe(0);
    });

    test("that ask for messages about an organization are found in all of them, unless they are disabled", async () => {
      const { id } = await subject.organization();
      const other = await subject.organization("other");
      const { destinations } = subject.ledger;
      await add(id, "b");
      const paused = await add(other.id, "c");
      const silent = await add(id, "d");
      await change(other.id, paused.id, { state: "paused" });
      await change(id, silent.id, { notices: [] });
      const mailbox = { kind: "email", name: "Ada", address: "ada@example.com", secrets: ["code"] } as const;
      await destinations.add(id, { ...mailbox, notices: ["source.silent"] }, commandLine, subject.nowMs);
      expect((await destinations.asking()).map(({ organization, name }) => [organization, name])).toEqual([
        [id, "b"],
        [other.id, "c"],
      ]);
    });

    test("have a name of their own, and there are so many at most", async () => {
      const { id } = await subject.organization();
      const first = await add(id, "b");
      await add(id, "c");
      await expect(add(id, "b")).rejects.toThrow("name is taken: there is a destination called b already.");
      await expect(change(id, first.id, { name: "c" })).rejects.toThrow("name is taken");
      for (let n = 2; n < destinationLimits.perOrganization; n++) await add(id, `destination ${n}`);
      await expect(add(id, "one more")).rejects.toThrow("There are 20 destinations already");
      const { destinations } = subject.ledger;
      for (const person of [1, 21]) await mailboxesOf(subject).addMailbox(id, ownDigestName(person));
      await expect(add(id, "one more")).rejects.toThrow("There are 20 destinations already");
      await destinations.remove(id, first.id, commandLine, subject.nowMs);
      await add(id, "one more");
      await expect(add(id, "another one")).rejects.toThrow("There are 20 destinations already");
    });
  });
}
