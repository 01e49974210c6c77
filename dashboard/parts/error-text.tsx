/** A message of the API as a page says it. */
import type { ReactElement } from "react";
import { errorSentence } from "../text/error-sentences.ts";

export default function ErrorText({ message }: { message: string }): ReactElement {
  return <>{errorSentence(message)}</>;
}
