/** What Segment's traits are called here, as tables. Every trait also stays under its own name. */
import { isEmailAddress, isPictureUrl, type SourcedAccount } from "../intake/intake.ts";
import { isJsonObject, type JsonObject } from "../ledger/ledger.ts";
import { saidId } from "./said.ts";

/** Our reserved traits, and what a person's traits call them: the first that is sent wins. */
const reservedOfPeople: Names = {
  plan: ["plan"],
  acquisitionChannel: ["acquisitionChannel", "acquisition_channel"],
  companySize: ["companySize", "company_size", "employees", "employee_count"],
  segment: ["segment"],
};

/** The same of a company, which a group call or the trait `company` describes. An industry is no segment of ours. */
const reservedOfCompanies: Names = {
  plan: ["plan"],
  companySize: ["companySize", "company_size", "employees", "employee_count", "size"],
  segment: ["segment"],
};

/** Where there is no `name`. */
const partsOfNames = [
  ["firstName", "lastName"],
  ["first_name", "last_name"],
] as const;

/** A group's traits become traits of the user whom the call names, under this prefix: they are not the user's own. */
const prefixOfCompanies = "account_";

type Names = Readonly<Record<string, readonly string[]>>;

/** What the traits of an identify say. */
export interface UserTraits {
  readonly email: string | undefined;
  readonly traits: JsonObject;
  readonly isAccountOwner: boolean | undefined;
  /** Of the trait `company`, where it has an id. */
  readonly account: SourcedAccount | undefined;
}

/** Reads a person's traits. An e-mail address that is none stays a trait, and a picture that no browser can show is left
 * out: neither is a reason to refuse the person. */
export function userTraits(sent: JsonObject, userId: string | undefined): UserTraits {
  const { email, avatar, isAccountOwner, ...others } = sent;
  const company = isJsonObject(others.company) ? others.company : {};
  const name = nameOf(others);
  const address = typeof email === "string" ? email.trim() : "";
  const hasAddress = isEmailAddress(address);
  return {
    email: hasAddress ? address : userId !== undefined && isEmailAddress(userId) ? userId : undefined,
    traits: {
      ...others,
      ...reserved(company, reservedOfCompanies),
      ...reserved(others, reservedOfPeople),
      ...(name !== undefined && { name }),
      ...(isShown(avatar) && { avatar }),
      ...(!hasAddress && isSaid(email) && { email }),
      ...(typeof isAccountOwner !== "boolean" && isSaid(isAccountOwner) && { isAccountOwner }),
    },
    isAccountOwner: typeof isAccountOwner === "boolean" ? isAccountOwner : undefined,
    account: accountOf(company.id, company),
  };
}

/** What the traits of a group call say of the user whom it names. */
export function companyTraits(sent: JsonObject): JsonObject {
  const { name: _name, avatar: _avatar, ...others } = sent;
  const own = Object.entries(others).map(([key, value]) => [prefixOfCompanies + key, value]);
  return { ...Object.fromEntries(own), ...reserved(others, reservedOfCompanies) };
}

/** The account with this id as its traits describe it; undefined without an id that can be one. */
export function accountOf(id: unknown, { name, avatar }: JsonObject): SourcedAccount | undefined {
  const accountId = saidId(id, "id");
  if (typeof accountId !== "string") return undefined;
  const text = isSaid(name) ? textOf(name) : undefined;
  return {
    id: accountId,
    ...(typeof text === "string" && { name: text }),
    ...(isShown(avatar) && { avatar }),
  };
}

function nameOf(traits: JsonObject): string | null | undefined {
  if (traits.name !== undefined) return textOf(traits.name);
  for (const [first, last] of partsOfNames) {
    const parts = [traits[first], traits[last]].filter(isSaid).map(textOf);
    if (parts.length > 0) return parts.join(" ");
  }
  return undefined;
}

function reserved(sent: JsonObject, names: Names): Record<string, string | null> {
  const found: Record<string, string | null> = {};
  for (const [ours, theirs] of Object.entries(names)) {
    const name = theirs.find((one) => sent[one] !== undefined);
    if (name !== undefined) found[ours] = textOf(sent[name]);
  }
  return found;
}

/** Our reserved traits are texts: 250 is "250", and an object is its JSON. */
function textOf(value: unknown): string | null {
  if (typeof value === "string" || value === null) return value;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function isShown(avatar: unknown): avatar is string | null {
  return avatar === null || (typeof avatar === "string" && isPictureUrl(avatar));
}
