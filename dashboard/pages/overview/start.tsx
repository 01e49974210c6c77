/** The first steps: a token, two calls, and the first event as it arrives. */
import { type ReactElement, type ReactNode, useState } from "react";
import { below } from "../../api/base.ts";
import { useChange } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { serviceAddress } from "../../app/service-address.ts";
import { useMayAs, useOrganization } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Departures } from "../../parts/figure/departures.tsx";
import { Button } from "../../parts/form/button.tsx";
import { FormError } from "../../parts/form/field.tsx";
import { Icon } from "../../parts/icons.tsx";
import { choiceFilter, useFilters } from "../../parts/list/filters.ts";
import { PageHeader } from "../../parts/panel.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { classes } from "../../text/classes.ts";
import { Arrivals, useArrivals } from "./arrivals.tsx";
import { NextSteps } from "./next-steps.tsx";
import { assistantPrompt, clientInstallation, languageLabels, languages, snippet } from "./snippets.ts";

const ways = [...languages, "assistant"] as const;
const wayLabels = { ...languageLabels, assistant: "Coding assistant" } as const;
const filters = { language: choiceFilter(ways, "curl") };
/** The placeholder in the snippets until there is a token. */
const tokenToCome = "YOUR_TOKEN";

export default function StartPage(): ReactElement {
  const { name } = useOrganization();
  const maySend = useMayAs("member");
  const arrivals = useArrivals();
  const [token, setToken] = useState<string>();
  const { hasUsers, hasEvents } = arrivals;
  return (
    <>
      <PageHeader title="Start">
        {hasEvents
          ? `${name} receives events. Here is how to send more, and what to do next.`
          : "Identify your users, then track their events. Two calls are enough."}
      </PageHeader>
      <Departures className="mb-6 max-w-4xl" />
      <ol className="grid max-w-4xl">
        <Step number={1} title="A project token" isDone={token !== undefined || hasUsers}>
          {maySend ? (
            <Token token={token} onToken={setToken} isFirst={!hasUsers} />
          ) : (
            <p>
              Your application sends with a token of {name}. You are a viewer here: ask a member or an owner
              for one.
            </p>
          )}
        </Step>
        <Step number={2} title="Identify a user, and track what they do" isDone={hasEvents}>
          <Snippets token={token} />
        </Step>
        <Step number={3} title={hasEvents ? "Events arrive" : "The first event"} isDone={hasEvents}>
          <Arrivals arrivals={arrivals} />
        </Step>
        <Step number={4} title="Next" isDone={false} isLast>
          <NextSteps />
        </Step>
      </ol>
    </>
  );
}

/** One of the steps, on a line that leads from one to the next. */
function Step({
  number,
  title,
  isDone,
  isLast = false,
  children,
}: {
  number: number;
  title: string;
  isDone: boolean;
  isLast?: boolean;
  children: ReactNode;
}): ReactElement {
  return (
    <li className="relative grid grid-cols-[2rem_minmax(0,1fr)] gap-x-4 pb-8">
      {!isLast && <span aria-hidden="true" className="absolute top-9 bottom-1 left-4 w-px bg-line" />}
      <span
        aria-hidden="true"
        className={classes(
          "grid size-8 place-items-center rounded-full border font-medium",
          isDone ? "border-healthy bg-healthy-wash text-healthy" : "border-edge bg-surface text-soft",
        )}
      >
        {isDone ? <Icon name="check" /> : number}
      </span>
      <div className="min-w-0 pt-1">
        <h2 className="mb-2 text-base">
          {title}
          {isDone && <span className="sr-only"> (done)</span>}
        </h2>
        {children}
      </div>
    </li>
  );
}

function Token({
  token,
  onToken,
  isFirst,
}: {
  token: string | undefined;
  onToken: (token: string) => void;
  isFirst: boolean;
}): ReactElement {
  const create = useChange("POST /api/tokens");
  const make = () =>
    create.mutate({ body: { name: "getting started" } }, { onSuccess: (made) => onToken(made.token) });
  if (token !== undefined) {
    return (
      <div className="grid gap-2">
        <p>
          It is in the calls below. It is shown this once: keep it where your application keeps its secrets.
        </p>
        <Code label="Project token" text={token} />
      </div>
    );
  }
  return (
    <div className="grid justify-items-start gap-3">
      <p className="text-soft">
        Your application sends with a token, which can write and never read. A token is shown one time only
        {isFirst ? "." : "; those that you have are under "}
        {!isFirst && (
          <PageLink to="/o/$organization/settings/tokens" className="underline">
            project tokens
          </PageLink>
        )}
        {!isFirst && "."}
      </p>
      <FormError error={create.error} />
      <Button look={isFirst ? "primary" : "plain"} icon="plus" isBusy={create.isPending} onClick={make}>
        Create a token
      </Button>
    </div>
  );
}

function Snippets({ token }: { token: string | undefined }): ReactElement {
  const [{ language }, change] = useFilters(filters);
  return (
    <div>
      <Tabs
        label="Language"
        value={language}
        onChoose={(chosen) => change({ language: chosen })}
        tabs={ways.map((value) => ({ value, label: wayLabels[value] }))}
      >
        {language === "client" && (
          <div className="mb-4 grid gap-2">
            <p>
              No package registry has <code className="font-mono text-sm">rekindle-client</code> yet. Build it
              from Rekindle's source, or send without a package: see TypeScript.
            </p>
            <Code label="Build and install rekindle-client" text={clientInstallation} />
          </div>
        )}
        {language === "assistant" ? (
          <Code label="Prompt for a coding assistant" text={assistantPrompt(serviceAddress())} />
        ) : (
          <Code
            label={`Two calls in ${languageLabels[language]}`}
            text={snippet(language, serviceAddress(), token ?? tokenToCome)}
          />
        )}
      </Tabs>
      <p className="mt-2 text-sm text-soft">
        {token === undefined && language !== "assistant" && `Replace ${tokenToCome}. `}
        {language === "client" && "The package sends in batches, retries, and stores each call once. "}
        {language === "assistant" && "Paste it into Claude Code, Cursor, Copilot or another one. "}
        {language !== "client" && language !== "assistant" && "Both return 201. "}A user has to be identified
        before events are recorded for them. <a href={below("/reference")}>All fields, limits and errors</a>
      </p>
      <p className="mt-2 text-sm">
        Already sending to Segment, RudderStack, Customer.io, PostHog or Mixpanel?{" "}
        <PageLink to="/o/$organization/sources">Connect them</PageLink>.
      </p>
    </div>
  );
}
