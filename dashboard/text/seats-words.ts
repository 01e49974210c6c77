/** Filters by seats and pulse in words, and the values without them. */

interface SeatsValues {
  readonly seatsUsedFrom?: number | undefined;
  readonly seatsUsedTo?: number | undefined;
  readonly pulseFrom?: number | undefined;
  readonly pulseTo?: number | undefined;
}

/** A chip for each filter that is set. */
export function seatsChips({ seatsUsedFrom, seatsUsedTo, pulseFrom, pulseTo }: SeatsValues) {
  return [
    {
      value: seatsUsedFrom,
      text: `Seats used from ${seatsUsedFrom}%`,
      without: { seatsUsedFrom: undefined },
    },
    { value: seatsUsedTo, text: `Seats used up to ${seatsUsedTo}%`, without: { seatsUsedTo: undefined } },
    { value: pulseFrom, text: `Pulse from ${pulseFrom}`, without: { pulseFrom: undefined } },
    { value: pulseTo, text: `Pulse up to ${pulseTo}`, without: { pulseTo: undefined } },
  ].filter(({ value }) => value !== undefined);
}
