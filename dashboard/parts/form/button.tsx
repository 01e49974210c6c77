/** Buttons, and links that look like them. */
import { Tooltip } from "radix-ui";
import type { ButtonHTMLAttributes, ReactElement, ReactNode, Ref } from "react";
import { classes } from "../../text/classes.ts";
import { Icon, type IconName } from "../icons.tsx";

type Look = "primary" | "plain" | "quiet" | "danger";

const looks: Record<Look, string> = {
  primary: "bg-ink text-inverse border-ink hover:opacity-85",
  plain: "bg-raised text-ink border-edge hover:border-ink",
  quiet: "bg-transparent text-ink border-transparent hover:bg-sunk",
  danger: "bg-at-risk text-inverse border-at-risk hover:opacity-85",
};

/** The classes of a button, for a link that looks like one. */
export function buttonClass(look: Look = "plain", isSmall = false): string {
  return classes(
    "inline-flex items-center justify-center gap-1.5 whitespace-nowrap rounded border font-medium no-underline transition-colors",
    "disabled:cursor-not-allowed disabled:opacity-55",
    isSmall ? "h-7 px-2 text-sm" : "h-9 px-3.5 text-base",
    looks[look],
  );
}

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: Look;
  isSmall?: boolean;
  /** Something is under way: pressed again, nothing happens. */
  isBusy?: boolean;
  icon?: IconName;
  ref?: Ref<HTMLButtonElement>;
};

/** A button with a text. */
export function Button({
  look,
  isSmall,
  isBusy = false,
  icon,
  children,
  className,
  ...rest
}: ButtonProps): ReactElement {
  return (
    <button
      type="button"
      {...rest}
      aria-busy={isBusy || undefined}
      disabled={rest.disabled || isBusy}
      className={classes(buttonClass(look, isSmall), className)}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that shows only an icon: its label is its name and its tooltip. */
export function IconButton({
  label,
  icon,
  hasHint = true,
  className,
  ...rest
}: Omit<ButtonProps, "children" | "look" | "isBusy"> & {
  label: string;
  icon: IconName;
  /** Whether the label shows on hover and focus. It does not when the page itself moved the focus there. */
  hasHint?: boolean;
}): ReactElement {
  const { isSmall = false, ...others } = rest;
  const button = (
    <button
      type="button"
      aria-label={label}
      {...others}
      className={classes(
        "inline-flex items-center justify-center rounded text-soft hover:bg-sunk hover:text-ink",
        isSmall ? "size-7" : "size-9",
        className,
      )}
    >
      <Icon name={icon} />
    </button>
  );
  return hasHint ? <Hint text={label}>{button}</Hint> : button;
}

/** Shows a short text beside what it wraps, on hover and on focus. The text may not be all there is: it is
 * not read on a phone. */
function Hint({ text, children }: { text: string; children: ReactNode }): ReactElement {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          sideOffset={6}
          collisionPadding={8}
          className="fade-in z-50 max-w-72 rounded bg-ink px-2 py-1 text-sm text-inverse"
        >
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
