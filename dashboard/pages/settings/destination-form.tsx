/** The form of a destination: a new one, or one that is changed. */
import { type FormEvent, type ReactElement, useState } from "react";
import {
  type DestinationKind,
  type NoticeType,
  noticeTypes,
} from "../../../contract/destinations/destinations.ts";
import { type Reads, useChange } from "../../api/query.ts";
import { useInstallation } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { FormError, Input, Select } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { useTell } from "../../parts/toast.tsx";
import { kindWords, noticeWords } from "./delivery-words.ts";

type Destination = Reads["/api/destinations"]["answer"]["destinations"][number];

interface FormProps {
  /** Undefined for a new one. */
  readonly destination: Destination | undefined;
  /** Called with the secret of a new webhook. */
  readonly onSecret: (secret: string) => void;
  /** Called when it is saved, or not wanted any more. */
  readonly onDone: () => void;
}

const addressTexts: Readonly<Record<DestinationKind, { readonly label: string; readonly help: string }>> = {
  webhook: { label: "URL", help: "An https:// address that takes POST requests." },
  slack: {
    label: "Incoming webhook's URL",
    help: "Of Slack, Mattermost, or Discord with /slack at the end. It is never shown again.",
  },
  email: { label: "E-mail address", help: "Its recipient gets a link and has to agree." },
};

/** Of a new destination. The digest is for people who choose it. */
const usualNotices = noticeTypes.filter((type) => !type.startsWith("digest."));

export function DestinationForm({ destination, onSecret, onDone }: FormProps): ReactElement {
  const sendsEmail = useInstallation(destination === undefined)?.sendsEmail ?? false;
  const [kind, setKind] = useState<DestinationKind>(destination?.kind ?? "webhook");
  const [name, setName] = useState(destination?.name ?? "");
  const [address, setAddress] = useState(destination?.address ?? "");
  const [notices, setNotices] = useState<readonly NoticeType[]>(destination?.notices ?? usualNotices);
  const [sendsEmails, setSendsEmails] = useState(destination?.sendsEmails ?? false);
  const tell = useTell();
  const add = useChange("POST /api/destinations");
  const change = useChange("PATCH /api/destinations/:id");
  const errors = fieldErrors(add.error ?? change.error, ["name", "address"]);
  const done = () => {
    tell(
      kind === "email" && address !== destination?.address
        ? "The recipient gets a link."
        : `${name} is saved.`,
    );
    onDone();
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    const wanted = { name, notices: [...notices], sendsEmails };
    if (destination === undefined) {
      const onSuccess = ({ secret }: { readonly secret: string | null }) => {
        done();
        if (secret !== null) onSecret(secret);
      };
      add.mutate({ body: { kind, address, ...wanted } }, { onSuccess });
      return;
    }
    const body = { ...wanted, ...(address !== (destination.address ?? "") && { address }) };
    change.mutate({ path: { id: destination.id }, body }, { onSuccess: done });
  };
  const { label, help } = addressTexts[kind];
  const isKept = destination?.kind === "slack";
  return (
    <form onSubmit={save} className="grid gap-4">
      <div className="grid gap-x-4 gap-y-3 sm:grid-cols-2">
        {destination === undefined && (
          <Select
            label="Kind"
            value={kind}
            choices={kindChoices(sendsEmail)}
            onChoose={setKind}
            help={sendsEmail ? undefined : "This installation sends no e-mail: SMTP_URL is not set."}
          />
        )}
        <Input
          label="Name"
          required
          maxLength={80}
          autoComplete="off"
          value={name}
          onChange={({ target }) => setName(target.value)}
          error={errors.of("name")}
        />
        <Input
          label={label}
          type={kind === "email" ? "email" : "url"}
          required={!isKept}
          maxLength={2_000}
          autoComplete="off"
          spellCheck={false}
          value={address}
          onChange={({ target }) => setAddress(target.value)}
          help={isKept ? "Leave empty to keep the current one." : help}
          error={errors.of("address")}
        />
      </div>
      <Notices chosen={notices} onChange={setNotices} />
      <EmailsChoice isChosen={sendsEmails} onChange={setSendsEmails} />
      <FormError error={errors.rest} />
      <div className="flex gap-2">
        <Button type="submit" look="primary" isBusy={add.isPending || change.isPending}>
          Save
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}

function kindChoices(sendsEmail: boolean) {
  const kinds = ["webhook", "slack", ...(sendsEmail ? (["email"] as const) : [])] as const;
  return kinds.map((value) => ({ value, label: kindWords[value] }));
}

/** Messages that the destination gets. */
function Notices({
  chosen,
  onChange,
}: {
  chosen: readonly NoticeType[];
  onChange: (chosen: readonly NoticeType[]) => void;
}): ReactElement {
  return (
    <fieldset className="grid gap-1.5">
      <legend className="mb-1.5 font-medium">Messages</legend>
      {noticeTypes.map((type) => (
        <label key={type} className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={chosen.includes(type)}
            onChange={({ target }) =>
              onChange(noticeTypes.filter((one) => (one === type ? target.checked : chosen.includes(one))))
            }
          />
          {noticeWords[type]}
        </label>
      ))}
    </fieldset>
  );
}

/** Whether messages about users have their e-mail addresses. */
function EmailsChoice({
  isChosen,
  onChange,
}: {
  readonly isChosen: boolean;
  readonly onChange: (isChosen: boolean) => void;
}): ReactElement {
  return (
    <label className="flex items-center gap-2">
      <input type="checkbox" checked={isChosen} onChange={({ target }) => onChange(target.checked)} />
      Messages about users have their e-mail addresses
    </label>
  );
}
