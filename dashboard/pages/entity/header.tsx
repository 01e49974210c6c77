/** The top of the page of a user or an account: a picture, a name, the id and where one came from. */
import type { ReactElement, ReactNode } from "react";
import type { Freshness as FreshnessAnswer } from "../../api/paths.ts";
import { PageLink } from "../../app/page-link.ts";
import { Avatar } from "../../parts/avatar.tsx";
import { Freshness } from "../../parts/figure/freshness.tsx";
import { Verdict } from "../../parts/figure/verdict.tsx";
import { Icon } from "../../parts/icons.tsx";
import { listAddresses } from "../../parts/list/view-address.ts";
import { PageHeader } from "../../parts/panel.tsx";
import { dayText } from "../../text/format.ts";
import { churnText, type Score } from "./score-text.ts";

interface EntityHeaderProps {
  readonly what: "user" | "account";
  /** The name. Undefined until it is known, and initials with it. */
  readonly title: string | undefined;
  readonly image: string | null | undefined;
  /** The line below the name. */
  readonly line: ReactNode;
  readonly freshness: FreshnessAnswer | undefined;
  /** Undefined until they are known. */
  readonly score: Score | undefined;
  readonly actions?: ReactNode;
}

export function EntityHeader(props: EntityHeaderProps): ReactElement {
  const { what, title, image, line, freshness, score, actions } = props;
  const churn = score && churnText(score);
  const isUser = what === "user";
  return (
    <>
      <nav aria-label="Back" className="mb-3">
        <PageLink
          to={listAddresses[`${what}s`]}
          className="inline-flex items-center gap-1 text-sm text-soft hover:text-ink"
        >
          <Icon name="left" size={13} />
          {isUser ? "Users" : "Accounts"}
        </PageLink>
      </nav>
      <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4">
        <span className="mt-1">
          <Avatar name={title ?? ""} image={image} size="large" isAccount={!isUser} />
        </span>
        <PageHeader title={title} {...(actions !== undefined && { actions })}>
          <span className="flex min-h-[1.625rem] flex-wrap items-center gap-x-2 text-ink">
            {score !== undefined && <Verdict verdict={score.verdict} />}
            {churn !== undefined && <span className="min-w-0 [overflow-wrap:anywhere]">{churn}</span>}
          </span>
          <span className="block min-h-[1.375rem] [overflow-wrap:anywhere]">{line}</span>
          <Freshness freshness={freshness} />
          {score?.day != null && (
            <span className="text-sm" title="Only what happened before this day counts in scores">
              {" · "}scores as of the start of {dayText(score.day)}
            </span>
          )}
        </PageHeader>
      </div>
    </>
  );
}
