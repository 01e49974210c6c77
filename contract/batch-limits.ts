/** The limits that senders of batches need, apart from the others because the client carries them with it. */
export const batchLimits = {
  /** Of a request, and of each item of a batch, after inflating. */
  bodyBytes: 256 * 1024,
  batchBytes: 8 * 1024 * 1024,
  batchItems: 2_000,
  messageIdMemoryHours: 24,
} as const;
