/** Linear equations with a symmetric positive matrix. */
import { at, dot } from "./vectors.ts";

/** Added to the diagonal, relative to the trace, so that no pivot is zero. */
const jitter = 1e-12;

/**
 * The x of A x = b for a symmetric A without negative eigenvalues, by Cholesky's A = L Lᵀ. Only the lower
 * half of A is read. For a singular A, as with two equal columns of a regression, it takes a solution with
 * small values.
 */
export function solvePositive(a: readonly Float64Array[], b: Float64Array): Float64Array {
  const trace = a.reduce((sum, row, i) => sum + at(row, i), 0);
  const lower: Float64Array[] = [];
  for (const [i, row] of a.entries()) {
    const current = new Float64Array(a.length);
    for (const [j, earlier] of lower.entries()) {
      current[j] = (at(row, j) - dot(current, earlier)) / at(earlier, j);
    }
    const pivot = at(row, i) + jitter * (trace + 1) - dot(current, current);
    current[i] = Math.sqrt(Math.max(pivot, jitter * (trace + 1)));
    lower.push(current);
  }
  const x = new Float64Array(a.length);
  for (const [i, row] of lower.entries()) x[i] = (at(b, i) - dot(row, x)) / at(row, i);
  for (let i = a.length - 1; i >= 0; i--) {
    let rest = at(x, i);
    for (let j = i + 1; j < a.length; j++) rest -= at(lower[j] ?? x, i) * at(x, j);
    x[i] = rest / at(lower[i] ?? x, i);
  }
  return x;
}
