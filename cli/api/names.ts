/** Things by their names: segments, destinations and rules by name, team members by e-mail address. */
import type { Route } from "../../contract/api/route.ts";
import { routes } from "../../contract/api/routes.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../contract/json.ts";
import { Refusal } from "../../contract/refusal.ts";
import type { Api } from "./ask.ts";

/** Lists of things by the parameters and fields that have their ids. */
const collections: Readonly<Record<string, string>> = {
  segment: "segments",
  destination: "destinations",
  destinations: "destinations",
  rule: "alert-rules",
  assignee: "members",
  owner: "members",
};

/** The id that a parameter or a field means: what its list has under a name. A number is an id itself, and
 * another parameter stays. `nobody` is no team member: null.
 * @throws Refusal when there is no such thing */
export async function idFor(api: Api, parameter: string, text: string): Promise<unknown> {
  const collection = collections[parameter];
  if (collection === undefined || text === "me") return text;
  return text === "nobody" ? null : idNamed(api, collection, text);
}

/** The id of a thing in a list of the API, such as `segments`. Where things have no names, the text itself.
 * @throws Refusal when there is no such thing */
export async function idNamed(api: Api, collection: string, text: string): Promise<number | string> {
  if (/^\d+$/.test(text)) return Number(text);
  if (!hasNames(collection)) return text;
  const things = await thingsIn(api, collection);
  const isMember = collection === "members";
  const wanted = isMember ? text.trim().toLowerCase() : text;
  const found = things.find(({ name, email }) => (isMember ? email : name) === wanted);
  if (typeof found?.id === "number") return found.id;
  const what = collection.replace(/s$/, "");
  throw new Refusal(
    `there is no ${what} ${JSON.stringify(text)}: rekindle ${what} list --organization ${JSON.stringify(api.organization.name)} shows what there is.`,
  );
}

const table: Readonly<Record<string, Route>> = routes;

function hasNames(collection: string): boolean {
  const { properties } = objectOf(table[`GET /api/${collection}`]?.answer);
  return Object.values(objectOf(properties)).some((list) => {
    const { items } = objectOf(list);
    return "name" in objectOf(objectOf(items).properties);
  });
}

/** What a list of the API has. */
export async function thingsIn(api: Api, collection: string): Promise<readonly JsonObject[]> {
  const asked = { method: "GET", path: `/api/${collection}` };
  const answer = await api.send(asked, (response) => response.json());
  const [things] = Object.values(objectOf(answer)).filter(Array.isArray);
  return (things ?? []).filter(isJsonObject);
}
