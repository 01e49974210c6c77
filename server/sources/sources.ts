/** The room's interface: what other tools' clients send, translated into what intake stores. One source, one file. */
export { type SegmentCall, senderOf, translateSegment } from "./segment.ts";
export type { Delivery, TranslatedItem } from "./source.ts";
