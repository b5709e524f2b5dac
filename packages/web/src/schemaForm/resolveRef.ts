import { isRecord, type JsonRecord } from '../result/isRecord.ts';

const MAX_REF_LENGTH = 1_000;

/** What a reference inside the document leads to; undefined where it leads out of it, or to nothing. */
export function resolveRef(root: JsonRecord, ref: string): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#/') || ref.length > MAX_REF_LENGTH) return undefined;
  let target: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = decodeSegment(part);
    if (!isRecord(target) && !Array.isArray(target)) return undefined;
    if (!Object.hasOwn(target, key)) return undefined;
    target = (target as JsonRecord)[key];
  }
  return target;
}

/** A name as it was before it stood in a pointer (RFC 6901, in a fragment). */
function decodeSegment(part: string): string {
  let decoded = part;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    // It is no escape then, but part of a name.
  }
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~');
}
