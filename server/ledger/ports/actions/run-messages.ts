/** Messages about the alerts of a run, for Slack and e-mail. A row leaves a message that waits when its user
 * or account is excluded or erased. Pure. */

/** The parts of a stored message that a row without its entity changes. */
interface StoredRun {
  readonly data?: {
    readonly rule?: { readonly name: string };
    readonly total?: number;
    readonly rows?: readonly { readonly of?: string }[];
  };
}

/** The sentence of a message. @param total alerts that fired. @param rows those that the message has */
export function runText(rule: string, total: number, rows: number): string {
  const left = total - rows;
  const fired = `${rule}: ${total} ${total === 1 ? "alert" : "alerts"} fired.`;
  if (rows === 0) return `${fired} ${total === 1 ? "It is" : "All are"} in the inbox.`;
  const most = rows === 1 ? "The most important is" : `The ${rows} most important are`;
  const more = left > 0 ? ` ${most} below, ${left} more ${left === 1 ? "is" : "are"} in the inbox.` : "";
  return `${fired}${more}`;
}

/** The body of a message without the rows of entities. Without other rows it has the number of alerts that
 * the cap left out. Undefined when there are none, or its rows do not say which entities they are about:
 * then the whole message is canceled. @param keys of `keyOfEntity` */
export function withoutEntities(body: string, keys: ReadonlySet<string>): string | undefined {
  const message = JSON.parse(body) as StoredRun;
  const { rule, total, rows = [] } = message.data ?? {};
  if (rule === undefined || total === undefined || rows.some(({ of }) => of === undefined)) return undefined;
  const kept = rows.filter(({ of = "" }) => !keys.has(of));
  const left = total - (rows.length - kept.length);
  if (left === 0) return undefined;
  const text = runText(rule.name, left, kept.length);
  return JSON.stringify({ ...message, data: { ...message.data, text, total: left, rows: kept } });
}
