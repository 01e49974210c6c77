/** A short form in one line, with its button at the end. */
import type { FormEvent, ReactElement, ReactNode } from "react";
import { Button } from "./button.tsx";

export function InlineForm({
  action,
  isBusy,
  onSend,
  children,
}: {
  action: string;
  isBusy: boolean;
  onSend: () => void;
  children: ReactNode;
}): ReactElement {
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!isBusy) onSend();
  };
  return (
    <form onSubmit={send} className="flex flex-wrap items-start gap-x-3 gap-y-3">
      <div className="grid min-w-0 grow basis-60 grid-cols-[repeat(auto-fit,minmax(min(100%,12rem),1fr))] gap-3 sm:max-w-2xl">
        {children}
      </div>
      {/* As far down as the fields are below their labels. */}
      <Button type="submit" look="primary" isBusy={isBusy} className="sm:mt-6">
        {action}
      </Button>
    </form>
  );
}
