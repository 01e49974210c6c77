/**
 * Prints the log of simulated contracts as JSON lines, for `rekindle backtest`: every use of a feature, and
 * the billing events as an application would send them.
 *
 *   cli/with-bun bench/contracts/log.ts [seed, 1 by default] [accounts, 800] [weeks, 104] > /tmp/contracts.jsonl
 *   npx rekindle backtest /tmp/contracts.jsonl --entity user --account account --event event --time time --properties properties \
 *     --score account --churn-target subscription --compare
 */
import { formatDay } from "../../server/calendar/days.ts";
import { msPerDay } from "../../server/calendar/zone.ts";
import { Contracts } from "../../test/simulation/contracts/contracts.ts";

const [seed, accounts, weeks] = [1, 800, 104].map((usual, at) => Number(process.argv[at + 2] ?? usual));
const endDay = Date.UTC(2026, 5, 17) / msPerDay;
const contracts = new Contracts({ seed: seed ?? 0, accounts: accounts ?? 0, weeks: weeks ?? 0, endDay });
const output = Bun.stdout.writer();

for (let number = 0; number < (accounts ?? 0); number += 1) {
  const customer = contracts.customer(number);
  for (const { day, use, billing } of contracts.life(customer)) {
    const of = { account: customer.truth.accountId, time: formatDay(day) };
    const user = customer.owner?.userId ?? "";
    for (const { name: event, properties } of billing) write({ user, ...of, event, properties });
    for (const { member, event, count } of use) {
      for (let left = count; left > 0; left -= 1) write({ user: member.userId, ...of, event });
    }
  }
  await output.flush();
}
await output.end();

function write(line: object): void {
  output.write(`${JSON.stringify(line)}\n`);
}
