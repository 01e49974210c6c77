/**
 * The history of history.ts, made by the engine itself, for sizes at which rows would take hours through the
 * loader. Rollups are filled by the views, a week or less at a time and in the order of time, so parts and
 * merges are like the loader's.
 */
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";

export interface EngineHistory {
  readonly organization: number;
  readonly users: number;
  /** About this many. */
  readonly events: number;
  readonly days: number;
  /** The last day, in days since 1970-01-01, UTC. */
  readonly toDay: number;
}

export const usersPerAccount = 8;
const eventNames = 60;
const limits = { maxSeconds: 3_600 };
/** Of one statement, on average: those of the last days are twice as many. */
const eventsOfStatement = 1_000_000;

/** A number from 0 to 1 that follows from these columns. */
const uniform = (...of: string[]) => `(sipHash64(${of.join(", ")}) / 18446744073709551616.)`;

const account = `toUInt32(intDiv(number + ${usersPerAccount - 1}, ${usersPerAccount}))`;

const peopleQuery = `
  SELECT number, fromDay, least(fromDay + lifetimeDays, {toDay:Int32} + 1) AS untilDay, activeShare, liveliness
  FROM (
    SELECT toUInt32(number + 1) AS number,
      toInt32({toDay:Int32} - {days:Int32} + 1
        + floor(sqrt((number + ${uniform("number", "'arrival'")}) / {users:UInt32}) * {days:Int32} * 0.999)) AS fromDay,
      0.002 + 0.12 * pow(${uniform("number", "'leaving'")}, 4) AS leaving,
      1 + toInt32(floor(log(1 - ${uniform("number", "'lifetime'")}) / log(1 - leaving))) AS lifetimeDays,
      0.04 + 0.9 * pow(${uniform("number", "'active'")}, 3) AS activeShare,
      0.2 + 4 * pow(${uniform("number", "'lively'")}, 3) AS liveliness
    FROM numbers({users:UInt64}))`;

/** Events of some days. The mean of `floor(2 m u + v)` is m. */
const eventsQuery = `
  SELECT {organization:UInt32}, number, ${account},
    concat('event_', toString(toUInt8(floor(pow(${eventNames + 1}, ${uniform("number", "day", "n", "'name'")})) - 1))),
    fromUnixTimestamp64Milli(day * 86400000 + toInt64(floor(86400000 * ${uniform("number", "day", "n", "'time'")})), 'UTC') AS at,
    addDays(toDate32('1970-01-01'), day), at, generateUUIDv4(n), false, '',
    concat('{"page":"home","n":', toString(sipHash64(number, day, n) % 1000), '}')
  FROM (
    SELECT number, day, arrayJoin(range(toUInt32(greatest(isFirst, drawn)))) AS n
    FROM (
      SELECT number, day, toUInt32(day = fromDay) AS isFirst,
        toUInt32(floor(2 * liveliness * {eventsPerLiveliness:Float64} * ${uniform("number", "day", "'events'")}
          + ${uniform("number", "day", "'rest'")})) AS drawn
      FROM (
        SELECT *, arrayJoin(range(greatest(fromDay, {from:Int32}), least(untilDay, {until:Int32}))) AS day
        FROM bench_people WHERE fromDay < {until:Int32} AND untilDay > {from:Int32})
      WHERE isFirst OR ${uniform("number", "day", "'present'")} < activeShare))`;

const traits = `concat('{"name":"User ', toString(number), '","plan":"',
  ['free', 'starter', 'pro', 'enterprise'][1 + sipHash64(number, 'plan') % 4], '","acquisitionChannel":"',
  ['search', 'referral', 'ads', 'partner', 'direct', 'event', 'social', 'outbound'][1 + sipHash64(number, 'channel') % 8],
  '","companySize":"', ['1-10', '11-50', '51-200', '201-1000', '1000+'][1 + sipHash64(number, 'size') % 5],
  '","segment":"', ['retail', 'software', 'health', 'education'][1 + sipHash64(number, 'segment') % 4], '"}')`;

const at = "fromUnixTimestamp64Milli(toInt64(fromDay) * 86400000 + 1000, 'UTC')";

const entityQueries = [
  `INSERT INTO users SELECT {organization:UInt32}, number, concat('user-', toString(number)),
     concat('user-', toString(number), '@example.com'), ${traits}, number % ${usersPerAccount} = 0, ${account}, ${at}, ${at}, 1
   FROM bench_people`,
  `INSERT INTO user_versions SELECT {organization:UInt32}, number, 1, ${at}, ${traits}, ${account} FROM bench_people`,
  `INSERT INTO accounts (organization, account, account_id, name, avatar, created_at, updated_at, version)
   SELECT {organization:UInt32}, ${account} AS account, concat('account-', toString(account)),
     concat('Account ', toString(account)), NULL, min(${at}), min(${at}), 1
   FROM bench_people GROUP BY account`,
];

/** Makes a history. @returns the number of events */
export async function generateHistory(
  warehouse: Warehouse,
  { organization, users, events, days, toDay }: EngineHistory,
): Promise<number> {
  await warehouse.command(
    `CREATE TABLE bench_people (number UInt32, fromDay Int32, untilDay Int32, activeShare Float64, liveliness Float64)
     ENGINE = MergeTree ORDER BY number`,
  );
  await warehouse.command(`INSERT INTO bench_people ${peopleQuery}`, { users, days, toDay }, limits);
  for (const sql of entityQueries) await warehouse.command(sql, { organization }, limits);
  const [expected] = await warehouse.rows<{ liveliness: number }>(
    "SELECT sum((1 + (untilDay - fromDay - 1) * activeShare) * liveliness) AS liveliness FROM bench_people",
  );
  const eventsPerLiveliness = events / (expected?.liveliness ?? 1);
  const step = Math.max(1, Math.min(7, Math.floor((days * eventsOfStatement) / events)));
  for (let from = toDay - days + 1; from <= toDay; from += step) {
    await warehouse.command(
      `INSERT INTO events (organization, user, account, event, time, day, received_at, id, id_is_message_id,
         message_id, properties) ${eventsQuery}`,
      { organization, eventsPerLiveliness, from, until: Math.min(from + step, toDay + 1) },
      limits,
    );
  }
  await warehouse.command("DROP TABLE bench_people");
  const [made] = await warehouse.rows<{ events: number }>("SELECT count() AS events FROM events");
  return made?.events ?? 0;
}
