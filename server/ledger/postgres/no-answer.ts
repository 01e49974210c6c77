/** Limits the wait for a server that does not answer. */

/** There was no answer in time: the connection may be broken. */
export class NoAnswer extends Error {}

/** Waits for an answer of PostgreSQL. @throws NoAnswer when it takes longer than `patienceMs` */
export async function answerWithin<Result>(patienceMs: number, work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer("PostgreSQL does not answer")), patienceMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
