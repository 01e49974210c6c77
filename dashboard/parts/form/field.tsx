/** Form fields: a label above, what helps or is wrong below, and the two tied together for screen readers. */
import {
  type InputHTMLAttributes,
  type ReactElement,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from "react";
import { classes } from "../../text/classes.ts";
import { errorSentence } from "../../text/error-sentences.ts";
import { Icon } from "../icons.tsx";

const control =
  "h-9 w-full min-w-0 rounded border border-edge bg-raised px-2.5 text-base aria-invalid:border-at-risk disabled:opacity-60";

const small = "h-8! text-sm!";

interface FieldText {
  readonly label: string;
  /** Keeps the label for screen readers alone, for a field whose place explains it. */
  readonly isLabelHidden?: boolean;
  readonly help?: ReactNode;
  /** The problem with the value, in words. Undefined for a valid value. */
  readonly error?: string | undefined;
}

interface Tied {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
}

/** Ties a label, a help text and an error to any control. */
function Field({
  label,
  isLabelHidden = false,
  help,
  error,
  children,
}: FieldText & { children: (tied: Tied) => ReactNode }): ReactElement {
  const id = useId();
  const below = error ?? help;
  return (
    <div className="grid content-start gap-1">
      <label htmlFor={id} className={isLabelHidden ? "sr-only" : "text-sm font-medium"}>
        {label}
      </label>
      {children({
        id,
        "aria-describedby": below === undefined ? undefined : `${id}-below`,
        "aria-invalid": error === undefined ? undefined : true,
      })}
      {below !== undefined && (
        <p
          id={`${id}-below`}
          className={classes("text-sm", error === undefined ? "text-soft" : "text-at-risk")}
        >
          {error !== undefined && <Icon name="warning" size={13} className="mr-1 inline align-[-2px]" />}
          {below}
        </p>
      )}
    </div>
  );
}

type InputProps = FieldText &
  InputHTMLAttributes<HTMLInputElement> & {
    ref?: Ref<HTMLInputElement>;
    /** As low as a small choice and a small button, beside which it stands. */
    isSmall?: boolean;
    /** Texts that the browser offers while one is typed. */
    suggestions?: readonly string[] | undefined;
  };

/** A field of one line. */
export function Input({
  label,
  isLabelHidden,
  help,
  error,
  isSmall = false,
  suggestions,
  className,
  ...rest
}: InputProps): ReactElement {
  const list = useId();
  return (
    <Field label={label} help={help} error={error} {...(isLabelHidden && { isLabelHidden })}>
      {(tied) => (
        <>
          <input
            {...rest}
            {...tied}
            list={suggestions && list}
            className={classes(control, isSmall && small, className)}
          />
          {suggestions !== undefined && (
            <datalist id={list}>
              {suggestions.map((text) => (
                <option key={text} value={text} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

type TextAreaProps = FieldText &
  Pick<TextareaHTMLAttributes<HTMLTextAreaElement>, "value" | "rows" | "maxLength"> & {
    onText: (text: string) => void;
    /** For sentences. */
    isProse?: boolean;
  };

/** A field of several lines, for code unless it is for prose. */
export function TextArea({
  label,
  help,
  error,
  onText,
  isProse = false,
  ...rest
}: TextAreaProps): ReactElement {
  return (
    <Field label={label} help={help} error={error}>
      {(tied) => (
        <textarea
          {...rest}
          {...tied}
          onChange={({ target }) => onText(target.value)}
          spellCheck={isProse}
          className={classes(
            "w-full rounded border border-edge bg-raised px-2.5 py-1.5",
            isProse ? "text-base" : "font-mono text-sm",
          )}
        />
      )}
    </Field>
  );
}

/** A field for a password, which can be shown. */
export function PasswordInput({ label, help, error, className, ...rest }: InputProps): ReactElement {
  const [isShown, setShown] = useState(false);
  return (
    <Field label={label} help={help} error={error}>
      {(tied) => (
        <div className="relative">
          <input
            {...rest}
            {...tied}
            type={isShown ? "text" : "password"}
            className={classes(control, "pr-20", className)}
          />
          <button
            type="button"
            aria-pressed={isShown}
            aria-label="Show the password"
            onClick={() => setShown(!isShown)}
            className="absolute inset-y-0 right-0 inline-flex items-center gap-1 rounded px-2.5 text-sm text-soft hover:text-ink"
          >
            <Icon name="eye" />
            {isShown ? "Hide" : "Show"}
          </button>
        </div>
      )}
    </Field>
  );
}

/** A choice as the list offers it. */
export interface Choice<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
  /** Choices with the same group stand together under its name. */
  readonly group?: string;
}

type SelectProps<Value extends string> = FieldText &
  Omit<SelectHTMLAttributes<HTMLSelectElement>, "onChange" | "value"> & {
    value: Value;
    choices: readonly Choice<Value>[];
    onChoose: (value: Value) => void;
    isSmall?: boolean;
  };

/** A choice of few. The browser's own list: exact on a phone, complete for a keyboard and a screen reader. */
export function Select<Value extends string>({
  label,
  isLabelHidden,
  help,
  error,
  choices,
  value,
  onChoose,
  isSmall = false,
  className,
  ...rest
}: SelectProps<Value>): ReactElement {
  return (
    <Field label={label} help={help} error={error} {...(isLabelHidden && { isLabelHidden })}>
      {(tied) => (
        <div className="relative">
          <select
            {...rest}
            {...tied}
            value={value}
            onChange={({ target }) => {
              const chosen = choices.find((choice) => choice.value === target.value);
              if (chosen !== undefined) onChoose(chosen.value);
            }}
            className={classes(control, "appearance-none pr-8", isSmall && small, className)}
          >
            {[...Map.groupBy(choices, ({ group }) => group)].map(([group, ofGroup]) =>
              group === undefined ? (
                <Options key="" choices={ofGroup} />
              ) : (
                <optgroup key={group} label={group}>
                  <Options choices={ofGroup} />
                </optgroup>
              ),
            )}
          </select>
          <Icon
            name="down"
            className="pointer-events-none absolute top-1/2 right-2.5 -translate-y-1/2 text-soft"
          />
        </div>
      )}
    </Field>
  );
}

/** A low choice without a label to be seen, where its place explains it, e.g. beside a title. */
export function SmallSelect<Value extends string>(props: SelectProps<Value>): ReactElement {
  return <Select isLabelHidden isSmall {...props} />;
}

function Options({ choices }: { choices: readonly Choice[] }): ReactElement {
  return (
    <>
      {choices.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </>
  );
}

/** Shows the server's refusal in a form, where screen readers read it at once. */
export function FormError({ error }: { error: Error | null }): ReactElement | null {
  if (error === null) return null;
  return (
    <p
      role="alert"
      className="flex gap-2 rounded border border-at-risk bg-at-risk-wash px-3 py-2 text-at-risk"
    >
      <Icon name="warning" className="mt-1" />
      <span>{errorSentence(error.message)}</span>
    </p>
  );
}
