import { strings } from '../strings/strings.ts';
import type { NumberNode, TextNode } from './formNode.ts';

const NUMBER_PATTERN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
/** Written out digit by digit, somebody means each of them. */
const INTEGER_PATTERN = /^[+-]?\d+$/;
/** Fractions are not exact: a multiple of 0.1 may miss by this much. */
const TOLERANCE = 1e-9;

/** What is wrong with a text that was entered; undefined: nothing. */
export function validateText({ minLength, maxLength, allowed }: TextNode, text: string): string | undefined {
  const words = strings.tools.form.errors;
  if (allowed && !allowed.has(text)) return words.notAllowed;
  // A schema counts characters, and a string counts halves of some of them.
  let length = 0;
  for (const _character of text) length += 1;
  if (minLength !== undefined && length < minLength) return words.tooShort(minLength);
  return maxLength !== undefined && length > maxLength ? words.tooLong(maxLength) : undefined;
}

/** What is wrong with a number that was entered; undefined: nothing. */
export function validateNumber(node: NumberNode, text: string): string | undefined {
  const words = strings.tools.form.errors;
  const { isInteger, min, max, above, below, step } = node;
  const value = Number(text);
  if (!NUMBER_PATTERN.test(text.trim()) || !Number.isFinite(value)) return words.number;
  if (INTEGER_PATTERN.test(text.trim()) && !Number.isSafeInteger(value)) return words.inexact;
  if (isInteger && !Number.isInteger(value)) return words.integer;
  if (min !== undefined && value < min) return words.min(min);
  if (max !== undefined && value > max) return words.max(max);
  if (above !== undefined && value <= above) return words.above(above);
  if (below !== undefined && value >= below) return words.below(below);
  return step !== undefined && !isMultiple(value, step) ? words.step(step) : undefined;
}

function isMultiple(value: number, step: number): boolean {
  const quotient = value / step;
  return Math.abs(quotient - Math.round(quotient)) < TOLERANCE * Math.max(1, Math.abs(quotient));
}
