/** The pages for recipients of e-mail, who have no session: one button, which sends a POST request. Mail
 * programs open links by themselves, so a link alone changes nothing. */
import { useMutation } from "@tanstack/react-query";
import type { ReactElement } from "react";
import type { ApiFailure } from "../../api/client.ts";
import type { PersonalChanges } from "../../api/query.ts";
import { useCode } from "../../app/door.ts";
import { Door, DoorForm } from "../../parts/door.tsx";
import { FormError } from "../../parts/form/field.tsx";

type Answer = PersonalChanges["POST /api/destinations/agree"]["answer"];

interface ConsentProps {
  readonly title: string;
  readonly about: string;
  readonly action: string;
  /** Sends the request for the destination and the code of the link. */
  readonly send: (destination: number, code: string) => Promise<Answer>;
  /** Said of the address when it is done. */
  readonly done: (answer: Answer) => string;
}

/** A page with one button for the link `#ID/CODE`. */
export function Consent({ title, about, action, send, done }: ConsentProps): ReactElement {
  const [, destination, code] = /^(\d{1,15})\/([A-Za-z0-9_-]+)$/.exec(useCode()) ?? [];
  const change = useMutation<Answer, ApiFailure, { readonly destination: string; readonly code: string }>({
    mutationFn: (link) => send(Number(link.destination), link.code),
  });
  if (destination === undefined || code === undefined) {
    return (
      <Door title="Open the whole link">
        <p>The link in the e-mail has a number and a code after a #.</p>
      </Door>
    );
  }
  if (change.data !== undefined) {
    return (
      <Door title="Done">
        <p role="status" className="[overflow-wrap:anywhere]">
          {done(change.data)}
        </p>
      </Door>
    );
  }
  return (
    <Door title={title} about={about}>
      <DoorForm action={action} isBusy={change.isPending} onSend={() => change.mutate({ destination, code })}>
        <FormError error={change.error} />
      </DoorForm>
    </Door>
  );
}
