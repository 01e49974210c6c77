/** The limits that senders of batches need, apart from the others because the client carries them with it:
 * each has a name of its own, which its build makes short. */

/** Of a request, and of each item of a batch, after inflating. */
export const bodyBytes = 256 * 1024;
export const batchBytes = 8 * 1024 * 1024;
export const batchItems = 2_000;
export const messageIdMemoryHours = 24;

/** All limits of batches. */
export const batchLimits = { bodyBytes, batchBytes, batchItems, messageIdMemoryHours } as const;
