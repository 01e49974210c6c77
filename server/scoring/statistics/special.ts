/**
 * Special functions of the models, for positive arguments, accurate to 1e-13 of the value (measured against 40
 * digits in test/scoring/special.test.ts). Sources are named by their numbers in the Digital Library of
 * Mathematical Functions, https://dlmf.nist.gov.
 */
import { at } from "./vectors.ts";

const oneMinusEulerGamma = 0.42278433509846713;
const halfLogTwoPi = 0.9189385332046728;

/** From here on six terms of Stirling's series leave less than 1e-16. */
const stirlingFrom = 12;

/** The coefficients 1/12, −1/360 … of `stirlingCorrection` in powers of 1/x² (DLMF 5.11.1). */
const stirlingCoefficients = Float64Array.of(1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360_360);

/** The coefficients (−1)^k (ζ(k) − 1)/k, k = 0…28, of `logGammaAroundTwo`; beyond, 0.5^k ζ(k) is under 1e-17. */
const taylorCoefficients = Float64Array.from({ length: 29 }, (_, k) =>
  k < 2 ? k * oneMinusEulerGamma : ((k % 2 === 0 ? 1 : -1) * zetaMinusOne(k)) / k,
);

/** ζ(k) − 1 by summing up to 49 and the Euler-Maclaurin formula for the rest (DLMF 25.2.9). */
function zetaMinusOne(k: number): number {
  const cut = 50;
  const power = cut ** -k;
  let sum = 0;
  for (let n = cut - 1; n >= 2; n--) sum += n ** -k;
  const third = (k * (k + 1) * (k + 2)) / cut ** 3;
  const fifth = (third * (k + 3) * (k + 4)) / cut ** 2;
  return sum + power * (cut / (k - 1) + 1 / 2 + k / (12 * cut) - third / 720 + fifth / 30_240);
}

/** ln Γ(2 + z) for |z| ≤ ½ (DLMF 5.7.3). */
function logGammaAroundTwo(z: number): number {
  return polynomial(taylorCoefficients, z);
}

/** ln Γ(x) − (x − ½) ln x + x − ½ ln 2π for x ≥ 12. */
function stirlingCorrection(x: number): number {
  return polynomial(stirlingCoefficients, 1 / (x * x)) / x;
}

/** Σ coefficients[k] z^k, by Horner's rule. */
function polynomial(coefficients: Float64Array, z: number): number {
  let sum = 0;
  for (let k = coefficients.length - 1; k >= 0; k--) sum = sum * z + at(coefficients, k);
  return sum;
}

/**
 * ln Γ(x) for x > 0. Up to 12 by the recurrence Γ(x+1) = x Γ(x) and the series around 2, which keeps the
 * relative error small at the zeros 1 and 2; above by Stirling's series.
 */
export function lgamma(x: number): number {
  if (x >= stirlingFrom) return (x - 0.5) * Math.log(x) - x + halfLogTwoPi + stirlingCorrection(x);
  if (x < 0.5) return logGammaAroundTwo(x) - Math.log(x) - Math.log1p(x);
  if (x < 1.5) return logGammaAroundTwo(x - 1) - Math.log(x);
  let [rest, product] = [x, 1];
  while (rest >= 2.5) {
    rest -= 1;
    product *= rest;
  }
  return logGammaAroundTwo(rest - 2) + Math.log(product);
}

/**
 * ln B(a, b) = ln Γ(a) + ln Γ(b) − ln Γ(a+b) for a, b > 0. Where arguments are large the three nearly cancel, so
 * that their leading Stirling terms are taken together (Didonato and Morris 1992, Algorithm 708).
 */
export function lbeta(a: number, b: number): number {
  const [small, large] = a < b ? [a, b] : [b, a];
  const sum = small + large;
  if (large < stirlingFrom) return lgamma(small) + lgamma(large) - lgamma(sum);
  const shrink = Math.log1p(-small / sum);
  if (small < stirlingFrom) {
    const correction = stirlingCorrection(large) - stirlingCorrection(sum);
    return lgamma(small) + correction + small * (1 - Math.log(sum)) + (large - 0.5) * shrink;
  }
  const correction = stirlingCorrection(small) + stirlingCorrection(large) - stirlingCorrection(sum);
  const leading = halfLogTwoPi - 0.5 * Math.log(large) + (small - 0.5) * Math.log(small / sum);
  return leading + large * shrink + correction;
}

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
