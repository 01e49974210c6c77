/** The parts of a page's layout: a header, panels, rows of figures. */
import { type ReactElement, type ReactNode, useEffect } from "react";
import { classes } from "../text/classes.ts";
import { Icon } from "./icons.tsx";

interface PageHeaderProps {
  /** Undefined until it is known: then a space is kept for it. */
  readonly title: string | undefined;
  /** Below the title: what the page says, or how fresh it is. */
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

/** The top of a page. It also names the browser's tab. */
export function PageHeader({ title, children, actions }: PageHeaderProps): ReactElement {
  useEffect(() => {
    document.title = title === undefined ? "Rekindle" : `${title} · Rekindle`;
  }, [title]);
  return (
    <header className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        <h1 title={title} className="line-clamp-3 text-xl tracking-[-0.01em] [overflow-wrap:anywhere]">
          {title ?? (
            <>
              <span className="sr-only">Loading …</span>
              <span className="skeleton inline-block h-6 w-56 max-w-full align-middle" />
            </>
          )}
        </h1>
        {children !== undefined && <div className="mt-0.5 text-soft">{children}</div>}
      </div>
      {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}

export interface PanelProps {
  readonly title?: string;
  /** One line that says what is shown. */
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  /** Without space around what is in it: for tables. */
  readonly isFlush?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A framed part of a page. */
export function Panel({
  title,
  note,
  actions,
  isFlush = false,
  className,
  children,
}: PanelProps): ReactElement {
  return (
    <section
      aria-label={title}
      className={classes("min-w-0 rounded border border-line bg-surface", className)}
    >
      {(title !== undefined || actions !== undefined) && (
        <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 pt-3">
          <div className="min-w-0">
            {title !== undefined && <h2 className="text-base">{title}</h2>}
            {note !== undefined && <p className="text-sm text-soft">{note}</p>}
          </div>
          {actions !== undefined && <div className="flex flex-wrap items-center gap-1.5">{actions}</div>}
        </div>
      )}
      <div className={isFlush ? "pt-2" : "px-4 pt-3 pb-4"}>{children}</div>
    </section>
  );
}

/** A line above what follows that has to be known when reading it. */
export function Notice({ children }: { children: ReactNode }): ReactElement {
  return (
    <p role="status" className="flex gap-2 rounded border border-watch bg-watch-wash px-3 py-2 text-ink">
      <Icon name="info" className="mt-1 shrink-0 text-watch" />
      <span>{children}</span>
    </p>
  );
}
