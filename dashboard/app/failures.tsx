/** The pages for an address without a page, and for a page that failed. */
import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import type { ReactElement } from "react";
import { buttonClass } from "../parts/form/button.tsx";
import { PageHeader } from "../parts/panel.tsx";
import { Problem } from "../parts/states.tsx";

/** Nothing is at this address, or nothing that the reader may see. */
export function PageMissing(): ReactElement {
  return (
    <main className="mx-auto max-w-lg px-5 py-16">
      <PageHeader title="There is no such page">
        Nothing is at this address, or it belongs to an organization of which you are not a member.
      </PageHeader>
      <Link to="/" className={buttonClass("primary")}>
        To the overview
      </Link>
    </main>
  );
}

/** The page could not be shown: a file that did not come, an answer that failed, or a mistake of ours. */
export function PageProblem({ error: thrown, reset }: ErrorComponentProps): ReactElement {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const router = useRouter();
  const isOutdated = /dynamically imported module|module script/i.test(error.message);
  const retry = () => {
    // After an upgrade the files of the open page are gone. The reloaded page names the new ones.
    if (isOutdated) location.reload();
    else void router.invalidate().then(reset);
  };
  return (
    <div className="mx-auto max-w-2xl px-5 py-10">
      <Problem
        error={
          isOutdated
            ? new Error("A part of this page could not be loaded. Perhaps Rekindle was upgraded.")
            : error
        }
        onRetry={retry}
      />
    </div>
  );
}
