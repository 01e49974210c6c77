/** The frame of the pages before an organization: signing in, claiming, an invitation, a new password. */
import type { FormEvent, ReactElement, ReactNode } from "react";
import { useEffect } from "react";
import { Button } from "./button.tsx";
import { Wordmark } from "./logo.tsx";

interface DoorProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children: ReactNode;
}

/** A narrow page with the name of the product and one thing to do. */
export function Door({ title, about, children }: DoorProps): ReactElement {
  useEffect(() => {
    document.title = `${title} · Rekindle`;
  }, [title]);
  return (
    <main className="grid min-h-dvh grid-rows-[auto_1fr_auto] px-5">
      <div className="py-6">
        <Wordmark />
      </div>
      <div className="w-full max-w-sm justify-self-center pt-[8dvh] pb-10">
        <div aria-hidden="true" className="mb-6 h-1 w-10 bg-ember" />
        <h1 className="text-2xl tracking-[-0.02em]">{title}</h1>
        {about !== undefined && <div className="mt-2 text-soft">{about}</div>}
        <div className="mt-7">{children}</div>
      </div>
      <p className="py-6 text-sm text-soft">Keeps companies from losing their customers.</p>
    </main>
  );
}

/** A form with one button. What is typed is read from the fields by their names.
 * @param onSend called with the fields' texts */
export function DoorForm({
  action,
  isBusy,
  onSend,
  children,
}: {
  action: string;
  isBusy: boolean;
  onSend: (fields: Readonly<Record<string, string>>) => void;
  children: ReactNode;
}): ReactElement {
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    const entries = [...new FormData(event.currentTarget)].filter(
      (pair): pair is [string, string] => typeof pair[1] === "string",
    );
    onSend(Object.fromEntries(entries));
  };
  return (
    <form onSubmit={send} className="grid gap-4">
      {children}
      <Button type="submit" look="primary" isBusy={isBusy} className="mt-1">
        {action}
      </Button>
    </form>
  );
}
