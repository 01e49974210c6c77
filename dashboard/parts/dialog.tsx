/** Dialogs and drawers. Their veil is ours: Radix's own locks scrolling with a style element, which the security
 * policy forbids; style/app.css does it instead. */
import { AlertDialog, Dialog as Radix } from "radix-ui";
import { createContext, type ReactElement, type ReactNode, use, useCallback, useMemo, useState } from "react";
import { classes } from "../text/classes.ts";
import { Button, IconButton } from "./button.tsx";

interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What it is about, in a sentence; screen readers hear it with the title. */
  readonly description?: string;
  readonly children: ReactNode;
  /** From the left edge, as high as the window. */
  readonly isDrawer?: boolean;
  /** Only screen readers hear the title: the content says it by itself. */
  readonly isTitleHidden?: boolean;
  readonly className?: string;
}

const veil = "fade-in fixed inset-0 z-40 bg-veil";
const box =
  "fade-in fixed z-50 max-h-[calc(100dvh-2rem)] overflow-y-auto border border-line bg-raised shadow-float focus:outline-none";
const centred = "top-[12dvh] left-1/2 w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 rounded";

/** A dialog over the page: focus stays in it, Escape closes it, and focus goes back to where it came from. */
export function Dialog({
  isOpen,
  onClose,
  title,
  description,
  children,
  isDrawer = false,
  isTitleHidden = false,
  className,
}: DialogProps): ReactElement {
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <div className={veil} data-modal="" aria-hidden="true" />
        <Radix.Content
          {...(description === undefined && { "aria-describedby": undefined })}
          className={classes(
            box,
            isDrawer ? "inset-y-0 left-0 max-h-none w-72 max-w-[85vw] border-y-0 border-l-0" : centred,
            className,
          )}
        >
          {isTitleHidden ? (
            <Radix.Title className="sr-only">{title}</Radix.Title>
          ) : (
            <div className="flex items-start justify-between gap-4 px-5 pt-4">
              <Radix.Title className="text-lg">{title}</Radix.Title>
              <IconButton label="Close" icon="close" isSmall onClick={onClose} />
            </div>
          )}
          {description !== undefined && (
            <Radix.Description className="px-5 text-soft">{description}</Radix.Description>
          )}
          {isTitleHidden ? children : <div className="px-5 pt-3 pb-5">{children}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface Question {
  readonly title: string;
  /** What happens, and whether it can be undone. */
  readonly text: string;
  /** The button's own word for it: "Revoke the token". */
  readonly action: string;
  readonly isDangerous?: boolean;
}

type Confirm = (question: Question) => Promise<boolean>;
const ConfirmContext = createContext<Confirm>(() => Promise.resolve(false));

/** Asks before something is done that cannot be undone: `if (await confirm({…})) …` */
export function useConfirm(): Confirm {
  return use(ConfirmContext);
}

/** Holds the question that is open. */
export function ConfirmProvider({ children }: { children: ReactNode }): ReactElement {
  const [asked, setAsked] = useState<{ question: Question; answer: (is: boolean) => void }>();
  const confirm = useCallback<Confirm>(
    (question) => new Promise((answer) => setAsked({ question, answer })),
    [],
  );
  const close = useMemo(
    () => (is: boolean) => {
      asked?.answer(is);
      setAsked(undefined);
    },
    [asked],
  );
  return (
    <ConfirmContext value={confirm}>
      {children}
      <AlertDialog.Root open={asked !== undefined} onOpenChange={(open) => !open && close(false)}>
        <AlertDialog.Portal>
          <div className={veil} data-modal="" aria-hidden="true" />
          <AlertDialog.Content className={classes(box, centred, "p-5")}>
            <AlertDialog.Title className="text-lg">{asked?.question.title}</AlertDialog.Title>
            <AlertDialog.Description className="mt-1 text-soft">
              {asked?.question.text}
            </AlertDialog.Description>
            <div className="mt-5 flex flex-wrap justify-end gap-2">
              <AlertDialog.Cancel asChild>
                <Button>Cancel</Button>
              </AlertDialog.Cancel>
              <Button look={asked?.question.isDangerous ? "danger" : "primary"} onClick={() => close(true)}>
                {asked?.question.action}
              </Button>
            </div>
          </AlertDialog.Content>
        </AlertDialog.Portal>
      </AlertDialog.Root>
    </ConfirmContext>
  );
}
