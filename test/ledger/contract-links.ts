/** The part of the contract about links between ids, and what an erasure takes of them. */
import { expect, test } from "bun:test";
import { limits } from "../../contract/limits.ts";
import { addressId, userKey, visitorKey } from "../../server/ledger/rules/held-events.ts";
import {
  dayMs,
  heldIn,
  item,
  link,
  linkedTo,
  linksIn,
  maxWaitingLinks,
  warningsOf,
  write,
} from "./held-event-support.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { look, user, writePeople } from "./writes.ts";

/** Declares the tests of links. */
export function linksContract(subject: LedgerUnderTest): void {
  wordsContract(subject);
  addressesContract(subject);
  waitingLinksContract(subject);
  roomContract(subject);
  goneContract(subject);
  tombstonesContract(subject);
}

function wordsContract(subject: LedgerUnderTest): void {
  test("ids are linked, linked anew and no longer", async () => {
    const { id } = await subject.organization();
    await write(subject.ledger, subject.nowMs, {
      links: [link(id, "v", "a"), link(id, "w", "a", 2), link(id, "x", "b")],
    });
    await write(subject.ledger, subject.nowMs, {
      links: [link(id, "v", "b", 5), { ...link(id, "x", ""), link: null }],
    });
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      expect(await linksIn(subject.ledger, id, ["v", "w", "x"])).toEqual(["v → b at 5", "w → a at 2"]);
      expect(await linkedTo(subject.ledger, id, "b")).toEqual(["visitor v"]);
    }
  });

  test("when a user has too many links, those that were not sent for 30 days are removed", async () => {
    const { id } = await subject.organization();
    await writePeople(subject.ledger, { users: [user(id, "u")] });
    const many = (name: string, count: number) =>
      Array.from({ length: count }, (_, n) => link(id, `${name}${n}`, "u", n));
    await write(subject.ledger, subject.nowMs, { links: many("old", 3) });
    subject.nowMs += dayMs;
    await write(subject.ledger, subject.nowMs, { links: many("device", limits.linksOfUser - 3) });
    subject.nowMs += limits.heldEventDays * dayMs;
    await write(subject.ledger, subject.nowMs, {
      // Old links that are sent again, and new ones.
      links: [...many("old", 1), ...many("junk", 5)],
    });
    const linked = await linkedTo(subject.ledger, id, "u");
    expect(linked).toHaveLength(limits.linksOfUser);
    expect(linked.filter((one) => !one.includes("device"))).toEqual([
      "visitor junk0",
      "visitor junk1",
      "visitor old0",
    ]);
    expect(await warningsOf(subject.ledger, id)).toEqual(["links_full: 3"]);
    // A link that moves to a user without room for it is removed from its former user, too.
    await write(subject.ledger, subject.nowMs, { links: [link(id, "x", "other")] });
    await write(subject.ledger, subject.nowMs, { links: [link(id, "x", "u", 2)] });
    expect(await linksIn(subject.ledger, id, ["x"])).toEqual([]);
    expect(await linkedTo(subject.ledger, id, "other")).toEqual([]);
  });
}

const addresses = ["Ada@Example.com", "ÄDA@bücher.example", "ΟΔΟΣ@example.com", "İ@example.com"];

function addressesContract(subject: LedgerUnderTest): void {
  test.each(addresses)("upper and lower case of an address are alike: %s", async (email) => {
    const { id } = await subject.organization();
    const address = addressId(email.toLowerCase()) ?? "";
    await write(subject.ledger, subject.nowMs, { links: [link(id, "v", address)] });
    expect(await waiting(subject, id)).toBe(1);
    await writePeople(subject.ledger, { users: [user(id, "u", { email })] });
    expect(await waiting(subject, id)).toBe(0);
    await write(subject.ledger, subject.nowMs, { links: [link(id, "w", address)] });
    expect(await waiting(subject, id)).toBe(0);
    const others = [email, email.toLowerCase(), email.toUpperCase()].filter(
      (other) => other.toLowerCase() === email.toLowerCase(),
    );
    for (const other of others) {
      expect(await subject.ledger.identities.withEmail(id, other)).toEqual(["u"]);
      expect(await look(subject.ledger, {}, (stored) => stored.withEmail(id, other))).toEqual(["u"]);
    }
  });
}

/** Links to users who are not identified. */
async function waiting({ ledger }: LedgerUnderTest, organization: number): Promise<number> {
  return (await ledger.heldEvents.counts(organization)).links;
}

function waitingLinksContract(subject: LedgerUnderTest): void {
  test("links to users who are not identified are counted, until they are", async () => {
    const { id } = await subject.organization();
    await writePeople(subject.ledger, { users: [user(id, "known", { email: "known@example.com" })] });
    await write(subject.ledger, subject.nowMs, {
      links: [
        link(id, "a", "known"),
        link(id, "b", "mailto:known@example.com"),
        link(id, "c", "ada"),
        link(id, "d", "ada"),
        link(id, "e", "mailto:bob@example.com"),
        link(id, "f", "eve"),
      ],
    });
    expect(await waiting(subject, id)).toBe(4);
    await writePeople(subject.ledger, { users: [user(id, "ada", { number: 2 })] });
    expect(await waiting(subject, id)).toBe(2);
    await writePeople(subject.ledger, {
      users: [user(id, "ada", { number: 2, version: 2, email: "Bob@Example.com" })],
    });
    await subject.reopen();
    expect(await waiting(subject, id)).toBe(1);
    await write(subject.ledger, subject.nowMs, {
      links: [link(id, "f", "known", 2), link(id, "a", "eve", 2)],
    });
    expect(await waiting(subject, id)).toBe(1);
    await write(subject.ledger, subject.nowMs, { links: [{ ...visitorKey(id, "a"), link: null }] });
    expect(await waiting(subject, id)).toBe(0);
  });

  test("a link to somebody who is not identified is forgotten 30 days after it was said last", async () => {
    const { id } = await subject.organization();
    await writePeople(subject.ledger, { users: [user(id, "known")] });
    const some = [link(id, "a", "known"), link(id, "b", "ada"), link(id, "c", "mailto:nobody@example.com")];
    const junk = Array.from({ length: 250 }, (_, n) => link(id, `junk${n}`, "eve"));
    await write(subject.ledger, subject.nowMs, { links: [...some, ...junk] });
    subject.nowMs += limits.heldEventDays * dayMs;
    await write(subject.ledger, subject.nowMs, { links: [link(id, "b", "ada", 5)] });
    await subject.ledger.tidy(subject.nowMs);
    expect(await waiting(subject, id)).toBe(252);
    subject.nowMs += 1;
    await subject.ledger.tidy(subject.nowMs);
    expect(await waiting(subject, id)).toBe(1);
    expect(await linksIn(subject.ledger, id, ["a", "b", "c", "junk0"])).toEqual([
      "a → known at 1",
      "b → ada at 5",
    ]);
    expect(await warningsOf(subject.ledger, id)).toEqual([]);
  });
}

function roomContract(subject: LedgerUnderTest): void {
  test("an organization has a limited number of links to users who are not identified", async () => {
    const { id } = await subject.organization();
    await writePeople(subject.ledger, { users: [user(id, "known")] });
    const junk = Array.from({ length: maxWaitingLinks + 3 }, (_, n) =>
      link(id, `junk${n}`, `nobody${n % 10}`),
    );
    await write(subject.ledger, subject.nowMs, { links: [link(id, "v", "ada")] });
    await write(subject.ledger, subject.nowMs, { links: junk });
    expect(await waiting(subject, id)).toBe(maxWaitingLinks);
    expect(await warningsOf(subject.ledger, id)).toEqual(["links_full: 4"]);
    // The first links stay, and identified users get theirs.
    await write(subject.ledger, subject.nowMs, {
      links: [link(id, "v", "ada", 2), link(id, "w", "known")],
    });
    expect(await linksIn(subject.ledger, id, ["v", "w"])).toEqual(["v → ada at 2", "w → known at 1"]);
    const other = await subject.organization("another");
    await write(subject.ledger, subject.nowMs, { links: [link(other.id, "v", "ada")] });
    expect(await waiting(subject, other.id)).toBe(1);
  });
}

function goneContract(subject: LedgerUnderTest): void {
  test("an erasure removes a user's links and the items held under the id, and no other user's", async () => {
    const { id } = await subject.organization();
    await writePeople(subject.ledger, { users: [user(id, "ada")] });
    await write(subject.ledger, subject.nowMs, {
      held: [item(id, "visitor", { body: '"a secret of nobody"' }), item(id, "bob"), item(id, "ada")],
      links: [link(id, "v", "ada"), link(id, "w", "bob")],
    });
    expect(await subject.ledger.erasures.begin(id, "ada")).toBeDefined();
    expect(await subject.ledger.erasures.begin(id, "visitor")).toBeUndefined();
    expect(await linksIn(subject.ledger, id, ["v", "w"])).toEqual(["w → bob at 1"]);
    expect(await heldIn(subject.ledger, id, "visitor")).toEqual([]);
    expect(await subject.ledger.heldEvents.counts(id)).toMatchObject({
      people: 2,
      items: 2,
      bytes: 4,
      links: 1,
    });
  });
}

function tombstonesContract(subject: LedgerUnderTest): void {
  test("of the ids that were linked to an erased user the time of the erasure is remembered", async () => {
    const { id } = await subject.organization();
    const email = "ada@example.com";
    const bills = "bills@example.com";
    await writePeople(subject.ledger, {
      users: [user(id, "ada", { email }), user(id, "bob", { number: 2, email: bills })],
    });
    await writePeople(subject.ledger, { users: [user(id, "eve", { number: 3, email: bills })] });
    await write(subject.ledger, subject.nowMs, {
      links: [
        link(id, "device", "ada"),
        { ...userKey(id, "before"), link: { userId: "ada", atMs: 1 } },
        link(id, "customer", `mailto:${email}`),
        link(id, "payer", `mailto:${bills}`),
        link(id, "w", "bob"),
      ],
      held: [item(id, "customer"), item(id, "payer"), item(id, "stranger")],
    });
    const began = subject.nowMs;
    for (const who of ["ada", "bob", "stranger", "nobody"]) await subject.ledger.erasures.begin(id, who);
    subject.nowMs += 5;
    const people = [
      userKey(id, "ada"),
      visitorKey(id, "ada"),
      visitorKey(id, "device"),
      userKey(id, "device"),
      userKey(id, "before"),
      visitorKey(id, "customer"),
      visitorKey(id, "payer"),
      visitorKey(id, "w"),
      visitorKey(id, "stranger"),
      userKey(id, "stranger"),
      visitorKey(id, "nobody"),
    ];
    const erased = () =>
      look(subject.ledger, { people }, (stored) => {
        const found = people.filter((person) => stored.erasedAtMs(person) === began);
        return found.map((person) => `${person.kind} ${person.id}`);
      });
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      expect(await erased()).toEqual([
        "user ada",
        "visitor device",
        "user before",
        "visitor customer",
        "visitor w",
        "visitor stranger",
      ]);
      // The address of two is not the one's alone.
      expect(await linksIn(subject.ledger, id, ["device", "customer", "payer", "w"])).toEqual([
        `payer → mailto:${bills} at 1`,
      ]);
      expect(await heldIn(subject.ledger, id, "customer")).toEqual([]);
      expect(await heldIn(subject.ledger, id, "payer")).toHaveLength(1);
    }
    await writePeople(subject.ledger, { users: [user(id, "ada", { number: 4 })] });
    await write(subject.ledger, subject.nowMs, { links: [link(id, "device", "ada")] });
    await subject.ledger.erasures.begin(id, "ada");
    const again = await look(subject.ledger, { people }, (stored) => [
      stored.erasedAtMs(userKey(id, "ada")),
      stored.erasedAtMs(visitorKey(id, "device")),
    ]);
    expect(again).toEqual([subject.nowMs, subject.nowMs]);
  });
}
