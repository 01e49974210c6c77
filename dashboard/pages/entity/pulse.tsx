/** The pulse of an account: what the team judges it to be. */
import { type FormEvent, type ReactElement, useState } from "react";
import { pulseLimits } from "../../../contract/pulse/pulse.ts";
import { type Reads, useChange, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { FormError, Input, Select } from "../../parts/form/field.tsx";
import { Prose } from "../../parts/prose.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";

type Answer = Reads["/api/accounts/:accountId/pulses"]["answer"];
type Pulse = Answer["pulses"][number];

const shown = 10;

/** Says the pulse, and opens what was said and the form. */
export function PulseControl({ accountId }: { accountId: string }): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  const { data } = useRead("/api/accounts/:accountId/pulses", {
    path: { accountId },
    query: { limit: shown },
  });
  if (data === undefined) return null;
  return (
    <>
      <Button isSmall onClick={() => setOpen(true)}>
        <span>{buttonText(data)}</span> …
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title="Pulse">
        <PulseDialog accountId={accountId} pulses={data.pulses} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

/** "Pulse 2 of 5"; "Pulse: stale" where the newest counts no more. */
function buttonText({ pulse, pulses }: Answer): string {
  if (pulse !== null) return `Pulse ${pulse} of 5`;
  const newest = pulses.find(({ state }) => state === "stale" || state === "owner_changed");
  return newest === undefined ? "No pulse" : `Pulse: ${stateWords[newest.state]}`;
}

const stateWords: Readonly<Record<Pulse["state"], string>> = {
  current: "current",
  stale: "stale",
  owner_changed: "owner changed",
  replaced: "replaced",
  taken_back: "taken back",
};

interface PulseDialogProps {
  readonly accountId: string;
  readonly pulses: readonly Pulse[];
  readonly onDone: () => void;
}

function PulseDialog({ accountId, pulses, onDone }: PulseDialogProps): ReactElement {
  const mayChange = useMayAs("member");
  return (
    <div className="grid gap-4">
      {mayChange && <PulseForm accountId={accountId} onDone={onDone} />}
      {pulses.length === 0 ? (
        <p className="text-soft">
          Nobody has judged this account yet. A pulse counts for {pulseLimits.staleAfterDays} days.
        </p>
      ) : (
        <ol aria-label="Pulses, the newest first">
          {pulses.map((pulse) => (
            <PulseRow key={pulse.id} pulse={pulse} mayChange={mayChange} />
          ))}
        </ol>
      )}
    </div>
  );
}

const values = [
  { value: "1", label: "1, about to leave" },
  { value: "2", label: "2, unhappy" },
  { value: "3", label: "3, neither" },
  { value: "4", label: "4, happy" },
  { value: "5", label: "5, delighted" },
] as const;

function PulseForm({ accountId, onDone }: Pick<PulseDialogProps, "accountId" | "onDone">): ReactElement {
  const [value, setValue] = useState<(typeof values)[number]["value"]>("3");
  const [text, setText] = useState("");
  const say = useChange("POST /api/accounts/:accountId/pulses");
  const tell = useTell();
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (say.isPending) return;
    const body = { value: Number(value), text: text.trim() };
    const onSuccess = () => {
      tell(`The pulse is ${value} of 5. Scores know it from tomorrow on.`);
      onDone();
    };
    say.mutate({ path: { accountId }, body }, { onSuccess });
  };
  return (
    <form onSubmit={send} className="grid gap-4">
      <Select label="How is this account doing?" value={value} choices={values} onChoose={setValue} />
      <Input
        label="Why, in a sentence"
        required
        maxLength={pulseLimits.textCharacters}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <FormError error={say.error} />
      <div className="flex gap-2">
        <Button type="submit" look="primary" isBusy={say.isPending} disabled={text.trim() === ""}>
          Save pulse
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}

function PulseRow({ pulse, mayChange }: { pulse: Pulse; mayChange: boolean }): ReactElement {
  const { id, value, text, saidBy, saidAt, state } = pulse;
  const takeBack = useChange("DELETE /api/pulses/:id");
  return (
    <li className="border-b border-line py-2 last:border-0">
      <span className="font-medium">{value} of 5</span> <span className="text-soft">{stateWords[state]}</span>
      <Prose text={text} />
      <div className="flex flex-wrap items-center gap-x-3 text-sm text-soft">
        <span className="min-w-0 [overflow-wrap:anywhere]">{saidBy?.name ?? "No team member"}</span>
        <RelativeTime instant={saidAt} />
        {mayChange && state !== "taken_back" && (
          <Button
            isSmall
            look="quiet"
            isBusy={takeBack.isPending}
            onClick={() => takeBack.mutate({ path: { id } })}
          >
            Take back
          </Button>
        )}
      </div>
      <FormError error={takeBack.error} />
    </li>
  );
}
