/** The form of an alert rule: a new one, or one that is changed. */
import { type FormEvent, type ReactElement, useState } from "react";
import { isOpportunity, ruleLimits, ruleTemplates } from "../../../contract/alerts/rules.ts";
import { useChange } from "../../api/query.ts";
import { Button } from "../../parts/form/button.tsx";
import { FormError, Input, Select } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { Notice } from "../../parts/panel.tsx";
import { useTell } from "../../parts/toast.tsx";
import { numbers } from "../../text/format.ts";
import { ConditionFields } from "./condition-fields.tsx";
import {
  blank,
  bodyOf,
  type Draft,
  makesVersion,
  ofRule,
  ofTemplate,
  previewOf,
  type Rule,
} from "./draft.ts";
import { MessageFields } from "./message-fields.tsx";
import { StepFields } from "./step-fields.tsx";
import { previewSentences } from "./words.ts";

interface FormProps {
  /** Undefined for a new rule. */
  readonly rule: Rule | undefined;
  /** Called when the rule is saved, or the form is cancelled. */
  readonly onDone: () => void;
}

export function RuleForm({ rule, onDone }: FormProps): ReactElement {
  const [draft, setDraft] = useState<Draft>(rule === undefined ? blank : ofRule(rule));
  const tell = useTell();
  const add = useChange("POST /api/alert-rules");
  const change = useChange("PUT /api/alert-rules/:id");
  const errors = fieldErrors(add.error ?? change.error, ["name"]);
  const isNewVersion = rule !== undefined && makesVersion(draft, rule);
  const save = (event: FormEvent) => {
    event.preventDefault();
    const onSuccess = () => {
      tell(`The rule ${draft.name} is saved.`);
      onDone();
    };
    const body = bodyOf(draft);
    if (rule === undefined) add.mutate({ body }, { onSuccess });
    else change.mutate({ path: { id: rule.id }, body }, { onSuccess });
  };
  const set = (changed: Partial<Draft>) => setDraft({ ...draft, ...changed });
  return (
    <form onSubmit={save} className="grid gap-4">
      {rule === undefined && <Templates onChoose={setDraft} draft={draft} />}
      <Input
        label="Name"
        required
        maxLength={ruleLimits.nameCharacters}
        autoComplete="off"
        value={draft.name}
        onChange={({ target }) => set({ name: target.value })}
        error={errors.of("name")}
      />
      <ConditionFields draft={draft} onChange={set} />
      <MessageFields draft={draft} onChange={set} isFirst={rule === undefined || isNewVersion} />
      <StepFields draft={draft} onChange={set} />
      {isNewVersion && (
        <Notice>
          Saving makes version {numbers.count(rule.version + 1)}, because the condition or the scope is
          another one. Open alerts stay with version {numbers.count(rule.version)}.
        </Notice>
      )}
      <Preview draft={draft} />
      <FormError error={errors.rest} />
      <div className="flex gap-2">
        <Button type="submit" look="primary" isBusy={add.isPending || change.isPending}>
          Save rule
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}

function Templates({ draft, onChoose }: { draft: Draft; onChoose: (draft: Draft) => void }): ReactElement {
  const [key, setKey] = useState("");
  const choices = [
    { value: "", label: "A blank rule" },
    ...ruleTemplates.map(({ key: value, name }) => ({ value, label: name })),
  ];
  return (
    <Select
      label="Begin with"
      value={key}
      choices={choices}
      help="Nothing is on before you save."
      onChoose={(chosen) => {
        setKey(chosen);
        const template = ruleTemplates.find((one) => one.key === chosen);
        onChoose(template === undefined ? blank : ofTemplate(draft, template));
      }}
    />
  );
}

/** The preview of the last 90 days. It takes seconds, so a button asks for it. */
function Preview({ draft }: { draft: Draft }): ReactElement {
  const preview = useChange("POST /api/alert-rules/preview");
  const body = previewOf(draft);
  const asked = preview.variables?.body;
  const isCurrent = JSON.stringify(asked) === JSON.stringify(body);
  const thing = body.scope.kind === "users" ? "user" : "account";
  return (
    <section aria-label="Preview" className="grid gap-2 rounded border border-line bg-sunk px-3 py-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span>How the rule would have done in the last 90 days.</span>
        <Button isSmall isBusy={preview.isPending} onClick={() => preview.mutate({ body })}>
          Preview
        </Button>
      </div>
      {isCurrent && <FormError error={preview.error} />}
      {isCurrent && preview.data !== undefined && (
        <div role="status">
          <ul className="grid gap-1">
            {previewSentences(preview.data, thing, isOpportunity(body.condition)).map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}
