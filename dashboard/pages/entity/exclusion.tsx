/** Whether a user is excluded from figures, by which rules, and the way to exclude the user. */
import type { ReactElement } from "react";
import { type Reads, useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";
import { Notice } from "../../parts/panel.tsx";
import { ruleWords } from "../../text/exclusion-words.ts";

type User = Reads["/api/users/:userId"]["answer"];

/** Says that the user is excluded, and why. A rule takes effect within seconds of being added or removed. */
export function ExcludedNotice({ user }: { user: User }): ReactElement | null {
  const { userId, isExcluded, excludedBy } = user;
  const isOnItsWay = isExcluded !== excludedBy.length > 0;
  useRead("/api/users/:userId", { path: { userId }, ...(isOnItsWay && { everyMs: 1_000 }) });
  if (!isExcluded && excludedBy.length === 0) return null;
  return (
    <Notice>
      {isExcluded
        ? "This user is excluded: counted in no figure, and without scores."
        : "This user will be excluded within seconds."}
      {excludedBy.length > 0 && (
        <>
          {" "}
          {excludedBy.length === 1 ? "Rule: " : "Rules: "}
          <PageLink to="/o/$organization/settings/exclusions" className="text-ink underline">
            {excludedBy.map(ruleWords).join("; ")}
          </PageLink>
          .
        </>
      )}
    </Notice>
  );
}

/** Adds a rule for this user alone. Hidden for viewers, and for users that a rule matches already. */
export function ExcludeButton({ user, name }: { user: User; name: string }): ReactElement | null {
  const exclusion = useConfirmedChange("POST /api/exclusions");
  if (!useMayAs("member") || user.excludedBy.length > 0) return null;
  const exclude = () =>
    exclusion.ask(
      {
        title: `Exclude ${name}?`,
        text: "The user no longer counts in any figure, past days included, and has no scores. Nothing is deleted. To undo this, remove the rule under Exclusions.",
        action: "Exclude user",
      },
      { query: { kind: "user", value: user.userId } },
      "The user is excluded. Figures update within seconds.",
    );
  return (
    <Button isSmall isBusy={exclusion.isPending} onClick={() => void exclude()}>
      Exclude …
    </Button>
  );
}
