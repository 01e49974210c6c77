/** The part of the contract about people: its bounds, and changes that only one of two concurrent requests
 * may make. */
import { describe, expect, test } from "bun:test";
import { Refusal } from "../../contract/refusal.ts";
import { type Actor, commandLine, personActor } from "../../server/ledger/audit.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

const person = (email: string) => ({ email, name: email.split("@")[0] ?? "", passwordHash: "$argon2id$x" });
const dayMs = 86_400_000;

/** Declares the tests of people, their sessions and links. */
export function peopleStoreContract(subject: LedgerUnderTest): void {
  describe("people", () => {
    links(subject);
    bounds(subject);
    emails(subject);
    leftKeys(subject);
  });
}

/** Invites a person to an organization. */
function invite(
  subject: LedgerUnderTest,
  organization: number,
  email: string,
  sha256: string,
  by: Actor = commandLine,
) {
  const expiresAtMs = subject.nowMs + dayMs;
  const invitation = { organization, email, role: "member", sha256, expiresAtMs } as const;
  return subject.ledger.members.invite(invitation, by, subject.nowMs);
}

function links(subject: LedgerUnderTest): void {
  test("one person claims, and owns the organizations without an owner, and the other does not", async () => {
    const { id } = await subject.organization();
    const { members: people, logins: entrance } = subject.ledger;
    for (const sha256 of ["one", "two"]) await people.addClaimLink(sha256, subject.nowMs);
    const claimed = await Promise.all([
      entrance.claim("one", person("a@example.com"), subject.nowMs),
      entrance.claim("two", person("b@example.com"), subject.nowMs),
    ]);
    const [owner, ...others] = claimed.filter((found) => found !== undefined);
    expect(others).toEqual([]);
    expect((await people.list(id)).map(({ email, role }) => [email, role])).toEqual([
      [owner?.email ?? "", "owner"],
    ]);
    await subject.reopen();
    expect(await subject.ledger.members.isClaimed()).toBe(true);
  });

  test("the last ten claim links are valid", async () => {
    const { members: people, logins: entrance } = subject.ledger;
    for (let start = 1; start <= 11; start++) await people.addClaimLink(`start ${start}`, subject.nowMs);
    expect(await entrance.link("claim", "start 1", subject.nowMs)).toBeUndefined();
    expect(await entrance.link("claim", "start 2", subject.nowMs)).toBeDefined();
  });

  test("an invitation is accepted once, and not by a person who took the e-mail meanwhile", async () => {
    const [first, second] = [await subject.organization("first"), await subject.organization("second")];
    const { members: people, logins: entrance } = subject.ledger;
    await invite(subject, first.id, "a@example.com", "to first");
    await invite(subject, second.id, "a@example.com", "to second");
    const { email, ...fresh } = person("a@example.com");
    const accepted = await entrance.accept("to first", fresh, subject.nowMs);
    expect(accepted?.email).toBe(email);
    expect(await entrance.accept("to first", fresh, subject.nowMs)).toBeUndefined();
    // The second invitation was meant for a new person. It now needs the password of the person who joined
    // first.
    expect(await entrance.accept("to second", fresh, subject.nowMs)).toBeUndefined();
    expect(await entrance.accept("to second", { id: 999 }, subject.nowMs)).toBeUndefined();
    const id = accepted?.id ?? 0;
    expect(await entrance.accept("to second", { id }, subject.nowMs)).toBeDefined();
    expect((await people.membershipsOf(id)).map(({ organization }) => organization.name)).toEqual([
      "first",
      "second",
    ]);
  });

  test("a link is only of its own kind", async () => {
    const { id } = await subject.organization();
    const { logins: entrance } = subject.ledger;
    await invite(subject, id, "a@example.com", "invitation");
    expect(await entrance.claim("invitation", person("b@example.com"), subject.nowMs)).toBeUndefined();
    expect(await entrance.resetPassword("invitation", "hash", subject.nowMs)).toBeUndefined();
  });

  test("a restore's end of everything leaves no session and no link", async () => {
    const { id } = await subject.organization();
    const { members: people, logins: entrance } = subject.ledger;
    await people.addClaimLink("claim", subject.nowMs);
    const owner = await entrance.claim("claim", person("a@example.com"), subject.nowMs);
    await entrance.begin(owner?.id ?? 0, "session", subject.nowMs);
    await invite(subject, id, "b@example.com", "invitation");
    await entrance.endEverything();
    expect(await entrance.session("session", subject.nowMs)).toBeUndefined();
    expect(await people.invitations(id, subject.nowMs)).toEqual([]);
    expect(await people.list(id)).toHaveLength(1);
  });
}

function bounds(subject: LedgerUnderTest): void {
  test("a person has 50 sessions; the one that was not used for longest ends", async () => {
    const { members: people, logins: entrance } = subject.ledger;
    await people.addClaimLink("claim", subject.nowMs);
    const { id = 0 } = (await entrance.claim("claim", person("a@example.com"), subject.nowMs)) ?? {};
    for (let at = 0; at < 51; at++) await entrance.begin(id, `session ${at}`, subject.nowMs + at);
    expect(await entrance.session("session 0", subject.nowMs)).toBeUndefined();
    expect(await entrance.session("session 1", subject.nowMs)).toBeDefined();
  });

  test("a person is in 100 organizations, whether by invitation, by founding or made owner", async () => {
    const { members: people, logins: entrance } = subject.ledger;
    await people.addClaimLink("claim", subject.nowMs);
    const everywhere = await entrance.claim("claim", person("a@example.com"), subject.nowMs);
    const { id = 0, name = "" } = everywhere ?? {};
    const by = personActor({ id, name });
    for (let at = (await people.membershipsOf(id)).length; at < 99; at++) {
      await people.createOrganization({ name: `founded ${at}`, timezone: "UTC" }, by, subject.nowMs);
    }
    const [last, more] = [await subject.organization("last"), await subject.organization("more")];
    await people.makeOwner(last.id, id, commandLine, subject.nowMs);
    expect(await people.membershipsOf(id)).toHaveLength(100);
    await invite(subject, more.id, "a@example.com", "to more");
    await expect(entrance.accept("to more", { id }, subject.nowMs)).rejects.toBeInstanceOf(Refusal);
    await expect(people.makeOwner(more.id, id, commandLine, subject.nowMs)).rejects.toBeInstanceOf(Refusal);
    const founding = people.createOrganization({ name: "one more", timezone: "UTC" }, by, subject.nowMs);
    await expect(founding).rejects.toBeInstanceOf(Refusal);
    // Of an organization that they are in already they can become owner.
    await people.makeOwner(last.id, id, commandLine, subject.nowMs);
    expect(await people.membershipsOf(id)).toHaveLength(100);
  });

  test("a person makes 100 invitations within a day, in all organizations; those to an e-mail are counted", async () => {
    const { logins, members: people } = subject.ledger;
    await people.addClaimLink("start", subject.nowMs);
    const first = await subject.organization("first");
    const owner = await logins.claim("start", person("owner@example.com"), subject.nowMs);
    const second = await subject.organization("second");
    if (owner === undefined) throw new Error("nobody claimed");
    const by = personActor(owner);
    for (let at = 0; at < 100; at++) {
      const { id } = at % 2 === 0 ? first : second;
      await invite(subject, id, at < 3 ? "a@example.com" : `p${at}@example.com`, `code ${at}`, by);
    }
    expect(await people.invitationsOfDay("a@example.com", subject.nowMs)).toBe(3);
    await expect(invite(subject, first.id, "b@example.com", "more", by)).rejects.toThrow("Too many requests");
    await invite(subject, first.id, "a@example.com", "by command");
    expect(await people.invitationsOfDay("a@example.com", subject.nowMs)).toBe(4);
    expect(await people.invitationsOfDay("a@example.com", subject.nowMs + dayMs)).toBe(0);
    subject.nowMs += dayMs;
    await invite(subject, first.id, "b@example.com", "next day", by);
  });

  test("an organization has 200 open invitations; those that expired are not among them", async () => {
    const { id } = await subject.organization();
    for (let at = 0; at < 200; at++) await invite(subject, id, `p${at}@example.com`, `code ${at}`);
    await expect(invite(subject, id, "more@example.com", "more")).rejects.toBeInstanceOf(Refusal);
    subject.nowMs += 2 * dayMs;
    await invite(subject, id, "more@example.com", "more");
    await subject.ledger.tidy(subject.nowMs);
    expect(await subject.ledger.members.invitations(id, 0)).toHaveLength(1);
  });
}

/** A new person, who joined by an invitation to an organization. */
async function newcomer(subject: LedgerUnderTest, organization: number, email: string) {
  const sha256 = `newcomer ${JSON.stringify(email)}`;
  await invite(subject, organization, email, sha256);
  const { email: _, ...fresh } = person(email);
  const found = await subject.ledger.logins.accept(sha256, fresh, subject.nowMs);
  if (found === undefined) throw new Error(`${email} could not join`);
  return found;
}

function emails(subject: LedgerUnderTest): void {
  test("an e-mail is verified by a link, and not by the person who changes it", async () => {
    const { id } = await subject.organization();
    const { members: people } = subject.ledger;
    const joined = await newcomer(subject, id, "a\0@example.com");
    expect(joined).toMatchObject({ isEmailVerified: true, fallbackEmail: null });
    const by = personActor(joined);
    const changed = await people.change(joined.id, { email: "b@example.com" }, by, subject.nowMs);
    expect(changed).toMatchObject({ isEmailVerified: false, fallbackEmail: "a\0@example.com" });
    await subject.reopen();
    expect(await subject.ledger.members.find(joined.id)).toEqual(changed);
    // The fallback address cannot be chosen by another person.
    const other = await newcomer(subject, id, "other@example.com");
    const taking = subject.ledger.members.change(
      other.id,
      { email: "a\0@example.com" },
      personActor(other),
      subject.nowMs,
    );
    await expect(taking).rejects.toBeInstanceOf(Refusal);
    const named = await subject.ledger.members.change(joined.id, { name: "B" }, by, subject.nowMs);
    expect(named).toMatchObject({ isEmailVerified: false, fallbackEmail: "a\0@example.com" });
    const back = await subject.ledger.members.change(joined.id, { email: joined.email }, by, subject.nowMs);
    expect(back).toMatchObject({ email: joined.email, isEmailVerified: false, fallbackEmail: null });
  });

  test("a new person takes an invited e-mail from a person who only chose it, and who has the one before again", async () => {
    const [first, second] = [await subject.organization("squatted"), await subject.organization("inviting")];
    const { members: people, logins: entrance } = subject.ledger;
    const squatter = await newcomer(subject, first.id, "squatter@example.com");
    await people.change(squatter.id, { email: "ceo@example.com" }, personActor(squatter), subject.nowMs);
    await people.makeOwner(second.id, squatter.id, commandLine, subject.nowMs);
    await invite(subject, second.id, "ceo@example.com", "to the ceo");
    const { email: _, ...fresh } = person("ceo@example.com");
    const ceo = await entrance.accept("to the ceo", fresh, subject.nowMs);
    expect(ceo).toMatchObject({ email: "ceo@example.com", isEmailVerified: true });
    expect(await people.find(squatter.id)).toMatchObject({
      email: "squatter@example.com",
      isEmailVerified: false,
      fallbackEmail: null,
    });
    const [noted] = await subject.ledger.audit.list(first.id, { limit: 1 });
    expect(noted).toMatchObject({
      action: "member.profile_changed",
      person: null,
      detail: { person: squatter.id, to: { email: "squatter@example.com" }, by: "the service" },
    });
    // A verified e-mail is a member's already.
    await expect(invite(subject, second.id, "ceo@example.com", "again")).rejects.toBeInstanceOf(Refusal);
  });

  test("a person with an account verifies the chosen e-mail by an invitation to it", async () => {
    const [first, second] = [await subject.organization("moved"), await subject.organization("moved to")];
    const { members: people, logins: entrance } = subject.ledger;
    const mover = await newcomer(subject, first.id, "mover@example.com");
    await people.change(mover.id, { email: "moved@example.com" }, personActor(mover), subject.nowMs);
    await invite(subject, second.id, "moved@example.com", "to the mover");
    const accepted = await entrance.accept("to the mover", { id: mover.id }, subject.nowMs);
    expect(accepted).toMatchObject({ id: mover.id, isEmailVerified: true, fallbackEmail: null });
    expect(await people.find(mover.id)).toEqual(accepted);
  });
}

function leftKeys(subject: LedgerUnderTest): void {
  test("read keys go with the member who made them, or become another owner's", async () => {
    const { id } = await subject.organization();
    const { members: people, readKeys } = subject.ledger;
    const [one, two, three] = [
      await newcomer(subject, id, "one@example.com"),
      await newcomer(subject, id, "two@example.com"),
      await newcomer(subject, id, "three@example.com"),
    ];
    for (const owner of [one, two]) await people.makeOwner(id, owner.id, commandLine, subject.nowMs);
    const key = (sha256: string, maker: Actor) => {
      const wanted = { organization: id, name: sha256, rights: ["read"], sha256, lastFour: "abcd" } as const;
      return readKeys.create({ ...wanted, nowMs: subject.nowMs }, maker);
    };
    await key("of one", personActor(one));
    await key("of two", personActor(two));
    await key("of none", commandLine);
    const remove = (who: number, keysTo: number | null) =>
      people.remove(id, who, commandLine, subject.nowMs, keysTo);
    // Read keys cannot go to a member who is no owner, or to the removed person.
    for (const heir of [three.id, one.id]) await expect(remove(one.id, heir)).rejects.toBeInstanceOf(Refusal);
    expect(await people.list(id)).toHaveLength(3);
    await remove(one.id, two.id);
    const makers = async () =>
      (await readKeys.list(id)).map(({ name, madeBy, revokedAtMs }) => [
        name,
        madeBy?.id,
        revokedAtMs === null,
      ]);
    expect(await makers()).toEqual([
      ["of one", two.id, true],
      ["of two", two.id, true],
      ["of none", undefined, true],
    ]);
    await people.makeOwner(id, three.id, commandLine, subject.nowMs);
    await remove(two.id, null);
    expect(await makers()).toEqual([
      ["of one", two.id, false],
      ["of two", two.id, false],
      ["of none", undefined, true],
    ]);
    expect(await readKeys.find("of one")).toBeUndefined();
    // A request that was let in before the removal makes no key afterwards.
    await expect(key("too late", personActor(two))).rejects.toBeInstanceOf(Refusal);
    expect(await makers()).toHaveLength(3);
    const [noted] = await subject.ledger.audit.list(id, { limit: 1 });
    expect(noted).toMatchObject({
      action: "member.removed",
      detail: { readKeys: [1, 2].map(() => expect.any(Number)), readKeysTo: null },
    });
  });
}
