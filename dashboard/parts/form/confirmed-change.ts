/** A change that is confirmed before it is made, and that tells its result. */
import { type ChangeInput, type Changes, useChange } from "../../api/query.ts";
import { useTell } from "../toast.tsx";
import { useConfirm } from "./confirm.tsx";
import type { Question } from "./confirm-dialog.tsx";

/** The function asks the question, and makes the change if the answer is yes. A failure is told. Of a success
 * `done` is told, or it is called with the answer. */
export function useConfirmedChange<Route extends keyof Changes>(route: Route) {
  const confirm = useConfirm();
  const tell = useTell();
  const { mutate, isPending } = useChange(route);
  const ask = async (
    question: Question,
    input: ChangeInput<Route>,
    done: string | ((answer: Changes[Route]["answer"]) => void),
  ): Promise<void> => {
    if (!(await confirm(question))) return;
    const onSuccess = typeof done === "string" ? () => tell(done) : done;
    mutate(input, { onSuccess, onError: tell.failed });
  };
  return { ask, isPending };
}
