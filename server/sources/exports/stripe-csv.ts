/** Rows of the Stripe dashboard's CSV as the objects of its API. Amounts are in major units there, and times
 * in UTC. */
import type { JsonObject } from "../../../contract/json.ts";
import { type Invalid, isInvalid } from "../../intake/admission/json.ts";
import { readTime } from "../parse.ts";

/** Currencies of Stripe whose minor unit is not a hundredth: https://docs.stripe.com/currencies. */
const digitsOf: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    "bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf".split(" ").map((currency) => [currency, 0]),
  ),
  ...Object.fromEntries("bhd jod kwd omr tnd".split(" ").map((currency) => [currency, 3])),
};

/** Columns by their names in small letters. Stripe has renamed some. */
type Cells = ReadonlyMap<string, string>;

/** The object that a row of subscriptions or invoices is about. */
export function stripeObjectOf(row: JsonObject): { readonly object: JsonObject } | Invalid {
  const cells: Cells = new Map(
    Object.entries(row).flatMap(([name, value]) =>
      value === undefined || value === null || value === ""
        ? []
        : [[name.trim().toLowerCase(), String(value).trim()]],
    ),
  );
  const id = cells.get("id");
  if (id === undefined) return { invalid: "id is missing: export the column id." };
  if (id.startsWith("sub_")) return subscription(id, cells);
  if (id.startsWith("in_")) return invoice(id, cells);
  return { invalid: `id ${JSON.stringify(id.slice(0, 100))} is neither a subscription's nor an invoice's.` };
}

function shared(id: string, cells: Cells): JsonObject {
  const metadata = [...cells].flatMap(([name, value]) => {
    const key = /^(.+) \(metadata\)$/.exec(name)?.[1];
    return key === undefined ? [] : [[metadataKeys[key] ?? key, value]];
  });
  return {
    id,
    status: cells.get("status")?.toLowerCase().replaceAll(" ", "_"),
    customer: cells.get("customer id") ?? cells.get("customer"),
    customer_email: cells.get("customer email"),
    currency: cells.get("currency")?.toLowerCase(),
    metadata: Object.fromEntries(metadata),
  };
}

/** Keys of metadata that are not written in small letters. */
const metadataKeys: Readonly<Record<string, string>> = { userid: "userId", accountid: "accountId" };

function subscription(id: string, cells: Cells): { readonly object: JsonObject } | Invalid {
  const times = timesOf(cells, {
    created: ["created (utc)"],
    start_date: ["start date (utc)", "start (utc)"],
    current_period_start: ["current period start (utc)"],
    current_period_end: ["current period end (utc)"],
    trial_end: ["trial end (utc)"],
    canceled_at: ["canceled at (utc)"],
    ended_at: ["ended at (utc)"],
    cancel_at: ["cancel at (utc)"],
  });
  if (isInvalid(times)) return times;
  const own = shared(id, cells);
  const amount = minorUnits(cells.get("amount"), own.currency, "Amount");
  if (isInvalid(amount)) return amount;
  const [count, unit] = intervalOf(cells.get("interval"), cells.get("interval count"));
  const object = {
    ...own,
    ...times,
    object: "subscription",
    cancel_at_period_end: isTrue(cells.get("cancel at period end")),
    cancellation_details: {
      reason: cells.get("cancellation reason"),
      feedback: cells.get("cancellation feedback"),
    },
    items: {
      data: [
        {
          quantity: Number(cells.get("quantity") ?? 1),
          price: {
            id: cells.get("plan"),
            nickname: cells.get("plan name") ?? cells.get("product") ?? null,
            unit_amount: amount,
            currency: own.currency,
            recurring: { interval: unit, interval_count: count },
          },
        },
      ],
    },
  };
  return { object };
}

function invoice(id: string, cells: Cells): { readonly object: JsonObject } | Invalid {
  const times = timesOf(cells, {
    created: ["date (utc)", "created (utc)"],
    finalized_at: ["finalized at (utc)"],
    paid_at: ["paid at (utc)"],
    next_payment_attempt: ["next payment attempt (utc)"],
  });
  if (isInvalid(times)) return times;
  const own = shared(id, cells);
  const paid = minorUnits(cells.get("amount paid"), own.currency, "Amount Paid");
  if (isInvalid(paid)) return paid;
  const due = minorUnits(cells.get("amount due") ?? cells.get("total"), own.currency, "Amount Due");
  if (isInvalid(due)) return due;
  const isPaid = isTrue(cells.get("paid")) || own.status === "paid";
  const { finalized_at, paid_at, ...others } = times;
  const object = {
    ...own,
    ...others,
    object: "invoice",
    paid: isPaid,
    // Old exports have no column for what was paid.
    amount_paid: paid ?? (isPaid ? due : undefined),
    amount_due: due,
    attempt_count: Number(cells.get("attempt count") ?? cells.get("number of attempts") ?? 0),
    status_transitions: { finalized_at, paid_at },
    subscription: cells.get("subscription"),
  };
  return { object };
}

/** Excel writes dates of a saved export so where the day is first. */
const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?= |$)/;

function isoDay(_: string, day: string, month: string, year: string): string {
  return `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

/** Times in seconds, of the first column that is there. */
function timesOf(
  cells: Cells,
  fields: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, number | undefined>> | Invalid {
  const times: Record<string, number | undefined> = {};
  for (const [field, names] of Object.entries(fields)) {
    const name = names.find((one) => cells.has(one));
    const ms = name === undefined ? undefined : readTime(cells.get(name)?.replace(dotted, isoDay), name);
    if (isInvalid(ms)) return ms;
    if (ms !== undefined) times[field] = Math.floor(ms / 1_000);
  }
  return times;
}

/** `9.90`, or `9,90` as some languages write it. */
function minorUnits(
  text: string | undefined,
  currency: unknown,
  column: string,
): number | undefined | Invalid {
  if (text === undefined) return undefined;
  const [, sign = "", whole = "", fraction = ""] =
    /^(-?)(\d{1,12})(?:[.,](\d{1,3}))?$/.exec(withoutThousands(text)) ?? [];
  const digits = typeof currency === "string" && Object.hasOwn(digitsOf, currency) ? digitsOf[currency] : 2;
  const hasMore = fraction.slice(digits).replaceAll("0", "") !== "";
  // `1,000` is a thousand, except where a currency has three digits.
  const isThousands = fraction.length === 3 && digits !== 3;
  if (whole === "" || digits === undefined || hasMore || isThousands) {
    return { invalid: `${column} is not an amount: ${JSON.stringify(text.slice(0, 100))}.` };
  }
  return Number(`${sign}${whole}${fraction.padEnd(digits, "0").slice(0, digits)}`);
}

/** `1.234,56` as `1234,56`, and `1,234.56` as `1234.56`. */
function withoutThousands(text: string): string {
  if (/^-?\d{1,3}(\.\d{3})+,\d+$/.test(text)) return text.replaceAll(".", "");
  return /^-?\d{1,3}(,\d{3})+\.\d+$/.test(text) ? text.replaceAll(",", "") : text;
}

/** `month`, `3 months` or `month` with a count in a column of its own. */
function intervalOf(
  text: string | undefined,
  count: string | undefined,
): readonly [number, string | undefined] {
  const [, number = count ?? "1", unit] = /^(?:(\d{1,4}) )?(day|week|month|year)s?$/i.exec(text ?? "") ?? [];
  return [Number(number) || 1, unit?.toLowerCase()];
}

function isTrue(text: string | undefined): boolean {
  return text !== undefined && /^(true|yes|1)$/i.test(text);
}
