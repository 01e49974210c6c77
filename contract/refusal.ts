/** Something that was asked for cannot be done, and the message says why in words for a person. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}
