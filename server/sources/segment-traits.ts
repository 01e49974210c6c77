/** Maps Segment's traits to reserved traits, by tables. Every trait also keeps its own name. */

import { type JsonObject, objectOf } from "../../contract/json.ts";
import { isEmailAddress } from "../intake/admission/admit-event.ts";
import type { SourcedAccount } from "../intake/admission/sourced.ts";
import { parseId } from "./parse.ts";

/** Reserved traits, and the names of Segment's traits for them. The first that is sent wins. */
const reservedOfPeople: Names = {
  plan: ["plan"],
  acquisitionChannel: ["acquisitionChannel", "acquisition_channel"],
  companySize: ["companySize", "company_size", "employees", "employee_count"],
  segment: ["segment"],
};

/** Reserved traits of a company, which a group call or the trait `company` describes, and the names of
 * Segment's traits for them. An industry is not a segment. */
const reservedOfCompanies: Names = {
  plan: ["plan"],
  companySize: ["companySize", "company_size", "employees", "employee_count", "size"],
  segment: ["segment"],
};

/** Used when there is no `name`. */
const partsOfNames = [
  ["firstName", "lastName"],
  ["first_name", "last_name"],
] as const;

type Names = Readonly<Record<string, readonly string[]>>;

/** The result of an identify's traits. */
export interface UserTraits {
  readonly email: string | undefined;
  readonly traits: JsonObject;
  readonly isAccountOwner: boolean | undefined;
  /** Of the trait `company`, if it has an id. */
  readonly account: SourcedAccount | undefined;
}

/** Reads a person's traits. Admission checks e-mail addresses and pictures, and warns of those it leaves
 * out. */
export function userTraits(sent: JsonObject, userId: string | undefined): UserTraits {
  const { email, isAccountOwner, ...others } = sent;
  const company = objectOf(others.company);
  const name = nameOf(others);
  const isOwnId = !isText(email) && userId !== undefined && isEmailAddress(userId);
  return {
    email: isText(email) ? email.trim() : isOwnId ? userId : undefined,
    traits: {
      ...withoutEmptyAvatar(others),
      ...reserved(company, reservedOfCompanies),
      ...reserved(others, reservedOfPeople),
      ...(name !== undefined && { name }),
    },
    isAccountOwner: typeof isAccountOwner === "boolean" ? isAccountOwner : undefined,
    account: accountOf(company.id, company),
  };
}

/** The reserved traits of the user of a group call. The account gets all of the call's traits. */
export function companyTraits(sent: JsonObject): JsonObject {
  return reserved(sent, reservedOfCompanies);
}

/** The account with this id as its traits describe it: its name, its picture, and the others as its
 * attributes. Undefined without an id that can be one. */
export function accountOf(
  id: unknown,
  { name, avatar, id: _id, ...properties }: JsonObject,
): SourcedAccount | undefined {
  const accountId = parseId(id, "id");
  if (typeof accountId !== "string") return undefined;
  const text = typeof name === "number" ? String(name) : name;
  return {
    id: accountId,
    ...(isText(text) && { name: text }),
    ...((isText(avatar) || avatar === null) && { avatar }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
}

/** Many clients send an empty address for no picture. */
function withoutEmptyAvatar({ avatar, ...others }: JsonObject): JsonObject {
  return avatar === undefined || avatar === "" ? others : { ...others, avatar };
}

function nameOf(traits: JsonObject): unknown {
  if (traits.name !== undefined) return traits.name;
  for (const [first, last] of partsOfNames) {
    const parts = [traits[first], traits[last]].filter(isText);
    if (parts.length > 0) return parts.join(" ");
  }
  return undefined;
}

function reserved(sent: JsonObject, names: Names): JsonObject {
  const found: Record<string, unknown> = {};
  for (const [ours, theirs] of Object.entries(names)) {
    const name = theirs.find((one) => sent[one] !== undefined);
    if (name !== undefined) found[ours] = sent[name];
  }
  return found;
}

/** Whether a value is a text that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
