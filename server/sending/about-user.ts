/** Messages that name one user, for the document about the person. */
import { instant } from "../calendar/instant.ts";
import type { ExportedUser, SharedFeatureStores } from "../ledger/feature.ts";
import type { PersonDelivery } from "./delivery-store.ts";

/** Rows that are read together. A message has up to 20 kB. */
const pageRows = 100;

/** Messages that name the person, those that wait among them. */
export async function* messagesAbout(
  { deliveries }: SharedFeatureStores,
  { organization, user, userId }: ExportedUser,
): AsyncGenerator<readonly object[]> {
  for (let after = 0; ; ) {
    const messages = await deliveries.ofUser(organization, user, after, pageRows);
    yield messages.map(({ body, createdAtMs, dueAtMs, attemptedAtMs, ...message }) => ({
      ...message,
      createdAt: instant(createdAtMs),
      dueAt: instant(dueAtMs),
      attemptedAt: attemptedAtMs === null ? null : instant(attemptedAtMs),
      content: contentAbout({ organization, user, userId }, body),
    }));
    after = messages.at(-1)?.id ?? after;
    if (messages.length < pageRows) return;
  }
}

/** The parts of a message that tell whom it is about. */
interface SentContent {
  readonly data?: {
    readonly entity?: { readonly kind: string; readonly id?: string | null };
    readonly rows?: readonly { readonly of?: string; readonly link?: string }[];
  };
}

/** The content of a message without the lines and values about others. Null when nothing is left: an erasure
 * of another person deletes the content of messages that name both. */
function contentAbout(
  { organization, user, userId }: ExportedUser,
  body: PersonDelivery["body"],
): object | null {
  if (body === "") return null;
  const { data } = JSON.parse(body) as SentContent;
  if (data === undefined) return null;
  const { entity, rows } = data;
  if (entity !== undefined && (entity.kind !== "user" || entity.id !== userId)) return null;
  if (rows === undefined) return data;
  // Lines of digests name users by the addresses of their pages alone.
  const page = `/o/${organization}/users/${encodeURIComponent(userId)}`;
  const isOwn = ({ of, link }: { readonly of?: string; readonly link?: string }) =>
    of === undefined ? link?.endsWith(page) === true : of === `user ${user}`;
  return { ...data, rows: rows.filter(isOwn) };
}
