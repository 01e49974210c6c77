/** The events that benchmarks send: 100,000 users, 60 names, two small properties. */

export const users = 100_000;

/** The n-th event, with a fresh message id. */
export function eventWithId(n: number): string {
  return `${fields(n)},"messageId":"${crypto.randomUUID()}"}`;
}

/** The n-th event, without a message id. */
export function eventWithoutId(n: number): string {
  return `${fields(n)}}`;
}

function fields(n: number): string {
  return `{"userId":"user-${(n * 7919) % users}","event":"event_${n % 60}","properties":{"page":"home","n":${n % 1000}}`;
}
