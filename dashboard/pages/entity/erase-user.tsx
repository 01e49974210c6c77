/** Erasing a user, and the account whose only member it is. */
import { type ReactElement, useState } from "react";
import { type Reads, useChange, useRead } from "../../api/query.ts";
import { numbers } from "../../text/format.ts";
import { EraseButton, Erased, receiptLines, type UserReceipt } from "./erase.tsx";

interface EraseUserProps {
  readonly userId: string;
  readonly account: Reads["/api/users/:userId"]["answer"]["account"];
  readonly onErased: (receipt: UserReceipt) => void;
}

export function EraseUser({ userId, account, onErased }: EraseUserProps): ReactElement {
  const erase = useChange("DELETE /api/users/:userId", onErased);
  const [withAccount, setWithAccount] = useState(false);
  return (
    <EraseButton
      button="Erase …"
      isSmall
      title="Erase this user"
      label="Type the user's id to confirm"
      expected={userId}
      action="Erase for good"
      description="All data about this user is deleted for good. This cannot be undone."
      consequences={
        <>
          <li>The user, all traits, all events and all scores are deleted from every store.</li>
          <li>Figures of past days are computed again without the user, so totals become smaller.</li>
          <li>Earlier backups still have the data: delete them yourself.</li>
          <li>If your application identifies this id again, it becomes a new user.</li>
        </>
      }
      choice={
        account !== null && <WithAccount account={account} is={withAccount} onChange={setWithAccount} />
      }
      erasure={erase}
      onErase={() => erase.mutate({ path: { userId }, query: { withAccount } })}
      onClose={() => setWithAccount(false)}
    />
  );
}

/** Offered for an account without other members. The server looks again when the user is erased. */
function WithAccount({
  account,
  is,
  onChange,
}: {
  account: NonNullable<EraseUserProps["account"]>;
  is: boolean;
  onChange: (is: boolean) => void;
}): ReactElement | null {
  const found = useRead("/api/accounts/:accountId", {
    path: { accountId: account.id },
    query: { limit: 1 },
  });
  if (found.data === undefined || found.data.members > 1) return null;
  return (
    <label className="flex items-center gap-2">
      <input type="checkbox" checked={is} onChange={({ target }) => onChange(target.checked)} />
      <span className="[overflow-wrap:anywhere]">
        Also erase the account {account.name || account.id}, which has no other member
      </span>
    </label>
  );
}

/** The erased data of a user. */
export function ErasedUser({ receipt }: { receipt: UserReceipt }): ReactElement {
  const { erasedAt, events, versions, account } = receipt;
  return (
    <Erased
      what="user"
      erasedAt={account?.erasedAt ?? erasedAt}
      lines={[
        ["Events", numbers.count(events)],
        ["Versions of traits", numbers.count(versions)],
        ["Accounts", numbers.count(account === null ? 0 : 1)],
        ...receiptLines(receipt),
      ]}
    />
  );
}
