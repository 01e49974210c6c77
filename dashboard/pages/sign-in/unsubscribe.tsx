/** The page on which the recipient of an e-mail destination stops its messages. */
import type { ReactElement } from "react";
import { addressOf, call } from "../../api/client.ts";
import type { PersonalChanges } from "../../api/query.ts";
import { Consent } from "./consent.tsx";

const route = "POST /api/unsubscribe/:id/:code" satisfies keyof PersonalChanges;
type Answer = PersonalChanges[typeof route]["answer"];

export default function UnsubscribePage(): ReactElement {
  return (
    <Consent
      title="Stop these messages"
      about="An owner can ask you again. You would have to agree first."
      action="Stop the messages"
      send={async (id, code) => {
        const [method = "", path = ""] = route.split(" ");
        return (await call(method, addressOf(path, { id, code }, {}))) as Answer;
      }}
      done={({ address }) => `${address} gets no more messages.`}
    />
  );
}
