import type { Diagnostic } from '@behalf/contracts';

/** Serialised, nearly. What a tool is told fits into this; files travel by reference. */
const LARGEST_ARGUMENTS = 256 * 1024;
const DEEPEST_ARGUMENTS = 32;

/** What is wrong with the sheer size of the arguments, found without writing them out. */
export function measureArguments(args: unknown, largest = LARGEST_ARGUMENTS): Diagnostic | undefined {
  const found = { left: largest, tooDeep: false };

  function walk(value: unknown, depth: number): void {
    if (found.left < 0 || found.tooDeep) return;
    if (typeof value === 'string') found.left -= Buffer.byteLength(value) + 2;
    else if (typeof value !== 'object' || value === null) found.left -= 4;
    else if (depth > DEEPEST_ARGUMENTS) found.tooDeep = true;
    else if (Array.isArray(value)) {
      found.left -= 2 + value.length;
      for (const item of value) walk(item, depth + 1);
    } else {
      found.left -= 2;
      for (const key in value) {
        found.left -= key.length + 4;
        walk((value as Record<string, unknown>)[key], depth + 1);
      }
    }
  }

  walk(args, 1);
  if (found.tooDeep) {
    const message = `The arguments are nested more than ${DEEPEST_ARGUMENTS} deep.`;
    return { path: 'arguments', code: 'too_deep', message };
  }
  if (found.left >= 0) return undefined;
  return {
    path: 'arguments',
    code: 'too_large',
    message: `The arguments are larger than ${largest / 1024} KiB.`,
  };
}
