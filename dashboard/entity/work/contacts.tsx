/** Times at which a user, or a user of an account, was contacted. Each is an event `contacted`, and also stands in the timeline. */
import { type FormEvent, type ReactElement, useState } from "react";
import { type ContactKind, contactKinds, workLimits } from "../../../contract/actions/work.ts";
import { type Reads, useChange, usePages, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Button } from "../../parts/form/button.tsx";
import { DayInput } from "../../parts/form/day-input.tsx";
import { type Choice, FormError, Select, TextArea } from "../../parts/form/field.tsx";
import { Prose } from "../../parts/prose.tsx";
import { Empty, Figures } from "../../parts/states.tsx";
import { useToday } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import type { Entity } from "../../parts/work/task-form.tsx";
import { dayText } from "../../text/format.ts";
import { authorText } from "../../text/setting-names.ts";

type Contact = Reads["/api/users/:userId/contacts"]["answer"]["contacts"][number];

const pageSize = 20;
/** A contact is an event, which takes up to two seconds until it is read. */
const everyMs = 3_000;
/** So many users of an account are offered. */
const offeredUsers = 50;
const paths = { user: "/api/users/:userId/contacts", account: "/api/accounts/:accountId/contacts" } as const;

const kindWords: Record<ContactKind, string> = {
  call: "Call",
  email: "E-mail",
  meeting: "Meeting",
  chat: "Chat",
  other: "Other",
};
const kindChoices = contactKinds.map((value) => ({ value, label: kindWords[value] }));

export function Contacts({ entity }: { entity: Entity }): ReactElement {
  const path = { userId: entity.id, accountId: entity.id };
  const page = { path, query: { limit: pageSize }, everyMs };
  const asked = usePages(paths[entity.kind], page, ({ next }) => next);
  const mayChange = useMayAs("member");
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = asked;
  return (
    <>
      {mayChange &&
        (entity.kind === "user" ? <ContactForm userId={entity.id} /> : <OfAccount id={entity.id} />)}
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

/** An account is contacted through one of its users. */
function OfAccount({ id: accountId }: { id: string }): ReactElement | null {
  const query = { limit: offeredUsers };
  const users = useRead("/api/accounts/:accountId", { path: { accountId }, query }).data?.users;
  const [chosen, setChosen] = useState("");
  if (users === undefined) return null;
  const [first] = users;
  if (first === undefined) return <p className="text-soft">Without users, an account cannot be contacted.</p>;
  const choices = users.map(({ userId, name, email }) => ({ value: userId, label: name ?? email ?? userId }));
  // Of several nobody is chosen beforehand: who was called is what the contact is about.
  const userId = users.length === 1 ? first.userId : chosen;
  return (
    <ContactForm
      userId={userId}
      users={{ choices: [{ value: "", label: "Choose" }, ...choices], onChoose: setChosen }}
    />
  );
}

interface ContactFormProps {
  readonly userId: string;
  /** The users among whom the reader chooses. */
  readonly users?: { readonly choices: readonly Choice[]; readonly onChoose: (userId: string) => void };
}

function ContactForm({ userId, users }: ContactFormProps): ReactElement {
  const today = useToday();
  const [kind, setKind] = useState<ContactKind>("call");
  const [day, setDay] = useState("");
  const [text, setText] = useState("");
  const [lacks, setLacks] = useState<{ readonly who: boolean; readonly what: boolean }>();
  const contact = useChange("POST /api/users/:userId/contacts");
  const tell = useTell();
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (contact.isPending) return;
    const lacking = { who: userId === "", what: text.trim() === "" };
    setLacks(lacking);
    if (lacking.who || lacking.what) return;
    const isToday = day === "" || day === today;
    const body = { kind, ...(!isToday && { timestamp: day }), text };
    const onSuccess = () => {
      setText("");
      setDay("");
      tell("The contact is added. The timeline shows it within seconds.");
    };
    contact.mutate({ path: { userId }, body }, { onSuccess });
  };
  return (
    <form onSubmit={add} className="grid gap-3">
      <div className="grid gap-x-4 gap-y-3 sm:grid-cols-3">
        {users !== undefined && (
          <Select
            label="User"
            value={userId}
            choices={users.choices}
            onChoose={users.onChoose}
            error={lacks?.who === true && userId === "" ? "Choose who was contacted." : undefined}
          />
        )}
        <Select label="Kind" value={kind} choices={kindChoices} onChoose={setKind} />
        <DayInput
          label="Day"
          max={today}
          value={day === "" ? today : day}
          onDay={(chosen) => setDay(chosen ?? "")}
        />
      </div>
      <TextArea
        isProse
        label="What was said"
        rows={2}
        maxLength={workLimits.noteCharacters}
        value={text}
        onText={setText}
        error={lacks?.what === true && text.trim() === "" ? "Write what it was about." : undefined}
      />
      <FormError error={contact.error} />
      <div>
        <Button type="submit" isSmall look="primary" isBusy={contact.isPending}>
          Add contact
        </Button>
      </div>
    </form>
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
