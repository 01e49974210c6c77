/** Erasing an account. Its members stay. */
import type { ReactElement } from "react";
import { useChange } from "../../api/query.ts";
import { numbers } from "../../text/format.ts";
import { type AccountReceipt, EraseButton, Erased, receiptLines } from "./erase.tsx";

interface EraseAccountProps {
  readonly accountId: string;
  readonly onErased: (receipt: AccountReceipt) => void;
}

export function EraseAccount({ accountId, onErased }: EraseAccountProps): ReactElement {
  const erase = useChange("DELETE /api/accounts/:accountId", onErased);
  return (
    <EraseButton
      button="Erase …"
      isSmall
      title="Erase this account"
      label="Type the account's id to confirm"
      expected={accountId}
      action="Erase for good"
      description="The account's id, name, avatar and scores are deleted for good: this cannot be undone."
      consequences={
        <>
          <li>Its members stay as users, with their traits and events, and are in no account.</li>
          <li>Figures of accounts are computed again without it, also those of past days.</li>
          <li>An exclusion rule that names the account goes, so its members may count again.</li>
          <li>Traits and event properties that your application sent stay with the members.</li>
          <li>Earlier backups still have the data: delete them yourself.</li>
          <li>If your application sends this account again, it becomes a new account.</li>
        </>
      }
      erasure={erase}
      onErase={() => erase.mutate({ path: { accountId } })}
    />
  );
}

/** The erased data of an account. */
export function ErasedAccount({ receipt }: { receipt: AccountReceipt }): ReactElement {
  const { erasedAt, members, events, versions } = receipt;
  return (
    <Erased
      what="account"
      erasedAt={erasedAt}
      lines={[
        ["Members, now in no account", numbers.count(members)],
        ["Events, now of no account", numbers.count(events)],
        ["Versions of name and avatar", numbers.count(versions)],
        ...receiptLines(receipt),
      ]}
    />
  );
}
