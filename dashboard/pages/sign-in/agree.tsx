/** The page on which the recipient of an e-mail destination agrees to get messages. */
import type { ReactElement } from "react";
import { usePersonalChange } from "../../api/query.ts";
import { Consent } from "./consent.tsx";

export default function AgreePage(): ReactElement {
  const { mutateAsync } = usePersonalChange("POST /api/destinations/agree");
  return (
    <Consent
      title="Receive messages from Rekindle"
      about="Each message has a link by which you stop them."
      action="I agree"
      send={(destination, code) => mutateAsync({ destination, code })}
      done={({ address, state }) =>
        state === "active"
          ? `${address} gets messages from now on.`
          : `${address} gets no messages for now: it is ${state}.`
      }
    />
  );
}
