/** Names that mean the same as `timestamp`, because senders' tools write them. */
export const timestampAliases = ["time", "date", "datetime", "eventTime", "occurredAt", "createdAt"] as const;
