/** What can be told of a message of which only the two ends are known. */
export type OversizedMessage =
  | { readonly kind: 'response'; readonly id: number | undefined }
  /** A request or a notification of the server: nobody waits for it. */
  | { readonly kind: 'server_message' }
  | { readonly kind: 'unknown' };

const LEADING_MEMBER = /\s*"(jsonrpc|id)"\s*:\s*("[^"\\]{0,64}"|\d{1,15}|null)\s*,/y;
const PAYLOAD_KEY = /\s*"(result|error|method)"\s*:/y;
/** Only the members of the outermost object stand right before the last brace. */
const TRAILING_ID = /,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/**
 * Whose answer a message is that is too long to be read. Servers write the id either before the result or after it;
 * the ids of ours are numbers.
 */
export function parseOversizedMessage(head: string, tail: string | undefined): OversizedMessage {
  let offset = /^\s*\{/.exec(head)?.[0].length;
  if (offset === undefined) return { kind: 'unknown' };
  let id: number | undefined;
  for (;;) {
    LEADING_MEMBER.lastIndex = offset;
    const member = LEADING_MEMBER.exec(head);
    if (!member) break;
    offset = LEADING_MEMBER.lastIndex;
    const [, name, value = ''] = member;
    if (name === 'id' && /^\d/.test(value)) id = Number(value);
  }
  PAYLOAD_KEY.lastIndex = offset;
  const key = PAYLOAD_KEY.exec(head)?.[1];
  if (key === undefined) return { kind: 'unknown' };
  if (key === 'method') return { kind: 'server_message' };
  const last = tail === undefined ? undefined : TRAILING_ID.exec(tail)?.[1];
  return { kind: 'response', id: id ?? (last === undefined ? undefined : Number(last)) };
}
