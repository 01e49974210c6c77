/** Tries a mapping or a preset on a sample body. Nothing is stored. */
import { type ReactElement, useState } from "react";
import type { WebhookMapping, WebhookPreset } from "../../../contract/source-settings.ts";
import { type Changes, useChange } from "../../api/query.ts";
import { Button } from "../../parts/form/button.tsx";
import { FormError, TextArea } from "../../parts/form/field.tsx";

type Tried = Changes["POST /api/webhooks/try"]["answer"]["items"][number];

type Reading = { readonly mapping: WebhookMapping } | { readonly preset: WebhookPreset };

export function WebhookTrial({ reading }: { reading: Reading }): ReactElement {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<Error | null>(null);
  const attempt = useChange("POST /api/webhooks/try");
  const send = () => {
    const parsed = parse(text);
    setProblem(parsed === undefined ? new Error("The sample is not valid JSON.") : null);
    if (parsed !== undefined) attempt.mutate({ body: { ...reading, payload: parsed.value } });
  };
  return (
    <fieldset className="grid gap-3 rounded border border-line p-3">
      <legend className="px-1 text-sm font-medium">Try it</legend>
      <TextArea
        label="Sample body"
        help="Paste a body that the tool sends. It is not stored."
        value={text}
        onText={setText}
        rows={6}
      />
      <div>
        <Button isSmall isBusy={attempt.isPending} disabled={text.trim() === ""} onClick={send}>
          Try
        </Button>
      </div>
      <FormError error={problem ?? attempt.error} />
      <div role="status">{attempt.data !== undefined && <Results answer={attempt.data} />}</div>
    </fieldset>
  );
}

function Results({ answer }: { answer: Changes["POST /api/webhooks/try"]["answer"] }): ReactElement {
  if (answer.invalid !== null) return <p className="text-at-risk">{answer.invalid}</p>;
  if (answer.items.length === 0) return <p>The body has no items.</p>;
  // Results come in the order of their items, and have nothing else to be known by.
  const results = answer.items.map((item, place) => ({ item, place }));
  return (
    <ol className="grid gap-2">
      {results.map(({ item, place }) => (
        <Result key={place} answer={item} />
      ))}
    </ol>
  );
}

function Result({ answer }: { answer: Tried }): ReactElement {
  if (answer.invalid !== null) return <li className="text-at-risk">{answer.invalid}</li>;
  if (answer.ignored !== null) return <li>Ignored: {answer.ignored}</li>;
  const items = answer.items.map((item, place) => ({ item, place }));
  return (
    <li className="grid gap-1">
      {items.map(({ item, place }) => (
        <div key={place}>
          <p>{nameOf(item)}</p>
          <pre className="font-mono text-sm whitespace-pre-wrap text-soft [overflow-wrap:anywhere]">
            {JSON.stringify(item.type === "track" ? item.properties : { email: item.email, ...item.traits })}
          </pre>
        </div>
      ))}
    </li>
  );
}

function nameOf({ type, event, userId, anonymousId, account }: Tried["items"][number]): string {
  if (type === "alias") return `The id ${anonymousId} belongs to ${userId}`;
  const person = userId ?? anonymousId;
  const of = account === null ? "" : `, of the account ${account.name ?? account.id}`;
  return `${type === "track" ? `The event ${event} of` : "The user"} ${person}${of}`;
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
