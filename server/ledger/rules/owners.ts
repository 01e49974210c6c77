/** The texts that mean a team member: the trait and attribute `owner`, and the authors of imported notes. */

/** A team member. */
interface Member {
  readonly id: number;
  readonly name: string;
  readonly email: string;
}

/** An owner of users or accounts. */
export type Owner = Pick<Member, "id" | "name">;

/** The texts that mean team members, each in small letters. */
export type Owners<Person extends Owner = Owner> = ReadonlyMap<string, Person>;

/** The texts that mean these members. An e-mail address comes before a name, and a name of two members means
 * neither. */
export function ownersOf<Person extends Member>(members: readonly Person[]): Owners<Person> {
  const owners = new Map<string, Person>();
  for (const [name, [member, ...others]] of Map.groupBy(members, (one) => one.name.toLowerCase())) {
    if (member !== undefined && others.length === 0) owners.set(name, member);
  }
  for (const member of members) owners.set(member.email.toLowerCase(), member);
  owners.delete("");
  return owners;
}

/** The owner that a trait or an attribute means. */
export function ownerIn<Person extends Owner>(owners: Owners<Person>, text: unknown): Person | undefined {
  return typeof text === "string" ? owners.get(text.toLowerCase()) : undefined;
}
