/** A webhook's mapping as the fields of a form, and back. */
import type { WebhookMapping } from "../../../contract/source-settings.ts";

/** The texts of the form's fields. Each is a path, except the event's text and the two tables. */
export interface WebhookFields {
  readonly items: string;
  readonly userId: string;
  readonly anonymousId: string;
  readonly email: string;
  readonly eventPath: string;
  readonly eventText: string;
  readonly timestamp: string;
  readonly messageId: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly accountProperties: string;
  /** A path, or a line for each key: `plan = user.plan`. */
  readonly traits: string;
  readonly properties: string;
  readonly isActivity: boolean;
}

/** The fields that are a path by the same name in the mapping. */
const paths = ["items", "userId", "anonymousId", "email", "timestamp", "messageId"] as const;

export function fieldsOf(mapping: WebhookMapping): WebhookFields {
  const { event, account, traits, properties } = mapping;
  return {
    ...(Object.fromEntries(paths.map((name) => [name, mapping[name] ?? ""])) as Pick<
      WebhookFields,
      (typeof paths)[number]
    >),
    eventPath: event !== undefined && "path" in event ? event.path : "",
    eventText: event !== undefined && "text" in event ? event.text : "",
    accountId: account?.id ?? "",
    accountName: account?.name ?? "",
    accountProperties: tableText(account?.properties),
    traits: tableText(traits),
    properties: tableText(properties),
    isActivity: mapping.isActivity ?? true,
  };
}

/** The fields as a mapping. The server checks its paths. `problemsOf` checks the rest, which a mapping cannot
 * express. */
export function mappingOf(fields: WebhookFields): WebhookMapping {
  const typed = paths.map((name) => [name, fields[name].trim()] as const).filter(([, path]) => path !== "");
  const [eventPath, eventText] = [fields.eventPath.trim(), fields.eventText.trim()];
  const [id, name] = [fields.accountId.trim(), fields.accountName.trim()];
  const [traits, properties] = [tableOf(fields.traits), tableOf(fields.properties)];
  const attributes = tableOf(fields.accountProperties);
  return {
    ...Object.fromEntries(typed),
    ...(eventPath !== "" && { event: { path: eventPath } }),
    ...(eventPath === "" && eventText !== "" && { event: { text: eventText } }),
    ...(id !== "" && {
      account: {
        id,
        ...(name !== "" && { name }),
        ...(attributes !== undefined && { properties: attributes }),
      },
    }),
    ...(traits !== undefined && { traits }),
    ...(properties !== undefined && { properties }),
    ...(!fields.isActivity && { isActivity: false }),
  };
}

/** Fields whose values a mapping cannot hold together, each with what is wrong. */
export function problemsOf(fields: WebhookFields): Partial<Record<keyof WebhookFields, string>> {
  const isSet = (name: "accountId" | "accountName" | "accountProperties" | "eventPath" | "eventText") =>
    fields[name].trim() !== "";
  return {
    ...(isSet("accountName") &&
      !isSet("accountId") && { accountId: "An account's name needs the path of its id." }),
    ...(isSet("accountProperties") &&
      !isSet("accountId") && { accountId: "An account's attributes need the path of its id." }),
    ...(isSet("eventPath") &&
      isSet("eventText") && { eventText: "Give either a path or a fixed name, not both." }),
  };
}

type Table = string | Record<string, string>;

function tableText(table: Table | undefined): string {
  if (table === undefined || typeof table === "string") return table ?? "";
  return Object.entries(table)
    .map(([key, path]) => `${key} = ${path}`)
    .join("\n");
}

/** One line without `=` is a path. Otherwise each line is a key and its path. A line without a path is for
 * the key of the same name. */
function tableOf(text: string): Table | undefined {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const [only] = lines;
  if (only === undefined) return undefined;
  if (lines.length === 1 && !only.includes("=")) return only;
  const pairs = lines.map((line) => {
    const at = line.indexOf("=");
    return at < 0 ? [line, line] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return Object.fromEntries(pairs);
}
