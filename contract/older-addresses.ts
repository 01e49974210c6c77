/** Queries of page addresses from before version 1.0, when some parameters and values had other names. Saved
 * views and bookmarks keep these queries. They are translated when they are read. */

const names: ReadonlyMap<string, string> = new Map([
  ["colour", "healthBand"],
  ["colourBefore", "healthBandBefore"],
  ["band", "riskBand"],
]);

/** By parameter and value. */
const values: ReadonlyMap<string, string> = new Map([
  ["lifecycle=resurrecting", "resurrected"],
  ["tab=dead-letters", "rejected-events"],
  ["outcome=parked", "held"],
  ["kind=parked_full", "held_full"],
  ["kind=parked_expired", "held_expired"],
  ["kind=parked_refused", "held_refused"],
]);

/** A query with today's names of parameters and values. If a parameter has both its names, today's name
 * counts. */
export function currentQuery(query: string): string {
  const given = [...new URLSearchParams(query)];
  if (!given.some(([name, value]) => names.has(name) || values.has(`${name}=${value}`))) return query;
  const present = new Set(given.map(([name]) => name));
  const current = given.flatMap(([name, value]): [string, string][] => {
    const today = names.get(name);
    if (today !== undefined && present.has(today)) return [];
    return [[today ?? name, values.get(`${name}=${value}`) ?? value]];
  });
  return new URLSearchParams(current).toString();
}
