import { strings } from '../strings/strings.ts';
import type { FormNode } from './formNode.ts';

/** What the schema allows, in words; empty where it allows everything. */
export function describeLimits(node: FormNode): string {
  const words = strings.tools.form;
  const parts: (string | false)[] = [];
  const limit = (describe: (limit: string) => string, value: number | undefined) =>
    value !== undefined && describe(String(value));
  if (node.kind === 'number') {
    parts.push(node.isInteger && words.whole);
    parts.push(limit(words.atLeast, node.min), limit(words.above, node.above));
    parts.push(limit(words.atMost, node.max), limit(words.below, node.below), limit(words.step, node.step));
  }
  if (node.kind === 'text') {
    const { minLength, maxLength } = node;
    parts.push(minLength !== undefined && minLength > 1 && words.atLeast(words.characters(minLength)));
    parts.push(maxLength !== undefined && words.atMost(words.characters(maxLength)));
  }
  if (node.kind === 'list') {
    const { minItems, maxItems } = node;
    parts.push(minItems > 0 && words.atLeast(words.items(minItems)));
    parts.push(maxItems !== undefined && words.atMost(words.items(maxItems)));
  }
  const text = parts.filter((part) => part !== false).join(', ');
  return text && `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
