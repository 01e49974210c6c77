/** What commands say and do about people: whom an option names, and who sees an organization in the dashboard. */
import { limits } from "../contract/limits.ts";
import { commandLine } from "../server/ledger/audit.ts";
import { Refusal, type SharedLedger } from "../server/ledger/ledger.ts";
import { emailKey, type Person } from "../server/ledger/people.ts";
import { oneLine } from "./print.ts";

/** An e-mail in the form by which people are found. @throws Refusal when it is none */
export function readEmail(text: string): string {
  const email = emailKey(text);
  if (/^[^\s@]+@[^\s@]+$/.test(email) && email.length <= limits.emailCharacters) return email;
  throw new Refusal(`${JSON.stringify(text)} is no e-mail address: give ada@example.com, say.`);
}

/** Who has an account with this e-mail. @throws Refusal when nobody has */
export async function personWith(ledger: SharedLedger, email: string): Promise<Person> {
  const person = await ledger.people.withEmail(email);
  if (person !== undefined) return person;
  throw new Refusal(`nobody has an account with ${email}: invite them with rekindle member invite.`);
}

/** Makes the person owner of an organization; without one, says so when people sign in here and nobody would see it.
 * @throws Refusal as `PeopleStore.makeOwner` does */
export async function letSomebodyIn(
  { people }: SharedLedger,
  { id, name }: { readonly id: number; readonly name: string },
  owner: Person | undefined,
): Promise<void> {
  if (owner !== undefined) {
    await people.makeOwner(id, owner.id, commandLine, Date.now());
    // An e-mail is what its owner says it is: whoever runs this should see whom it was.
    process.stderr.write(
      `made ${oneLine(owner.name)} (${oneLine(owner.email)}, person ${owner.id}) owner of ${name}\n`,
    );
    return;
  }
  if (!(await people.isClaimed()) || (await people.members(id)).length > 0) return;
  process.stderr.write(
    `nobody sees ${name} in the dashboard yet: rekindle member invite EMAIL --role owner --organization ${JSON.stringify(name)}; --owner EMAIL makes somebody who has an account its owner at once\n`,
  );
}
