/** Cells coloured by a share, in seven steps of ember. The number stays in the cell: colour only helps to
 * find it. */

/** The class of a heat map's cell. @param share 0 to 1 @param most the share that takes the deepest colour */
export function heatClass(share: number | null, most = 1): string {
  if (share === null || most <= 0) return "";
  const step = share <= 0 ? 0 : Math.min(6, 1 + Math.floor((share / most) * 5.999));
  return `heat-${step}`;
}
