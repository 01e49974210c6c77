/** Asking before something is done that cannot be undone. */
import {
  createContext,
  lazy,
  type ReactElement,
  type ReactNode,
  Suspense,
  use,
  useCallback,
  useState,
} from "react";

const ConfirmDialog = lazy(() =>
  import("./confirm-dialog.tsx").then(({ ConfirmDialog }) => ({ default: ConfirmDialog })),
);

export interface Question {
  readonly title: string;
  /** What happens, and whether it can be undone. */
  readonly text: string;
  /** The button's own word for it: "Revoke the token". */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** A box that can be ticked before answering. */
  readonly option?: { readonly label: string; onChange(isTicked: boolean): void };
}

type Confirm = (question: Question) => Promise<boolean>;
const ConfirmContext = createContext<Confirm>(() => Promise.resolve(false));

/** Asks, and waits for the answer: `if (await confirm({…})) …` */
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
  const close = (is: boolean) => {
    asked?.answer(is);
    setAsked(undefined);
  };
  return (
    <ConfirmContext value={confirm}>
      {children}
      {asked !== undefined && (
        <Suspense fallback={null}>
          <ConfirmDialog question={asked.question} onAnswer={close} />
        </Suspense>
      )}
    </ConfirmContext>
  );
}
