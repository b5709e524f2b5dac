import { isRecord, type JsonRecord } from '../result/isRecord.ts';

const LONGEST = 1_000;

/** What a reference inside the document leads to; undefined where it leads out of it, or to nothing. */
export function resolveRef(root: JsonRecord, ref: string): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#/') || ref.length > LONGEST) return undefined;
  let place: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = nameOf(part);
    if (!isRecord(place) && !Array.isArray(place)) return undefined;
    if (!Object.hasOwn(place, key)) return undefined;
    place = (place as JsonRecord)[key];
  }
  return place;
}

/** A name as it was before it stood in a pointer (RFC 6901, in a fragment). */
function nameOf(part: string): string {
  let decoded = part;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    // It is no escape then, but part of a name.
  }
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~');
}
