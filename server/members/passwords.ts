/** Passwords: which are taken, and their argon2id hashes, a few at a time because each takes memory. */
import { peopleLimits } from "../../contract/member-limits.ts";
import { ApiError, Refusal } from "../../contract/refusal.ts";
import { loginEmail } from "../ledger/stores/logins.ts";
import { type Asker, FairTurns } from "../process/fair-turns.ts";

/** 19 MiB and two passes are OWASP's parameters for argon2id: 30 ms of a core (64 MiB: 100). Bun hashes in
 * another thread. */
const algorithm = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
const turns = { places: 2, heldWhileOthersWait: 1, heldAtMost: 2 } as const;
/** Passwords beyond these are answered "try again". Addresses take turns, so that a password waits for at
 * most two hashes of any other address; all together would wait for 3 seconds. */
const maxWaiting = { address: 8, all: 200 } as const;

/** From where a password comes: the group is the address. */
export type Sender = Asker;

export class Passwords {
  readonly #turns = new FairTurns(turns);
  #nobodys: Promise<string> | undefined;

  /** The hash to be kept. @throws ApiError when too many wait */
  hash(password: string, sender: Sender): Promise<string> {
    return this.#inTurn(sender, () => Bun.password.hash(oneForm(password), algorithm));
  }

  /** Whether the password is the one of this hash. Without a hash, false, after as long.
   * @throws ApiError when too many wait */
  async matches(password: string, hash: string | undefined, sender: Sender): Promise<boolean> {
    this.#nobodys ??= Bun.password.hash(crypto.randomUUID(), algorithm);
    const compared = hash ?? (await this.#nobodys);
    const same = await this.#inTurn(sender, () => Bun.password.verify(oneForm(password), compared));
    return same && hash !== undefined;
  }

  async #inTurn<Result>(sender: Sender, work: () => Promise<Result>): Promise<Result> {
    if (this.#turns.waiting(sender.group) >= maxWaiting.address || this.#turns.allWaiting >= maxWaiting.all) {
      throw new ApiError("rate_limit_exceeded", "Too many people sign in at this moment: try again.", 2);
    }
    await this.#turns.take(sender);
    try {
      return await work();
    } finally {
      this.#turns.giveBack(sender);
    }
  }
}

/** Keyboards differ in how they write é. */
function oneForm(password: string): string {
  return password.normalize("NFC");
}

/** @throws Refusal when the password is easy to guess */
export function refuseGuessable(password: string, email: string): void {
  const { passwordMinCharacters, passwordMaxCharacters } = peopleLimits;
  const text = oneForm(password);
  if (text.length < passwordMinCharacters || text.length > passwordMaxCharacters) {
    throw new Refusal(
      `password has to be ${passwordMinCharacters} to ${passwordMaxCharacters} characters: send another one.`,
    );
  }
  const small = text.toLowerCase();
  const key = loginEmail(email);
  const reason =
    small === key || small === key.split("@")[0]
      ? "is your e-mail"
      : common.has(small)
        ? "is one of the most common"
        : new Set(small).size < 4
          ? "has hardly any different characters"
          : undefined;
  if (reason !== undefined) throw new Refusal(`password ${reason}: send another one.`);
}

/** Of at least ten characters, from lists of what leaked most often. */
const common: ReadonlySet<string> = new Set([
  "1234567890",
  "12345678910",
  "123456789a",
  "0123456789",
  "0987654321",
  "9876543210",
  "1q2w3e4r5t",
  "1q2w3e4r5t6y",
  "1qaz2wsx3edc",
  "123qweasdzxc",
  "qwertyuiop",
  "qwerty1234",
  "qwerty12345",
  "qwerty123456",
  "q1w2e3r4t5",
  "q1w2e3r4t5y6",
  "asdfghjkl1",
  "asdfghjkl;",
  "zxcvbnm123",
  "password12",
  "password123",
  "password1234",
  "password12345",
  "password01",
  "password1!",
  "password123!",
  "passw0rd123",
  "p@ssw0rd123",
  "mypassword",
  "administrator",
  "admin12345",
  "admin123456",
  "iloveyou123",
  "iloveyou12",
  "welcome123",
  "welcome1234",
  "changeme123",
  "letmein123",
  "football123",
  "baseball123",
  "princess123",
  "sunshine123",
  "superman123",
  "batman12345",
  "dragon12345",
  "monkey12345",
  "abcdefghij",
  "abcd123456",
  "abc1234567",
  "a123456789",
  "aa12345678",
  "google123456",
  "testtest123",
  "rekindle123",
  "unbelievable",
  "motherlode",
]);
