/**
 * Browsers in which a person has signed in. Such a browser keeps a cookie, and its attempts to sign in as
 * that person are counted apart: guesses from elsewhere cannot hold them up, even from the same address. The
 * cookie is signed with the person's password hash, so that it needs no table, holds on every node, and ends
 * when the password changes.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Person } from "../ledger/stores/member-rows.ts";

const nonceBytes = 16;

/** A new browser of a person, as its cookie has it: the person's id, a random name, and the signature. */
export function newDevice(person: Person): string {
  const nonce = randomBytes(nonceBytes).toString("base64url");
  return `${person.id}.${nonce}.${signature(person, nonce)}`;
}

/** The person that a cookie names; 0 when it is no such cookie. */
export function personOfDevice(cookie: string): number {
  const [id = ""] = cookie.split(".");
  return /^[0-9]{1,15}$/.test(id) ? Number(id) : 0;
}

/** The random name of a browser; undefined when the cookie was not signed for this person. */
export function deviceOf(person: Person, cookie: string): string | undefined {
  const [id, nonce = "", signed = "", ...more] = cookie.split(".");
  if (id !== String(person.id) || more.length > 0) return undefined;
  const [expected, given] = [Buffer.from(signature(person, nonce)), Buffer.from(signed)];
  return expected.length === given.length && timingSafeEqual(expected, given) ? nonce : undefined;
}

function signature({ id, passwordHash }: Person, nonce: string): string {
  return createHmac("sha256", passwordHash).update(`device ${id} ${nonce}`).digest("base64url");
}
