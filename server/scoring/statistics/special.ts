/** Functions of the models that neither overflow nor lose digits. */

/**
 * The table of ln (a)_j for j = 0…length − 1, where (a)_j = a (a+1) … (a+j−1) = Γ(a+j)/Γ(a) is the rising
 * factorial. Ratios of beta functions whose arguments differ by whole numbers are sums of these.
 */
export function logRisingFactorials(a: number, length: number): Float64Array {
  const table = new Float64Array(length);
  let sum = 0;
  for (let j = 1; j < length; j++) {
    sum += Math.log(a + j - 1);
    table[j] = sum;
  }
  return table;
}

/** ln(p / (1 − p)), the log-odds of a probability; ±∞ at 1 and 0. */
export function logit(p: number): number {
  return Math.log(p) - Math.log1p(-p);
}

/** 1 / (1 + e^−z), the probability of log-odds. */
export function logistic(z: number): number {
  if (z >= 0) return 1 / (1 + Math.exp(-z));
  const odds = Math.exp(z);
  return odds / (1 + odds);
}

/** ln(1 + e^z) without overflow: minus the log-likelihood of a 0 at log-odds z. */
export function softplus(z: number): number {
  return Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)));
}

/** ln(e^a + e^b) without overflow. */
export function logAdd(a: number, b: number): number {
  const larger = Math.max(a, b);
  return larger === Number.NEGATIVE_INFINITY ? larger : larger + Math.log1p(Math.exp(-Math.abs(a - b)));
}
