/** The parts of a text that a person wrote: links and bold words, as chats and issue trackers have them.
 * Everything else is plain text. */
export type ProsePart =
  | { readonly kind: "text" | "bold"; readonly text: string }
  | { readonly kind: "link"; readonly text: string; readonly address: string };

const pattern = /\[([^\]\n]{1,200})\]\((https?:\/\/[^\s()]+)\)|\*\*([^*\n]+)\*\*|(https?:\/\/[^\s<>"]+)/gu;

/** The parts in their order. A link is one of the web: no other scheme becomes one. */
export function proseParts(text: string): ProsePart[] {
  const parts: ProsePart[] = [];
  let at = 0;
  const plain = (until: number) => {
    if (until > at) parts.push({ kind: "text", text: text.slice(at, until) });
  };
  for (const match of text.matchAll(pattern)) {
    const [all, label, target, bold, bare] = match;
    plain(match.index);
    const address = bare === undefined ? undefined : withoutEnd(bare);
    if (label !== undefined && target !== undefined)
      parts.push({ kind: "link", text: label, address: target });
    else if (bold !== undefined) parts.push({ kind: "bold", text: bold });
    else if (address !== undefined) parts.push({ kind: "link", text: address, address });
    at = match.index + (address ?? all).length;
  }
  plain(text.length);
  return parts;
}

const ends = ".,;:!?)]}'\"";

/** A full stop or a bracket behind an address belongs to the sentence. */
function withoutEnd(address: string): string {
  let length = address.length;
  while (length > 0 && ends.includes(address.charAt(length - 1))) length -= 1;
  return address.slice(0, length);
}
