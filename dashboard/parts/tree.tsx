/** Traits and properties as a readable tree, of any depth, with distinct types. */
import type { ReactElement, ReactNode } from "react";
import { counted, dayText, instantText, numbers } from "../text/format.ts";

/** More entries than this of one level are counted and not shown. */
const maxEntries = 200;
/** Levels that are open from the start. */
const openLevels = 4;

type Branch = Readonly<Record<string, unknown>> | readonly unknown[];

/** The tree of an object. @param timezone in which date-times are shown, beside the text that was sent
 * @param named entries of the first level that have another name, or are shown otherwise */
export function Tree({
  values,
  timezone,
  named = {},
  beside = () => undefined,
}: {
  values: Readonly<Record<string, unknown>>;
  timezone: string;
  named?: Named;
  /** What stands beside the value of a key. */
  beside?: Beside;
}): ReactElement {
  return <Level values={values} timezone={timezone} depth={0} named={named} beside={beside} />;
}

/** By key: the name that is shown, and the value if it is not shown as usual. */
type Named = Readonly<Record<string, { readonly name: string; readonly value?: ReactNode }>>;

type Beside = (key: string) => ReactNode;

function Level({
  values,
  timezone,
  depth,
  named = {},
  beside = () => undefined,
}: {
  values: Branch;
  timezone: string;
  depth: number;
  named?: Named;
  beside?: Beside;
}): ReactElement {
  const entries = Object.entries(values);
  return (
    <dl className="grid grid-cols-[minmax(0,auto)_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
      {entries.slice(0, maxEntries).map(([name, value]) =>
        isBranch(value) && Object.keys(value).length > 0 ? (
          <div key={name} className="col-span-2">
            <dt className="sr-only">{name}</dt>
            <dd>
              <details open={depth < openLevels}>
                <summary className="text-soft hover:text-ink">
                  {name} <span className="text-xs">{sizeOf(value)}</span> {beside(name)}
                </summary>
                <div className="mt-1 ml-1.5 border-l border-line pl-3">
                  <Level values={value} timezone={timezone} depth={depth + 1} />
                </div>
              </details>
            </dd>
          </div>
        ) : (
          <div key={name} className="contents">
            <dt title={name} className="max-w-48 text-soft [overflow-wrap:anywhere]">
              {namedOf(named, name)?.name ?? name}
            </dt>
            <dd className="[overflow-wrap:anywhere] whitespace-pre-wrap">
              {namedOf(named, name)?.value ?? <Leaf value={value} timezone={timezone} />} {beside(name)}
            </dd>
          </div>
        ),
      )}
      {entries.length > maxEntries && (
        <div className="col-span-2">
          <dt className="sr-only">More</dt>
          <dd className="text-soft">and {numbers.count(entries.length - maxEntries)} more</dd>
        </div>
      )}
    </dl>
  );
}

function namedOf(named: Named, key: string): Named[string] | undefined {
  return Object.hasOwn(named, key) ? named[key] : undefined;
}

const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;
const date = /^\d{4}-\d{2}-\d{2}$/;

function Leaf({ value, timezone }: { value: unknown; timezone: string }): ReactElement {
  if (value === "") return <i className="text-soft">empty text</i>;
  if (typeof value === "string") {
    const isTime = dateTime.test(value) && !Number.isNaN(Date.parse(value));
    if (isTime) return <time title={value}>{instantText(value, timezone)}</time>;
    const isDay = date.test(value) && !Number.isNaN(Date.parse(value));
    return isDay ? <time title={value}>{dayText(value)}</time> : <span>{value}</span>;
  }
  if (typeof value === "number") return <span title={String(value)}>{numberText(value)}</span>;
  if (typeof value === "boolean") return <>{value ? "yes" : "no"}</>;
  if (value === null) return <i className="text-soft">null</i>;
  return <i className="text-soft">{Array.isArray(value) ? "empty list" : "empty object"}</i>;
}

function numberText(value: number): string {
  return Math.abs(value) >= 1e15 ? String(value) : numbers.precise(value);
}

function isBranch(value: unknown): value is Branch {
  return typeof value === "object" && value !== null;
}

function sizeOf(value: Branch): string {
  const size = Object.keys(value).length;
  if (Array.isArray(value)) return counted(size, "item");
  return `${numbers.count(size)} ${size === 1 ? "entry" : "entries"}`;
}

/** The first of an event's properties in one line, for where there is no place for the tree. */
export function summaryOf(properties: Readonly<Record<string, unknown>>): string {
  return Object.entries(properties)
    .slice(0, 4)
    .map(([name, value]) => `${name}: ${isBranch(value) ? "…" : String(value).slice(0, 60)}`)
    .join(" · ");
}
