/** Rules that keep internal, test and bot users out of every figure. */
import { type ReactElement, useState } from "react";
import { type Reads, useChange, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";
import { FormError, Input, Select } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { InlineForm } from "../../parts/form/inline-form.tsx";
import { type Column, PlainTable } from "../../parts/list/data-table.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, FigurePanel } from "../../parts/states.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { type ExclusionKind, ruleWords } from "../../text/exclusion-words.ts";
import { numbers } from "../../text/format.ts";
import { type NewRule, RulePreview } from "./exclusion-preview.tsx";

type Rule = Reads["/api/exclusions"]["answer"]["rules"][number];

const kinds = [
  {
    value: "email_domain",
    label: "E-mails at a domain",
    what: "Domain",
    help: "e.g. your own: example.com",
  },
  {
    value: "email",
    label: "E-mails like",
    what: "E-mail",
    help: "* stands for any text: test+*@example.com",
  },
  { value: "trait", label: "A trait", what: "Value", help: "Users whose trait has exactly this value." },
  { value: "user", label: "One user", what: "User", help: "The userId." },
  { value: "account", label: "All users of an account", what: "Account", help: "The account's id." },
] as const;

export default function ExclusionSettings(): ReactElement {
  const asked = useRead("/api/exclusions");
  const mayChange = useMayAs("member");
  return (
    <>
      <PageHeader title="Exclusions">
        Excluded users don’t count anywhere. Their data is kept: remove the rule and they count again.
        {!mayChange && " Members and owners change the rules."}
      </PageHeader>
      <div className="grid gap-5">
        {mayChange && <NewRuleForm />}
        <FigurePanel
          title="Rules"
          isFlush
          asked={asked}
          empty={({ rules }) =>
            rules.length === 0 && (
              <Empty title="No exclusions yet">Start with a rule for your own e-mail domain.</Empty>
            )
          }
        >
          {({ rules, excludedUsers }) => (
            <>
              <p className="px-4 pb-1 text-sm text-soft">
                {numbers.count(excludedUsers)} {excludedUsers === 1 ? "user is" : "users are"} excluded by
                now. A new rule reaches figures within seconds.
              </p>
              <Rules rules={rules} mayChange={mayChange} />
            </>
          )}
        </FigurePanel>
      </div>
    </>
  );
}

function NewRuleForm(): ReactElement {
  const [kind, setKind] = useState<ExclusionKind>("email_domain");
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const tell = useTell();
  const add = useChange("POST /api/exclusions");
  const errors = fieldErrors(add.error, ["kind", "key", "value"]);
  const isTrait = kind === "trait";
  const chosen = kinds.find((one) => one.value === kind);
  const rule: NewRule = { kind, value, ...(isTrait && { key }) };
  const send = () =>
    add.mutate(
      { query: rule },
      {
        onSuccess: () => {
          setKey("");
          setValue("");
          tell("Rule added. Figures update within seconds.");
        },
      },
    );
  return (
    <Panel title="New rule">
      <InlineForm action="Add rule" isBusy={add.isPending} onSend={send}>
        <Select label="Who" value={kind} choices={kinds} onChoose={setKind} error={errors.of("kind")} />
        {isTrait && (
          <Input
            label="Trait"
            value={key}
            onChange={({ target }) => setKey(target.value)}
            required
            error={errors.of("key")}
          />
        )}
        <Input
          label={chosen?.what ?? "Value"}
          value={value}
          onChange={({ target }) => setValue(target.value)}
          required
          spellCheck={false}
          maxLength={1_000}
          help={chosen?.help}
          error={errors.of("value")}
        />
      </InlineForm>
      <RulePreview rule={rule} />
      <FormError error={errors.rest} />
    </Panel>
  );
}

function Rules({ rules, mayChange }: { rules: readonly Rule[]; mayChange: boolean }): ReactElement {
  const removal = useConfirmedChange("DELETE /api/exclusions/:id");
  const remove = (rule: Rule) =>
    removal.ask(
      {
        title: "Remove this rule?",
        text: `${ruleWords(rule)} will count in every figure again, past days included. You can add the rule again.`,
        action: "Remove rule",
      },
      { path: { id: rule.id } },
      "Rule removed. Figures update within seconds.",
    );
  const columns: readonly Column<Rule>[] = [
    { id: "who", header: "Excluded", cell: ruleWords },
    {
      id: "users",
      header: "Users",
      isNumber: true,
      hint: "Users that the rule matches. A user with several rules counts in each.",
      cell: ({ users }) =>
        users === 0 ? <span className="text-watch">matches no user</span> : numbers.count(users),
    },
    { id: "at", header: "Since", cell: ({ createdAt }) => <RelativeTime instant={createdAt} /> },
    {
      id: "remove",
      header: "Rule",
      cell: (rule) => (
        <Button isSmall aria-label={`Remove the rule: ${ruleWords(rule)}`} onClick={() => void remove(rule)}>
          Remove
        </Button>
      ),
    },
  ];
  return (
    <PlainTable label="Exclusion rules" rows={rules} columns={mayChange ? columns : columns.slice(0, 3)} />
  );
}
