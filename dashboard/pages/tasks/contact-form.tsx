/** The form by which a team member says that a user, or a user of an account, was contacted. */
import { type FormEvent, type ReactElement, useState } from "react";
import { type ContactKind, contactKinds, workLimits } from "../../../contract/notes-and-tasks.ts";
import { useChange, useRead } from "../../api/query.ts";
import { Button } from "../../parts/form/button.tsx";
import { DayInput } from "../../parts/form/day-input.tsx";
import { type Choice, FormError, Select, TextArea } from "../../parts/form/field.tsx";
import { useToday } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import type { Entity } from "./task-form.tsx";

/** So many users of an account are offered. */
const offeredUsers = 50;

/** The kinds of contacts in words. */
export const kindWords: Record<ContactKind, string> = {
  call: "Call",
  email: "E-mail",
  meeting: "Meeting",
  chat: "Chat",
  other: "Other",
};
const kindChoices = contactKinds.map((value) => ({ value, label: kindWords[value] }));

/** @param onDone called when the contact is stored */
export function ContactForm({ entity, onDone }: { entity: Entity; onDone?: () => void }): ReactElement {
  return entity.kind === "user" ? (
    <FormOfUser userId={entity.id} onDone={onDone} />
  ) : (
    <OfAccount id={entity.id} onDone={onDone} />
  );
}

/** An account is contacted through one of its users. */
function OfAccount({
  id: accountId,
  onDone,
}: {
  id: string;
  onDone: (() => void) | undefined;
}): ReactElement | null {
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
    <FormOfUser
      userId={userId}
      users={{ choices: [{ value: "", label: "Choose" }, ...choices], onChoose: setChosen }}
      onDone={onDone}
    />
  );
}

interface FormProps {
  readonly userId: string;
  /** The users among whom the reader chooses. */
  readonly users?: { readonly choices: readonly Choice[]; readonly onChoose: (userId: string) => void };
  readonly onDone: (() => void) | undefined;
}

function FormOfUser({ userId, users, onDone }: FormProps): ReactElement {
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
      onDone?.();
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
