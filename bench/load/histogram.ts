/**
 * Latencies as counts in buckets whose width grows with their value: exact below 256 µs, within 0.8 percent
 * above. Recording takes a few nanoseconds and no memory, so it does not affect the measurement.
 */

/** Buckets of one power of two. */
const bucketsPerOctave = 128;
const maxValue = 2 ** 31 - 1;

export class Histogram {
  private readonly counts = new Float64Array(26 * bucketsPerOctave);
  private total = 0;
  private largestMicroseconds = 0;

  /** Counts one latency; more than 35 minutes are counted as 35 minutes. */
  record(microseconds: number): void {
    const value = Math.min(Math.max(0, Math.round(microseconds)), maxValue);
    const index = bucketOf(value);
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.total += 1;
    if (value > this.largestMicroseconds) this.largestMicroseconds = value;
  }

  get count(): number {
    return this.total;
  }

  get maxMs(): number {
    return this.largestMicroseconds / 1000;
  }

  /** The latency in milliseconds that this share of requests (0.99) did not exceed; 0 when there were
   * none. */
  percentileMs(share: number): number {
    const rank = Math.max(1, Math.ceil(share * this.total));
    let seen = 0;
    for (let index = 0; index < this.counts.length; index++) {
      seen += this.counts[index] ?? 0;
      if (seen >= rank) return Math.min(upperEdgeOf(index), this.largestMicroseconds) / 1000;
    }
    return 0;
  }
}

function bucketOf(value: number): number {
  if (value < 2 * bucketsPerOctave) return value;
  const shift = 31 - Math.clz32(value) - Math.log2(bucketsPerOctave);
  return shift * bucketsPerOctave + (value >> shift);
}

/** The largest value that falls into the bucket. */
function upperEdgeOf(index: number): number {
  if (index < 2 * bucketsPerOctave) return index;
  const shift = Math.floor(index / bucketsPerOctave) - 1;
  return (index - shift * bucketsPerOctave + 1) * 2 ** shift - 1;
}
