/**
 * Regions of a source file, and a form of the file that says which of them run. A region is the body of a
 * function, or a block of a condition or a loop inside of it. Bun's own coverage sees one process. This sees
 * the servers, too, that tests start.
 */
import { childrenOf, isFunction, type Node, parse } from "./generate.ts";

/** Characters of a file, from and up to. */
export interface Region {
  readonly start: number;
  readonly end: number;
  /** Whether it is the value of an arrow function: an expression, not a block. */
  readonly isExpression: boolean;
}

/** The regions of a file. The first one is the file itself, which runs when it is imported. */
export function regionsOf(path: string, source: string): Region[] {
  const regions: Region[] = [{ start: 0, end: source.length, isExpression: false }];
  const visit = (node: Node, parent: Node | undefined) => {
    const isBlock = node.type === "BlockStatement";
    if (isBlock || (parent !== undefined && isFunction(parent) && parent.body === node))
      regions.push({ start: node.start, end: node.end, isExpression: !isBlock });
    for (const child of childrenOf(node)) visit(child, node);
  };
  visit(parse(path, source), undefined);
  return regions;
}

/** The number of the innermost region around a place. */
export function regionAt(regions: readonly Region[], start: number, end: number): number {
  let found = 0;
  regions.forEach((region, index) => {
    const best = regions[found];
    if (region.start > start || region.end < end || best === undefined) return;
    if (region.end - region.start < best.end - best.start) found = index;
  });
  return found;
}

/**
 * The file's text, which calls `reach` from another file when a region begins to run. Lines stay where they
 * are.
 * @param idOf the number with which a region calls it, by the region's own
 * @param reach the path of the file that exports `reach`
 */
export function instrumented(
  source: string,
  regions: readonly Region[],
  idOf: (region: number) => number,
  reach: string,
): string {
  const call = (index: number) => `__reach(${idOf(index)})`;
  const insertions = regions.slice(1).flatMap(({ start, end, isExpression }, index) =>
    isExpression
      ? [
          { at: start, text: `(${call(index + 1)}, (` },
          { at: end, text: "))" },
        ]
      : [{ at: start + 1, text: `${call(index + 1)};` }],
  );
  insertions.sort((a, b) => a.at - b.at);
  let [text, from] = [`import { reach as __reach } from ${JSON.stringify(reach)}; ${call(0)}; `, 0];
  for (const insertion of insertions) {
    text += source.slice(from, insertion.at) + insertion.text;
    from = insertion.at;
  }
  return text + source.slice(from);
}
