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
import type { Question } from "./confirm-dialog.tsx";

const ConfirmDialog = lazy(() => import("./confirm-dialog.tsx"));

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
