/** The part of the contract about people: what two who come at the same moment may not both do, and the bounds. */
import { describe, expect, test } from "bun:test";
import { commandLine, personActor } from "../../server/ledger/audit.ts";
import { Refusal } from "../../server/ledger/ledger.ts";
import type { LedgerUnderTest } from "./contract.ts";

const person = (email: string) => ({ email, name: email.split("@")[0] ?? "", passwordHash: "$argon2id$x" });
const dayMs = 86_400_000;

/** Declares the tests of people, their sessions and links. */
export function peopleStoreContract(subject: LedgerUnderTest): void {
  describe("people", () => {
    links(subject);
    bounds(subject);
  });
}

/** Invites somebody to an organization, from the command line. */
function invite(subject: LedgerUnderTest, organization: number, email: string, sha256: string) {
  const expiresAtMs = subject.nowMs + dayMs;
  const invitation = { organization, email, role: "member", sha256, expiresAtMs } as const;
  return subject.ledger.people.invite(invitation, commandLine, subject.nowMs);
}

function links(subject: LedgerUnderTest): void {
  test("one person claims, and owns what nobody owned; the other does not", async () => {
    const { id } = await subject.organization();
    const { people, entrance } = subject.ledger;
    for (const sha256 of ["one", "two"]) await people.addClaimLink(sha256, subject.nowMs);
    const claimed = await Promise.all([
      entrance.claim("one", person("a@example.com"), subject.nowMs),
      entrance.claim("two", person("b@example.com"), subject.nowMs),
    ]);
    const [owner, ...others] = claimed.filter((found) => found !== undefined);
    expect(others).toEqual([]);
    expect((await people.members(id)).map(({ email, role }) => [email, role])).toEqual([
      [owner?.email ?? "", "owner"],
    ]);
    await subject.reopen();
    expect(await subject.ledger.people.isClaimed()).toBe(true);
  });

  test("the last ten claim links are valid", async () => {
    const { people, entrance } = subject.ledger;
    for (let start = 1; start <= 11; start++) await people.addClaimLink(`start ${start}`, subject.nowMs);
    expect(await entrance.link("claim", "start 1", subject.nowMs)).toBeUndefined();
    expect(await entrance.link("claim", "start 2", subject.nowMs)).toBeDefined();
  });

  test("an invitation is accepted once, and by nobody who took the e-mail meanwhile", async () => {
    const [first, second] = [await subject.organization("first"), await subject.organization("second")];
    const { people, entrance } = subject.ledger;
    await invite(subject, first.id, "a@example.com", "to first");
    await invite(subject, second.id, "a@example.com", "to second");
    const { email, ...fresh } = person("a@example.com");
    const accepted = await entrance.accept("to first", fresh, subject.nowMs);
    expect(accepted?.email).toBe(email);
    expect(await entrance.accept("to first", fresh, subject.nowMs)).toBeUndefined();
    // Whoever meant to be new has to give the password of the person who is there by now.
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
    const { entrance } = subject.ledger;
    await invite(subject, id, "a@example.com", "invitation");
    expect(await entrance.claim("invitation", person("b@example.com"), subject.nowMs)).toBeUndefined();
    expect(await entrance.resetPassword("invitation", "hash", subject.nowMs)).toBeUndefined();
  });

  test("a restore's end of everything leaves no session and no link", async () => {
    const { id } = await subject.organization();
    const { people, entrance } = subject.ledger;
    await people.addClaimLink("claim", subject.nowMs);
    const owner = await entrance.claim("claim", person("a@example.com"), subject.nowMs);
    await entrance.begin(owner?.id ?? 0, "session", subject.nowMs);
    await invite(subject, id, "b@example.com", "invitation");
    await entrance.endEverything();
    expect(await entrance.session("session", subject.nowMs)).toBeUndefined();
    expect(await people.invitations(id, subject.nowMs)).toEqual([]);
    expect(await people.members(id)).toHaveLength(1);
  });
}

function bounds(subject: LedgerUnderTest): void {
  test("a person has 50 sessions; the one that was not used for longest ends", async () => {
    const { people, entrance } = subject.ledger;
    await people.addClaimLink("claim", subject.nowMs);
    const { id = 0 } = (await entrance.claim("claim", person("a@example.com"), subject.nowMs)) ?? {};
    for (let at = 0; at < 51; at++) await entrance.begin(id, `session ${at}`, subject.nowMs + at);
    expect(await entrance.session("session 0", subject.nowMs)).toBeUndefined();
    expect(await entrance.session("session 1", subject.nowMs)).toBeDefined();
  });

  test("a person is in 100 organizations, whether by invitation, by founding or made owner", async () => {
    const { people, entrance } = subject.ledger;
    await people.addClaimLink("claim", subject.nowMs);
    const everywhere = await entrance.claim("claim", person("a@example.com"), subject.nowMs);
    const { id = 0, name = "" } = everywhere ?? {};
    const by = personActor({ id, name });
    for (let at = (await people.membershipsOf(id)).length; at < 99; at++) {
      await people.found({ name: `founded ${at}`, timezone: "UTC" }, by, subject.nowMs);
    }
    const [last, more] = [await subject.organization("last"), await subject.organization("more")];
    await people.makeOwner(last.id, id, commandLine, subject.nowMs);
    expect(await people.membershipsOf(id)).toHaveLength(100);
    await invite(subject, more.id, "a@example.com", "to more");
    await expect(entrance.accept("to more", { id }, subject.nowMs)).rejects.toBeInstanceOf(Refusal);
    await expect(people.makeOwner(more.id, id, commandLine, subject.nowMs)).rejects.toBeInstanceOf(Refusal);
    const founding = people.found({ name: "one more", timezone: "UTC" }, by, subject.nowMs);
    await expect(founding).rejects.toBeInstanceOf(Refusal);
    // Of an organization that they are in already they can become owner.
    await people.makeOwner(last.id, id, commandLine, subject.nowMs);
    expect(await people.membershipsOf(id)).toHaveLength(100);
  });

  test("an organization has 200 open invitations; those that expired are not among them", async () => {
    const { id } = await subject.organization();
    for (let at = 0; at < 200; at++) await invite(subject, id, `p${at}@example.com`, `code ${at}`);
    await expect(invite(subject, id, "more@example.com", "more")).rejects.toBeInstanceOf(Refusal);
    subject.nowMs += 2 * dayMs;
    await invite(subject, id, "more@example.com", "more");
    await subject.ledger.tidy(subject.nowMs);
    expect(await subject.ledger.people.invitations(id, 0)).toHaveLength(1);
  });
}
