/** What was asked for was done a moment ago: answered 429. */
export class TooSoon extends Error {
  override readonly name = "TooSoon";
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
