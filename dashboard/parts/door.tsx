/** The frame of the pages before an organization: signing in, claiming, an invitation, a new password. */
import { type FormEvent, type ReactElement, type ReactNode, useEffect } from "react";
import { Button } from "./form/button.tsx";
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
    <main className="relative grid min-h-dvh grid-rows-[auto_1fr_auto] overflow-hidden px-5 lg:px-16">
      <Embers />
      <div className="py-6">
        <Wordmark />
      </div>
      <div className="relative w-full max-w-sm justify-self-center pt-[8dvh] pb-10 lg:justify-self-start lg:pl-[6vw]">
        <div aria-hidden="true" className="mb-6 h-1 w-10 bg-ember" />
        <h1 className="text-2xl tracking-[-0.02em]">{title}</h1>
        {about !== undefined && <div className="mt-2 text-soft">{about}</div>}
        <div className="mt-7">{children}</div>
      </div>
      <p className="py-6 text-sm text-soft">Keeps companies from losing their customers.</p>
    </main>
  );
}

const cohorts = 16;
const cellPx = 34;

/** Decorates wide screens with the product's own figure: cohorts of returning users, older ones above. */
function Embers(): ReactElement {
  const cells = Array.from({ length: cohorts }, (_, row) =>
    Array.from({ length: cohorts - row }, (_, column) => {
      // Falls as retention does, and a little up and down, always alike.
      const share = (0.25 + 0.75 / (1 + column * 0.45)) * (0.82 + 0.18 * Math.sin(row * 2.3 + column * 1.7));
      return { row, column, step: column === 0 ? 6 : Math.max(0, Math.min(6, Math.round(share * 6.4))) };
    }),
  ).flat();
  const size = cohorts * cellPx;
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${size} ${size}`}
      width={size}
      height={size}
      className="absolute top-1/2 right-[6vw] hidden -translate-y-1/2 lg:block"
    >
      {cells.map(({ row, column, step }) => (
        <rect
          key={`${row} ${column}`}
          x={column * cellPx}
          y={row * cellPx}
          width={cellPx - 2}
          height={cellPx - 2}
          fill={`var(--heat-${step})`}
        />
      ))}
    </svg>
  );
}

/** A form with one button. The form reads each text from its field, by the field's name.
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
