import type { Diagnostic } from '@behalf/contracts';

/** Serialised, nearly. What a tool is told fits into this; files travel by reference. */
const MAX_ARGUMENTS_BYTES = 256 * 1024;
const MAX_ARGUMENTS_DEPTH = 32;

/** What is wrong with the sheer size of the arguments, found without writing them out. */
export function checkArgumentsSize(args: unknown, maxBytes = MAX_ARGUMENTS_BYTES): Diagnostic | undefined {
  const measured = { remainingBytes: maxBytes, isTooDeep: false };

  function measure(value: unknown, depth: number): void {
    if (measured.remainingBytes < 0 || measured.isTooDeep) return;
    if (typeof value === 'string') measured.remainingBytes -= Buffer.byteLength(value) + 2;
    else if (typeof value !== 'object' || value === null) measured.remainingBytes -= 4;
    else if (depth > MAX_ARGUMENTS_DEPTH) measured.isTooDeep = true;
    else if (Array.isArray(value)) {
      measured.remainingBytes -= 2 + value.length;
      for (const item of value) measure(item, depth + 1);
    } else {
      measured.remainingBytes -= 2;
      for (const key in value) {
        measured.remainingBytes -= key.length + 4;
        measure((value as Record<string, unknown>)[key], depth + 1);
      }
    }
  }

  measure(args, 1);
  if (measured.isTooDeep) {
    const message = `The arguments are nested more than ${MAX_ARGUMENTS_DEPTH} deep.`;
    return { path: 'arguments', code: 'too_deep', message };
  }
  if (measured.remainingBytes >= 0) return undefined;
  return {
    path: 'arguments',
    code: 'too_large',
    message: `The arguments are larger than ${maxBytes / 1024} KiB.`,
  };
}
