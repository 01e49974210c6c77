/** When the fields of a user or an account were said, in Unix milliseconds. */
export interface SaidTimes {
  /** Of all fields that have a value, but for those that are listed in `fieldsSaidAtMs`. */
  readonly saidAtMs: number;
  /** By field: `email`, `isAccountOwner`, `account`, `properties.plan` … of a user; `name`, `avatar` of an account. */
  readonly fieldsSaidAtMs: Readonly<Record<string, number>>;
}
