/** What can be told of a message of which only the two ends are known. */
export type LongMessage =
  | { readonly kind: 'answer'; readonly id: number | undefined }
  /** A request or a notification of the server: nobody waits for it. */
  | { readonly kind: 'unasked' }
  | { readonly kind: 'unknown' };

const LEADING = /\s*"(jsonrpc|id)"\s*:\s*("[^"\\]{0,64}"|\d{1,15}|null)\s*,/y;
const KEY = /\s*"(result|error|method)"\s*:/y;
/** Only the members of the outermost object stand right before the last brace. */
const TRAILING = /,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/**
 * Whose answer a message is that is too long to be read. Servers write the id either before the result or after it;
 * the ids of ours are numbers.
 */
export function readLongMessage(head: string, tail: string | undefined): LongMessage {
  let at = /^\s*\{/.exec(head)?.[0].length;
  if (at === undefined) return { kind: 'unknown' };
  let id: number | undefined;
  for (;;) {
    LEADING.lastIndex = at;
    const member = LEADING.exec(head);
    if (!member) break;
    at = LEADING.lastIndex;
    const [, name, value = ''] = member;
    if (name === 'id' && /^\d/.test(value)) id = Number(value);
  }
  KEY.lastIndex = at;
  const key = KEY.exec(head)?.[1];
  if (key === undefined) return { kind: 'unknown' };
  if (key === 'method') return { kind: 'unasked' };
  const last = tail === undefined ? undefined : TRAILING.exec(tail)?.[1];
  return { kind: 'answer', id: id ?? (last === undefined ? undefined : Number(last)) };
}
