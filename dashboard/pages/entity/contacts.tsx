/** Times at which a user, or a user of an account, was contacted. Each is an event `contacted`, and also
 * stands in the timeline. */
import type { ReactElement } from "react";
import { type Reads, usePages } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Button } from "../../parts/form/button.tsx";
import { Prose } from "../../parts/prose.tsx";
import { Empty, Figures } from "../../parts/states.tsx";
import { dayText } from "../../text/format.ts";
import { authorText } from "../../text/setting-names.ts";
import { ContactForm, kindWords } from "../tasks/contact-form.tsx";
import type { Entity } from "../tasks/task-form.tsx";

type Contact = Reads["/api/users/:userId/contacts"]["answer"]["contacts"][number];

const pageSize = 20;
/** A contact is an event, which takes up to two seconds until it is read. */
const everyMs = 3_000;
const paths = { user: "/api/users/:userId/contacts", account: "/api/accounts/:accountId/contacts" } as const;

export function Contacts({ entity }: { entity: Entity }): ReactElement {
  const path = { userId: entity.id, accountId: entity.id };
  const page = { path, query: { limit: pageSize }, everyMs };
  const asked = usePages(paths[entity.kind], page, ({ next }) => next);
  const mayChange = useMayAs("member");
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = asked;
  return (
    <>
      {mayChange && <ContactForm entity={entity} />}
      <Figures
        asked={asked}
        empty={({ pages }) =>
          pages[0]?.contacts.length === 0 && (
            <Empty title="No contact yet">
              Calls, e-mails and meetings. Your app can send them as <code>contacted</code>.
            </Empty>
          )
        }
      >
        {({ pages }) => (
          <ol aria-label="Contacts, the latest first" className="mt-3">
            {pages
              .flatMap(({ contacts }) => contacts)
              .map((contact) => (
                <ContactRow key={contact.id} contact={contact} hasUser={entity.kind === "account"} />
              ))}
          </ol>
        )}
      </Figures>
      {hasNextPage && (
        <Button isSmall isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Older contacts
        </Button>
      )}
    </>
  );
}

function ContactRow({ contact, hasUser }: { contact: Contact; hasUser: boolean }): ReactElement {
  const { day, kind, by, text, userId, userLabel } = contact;
  return (
    <li className="border-b border-line py-2 last:border-0">
      <p className="flex flex-wrap gap-x-3">
        <span className="font-medium">{kind === null ? "Contacted" : kindWords[kind]}</span>
        <span>{dayText(day)}</span>
        {hasUser && <EntityLink kind="user" id={userId} label={userLabel} className="max-w-full truncate" />}
      </p>
      {text !== null && <Prose text={text} />}
      {by !== null && <p className="text-sm text-soft [overflow-wrap:anywhere]">By {authorText(by)}</p>}
    </li>
  );
}
