/** The syntax of a field name (RFC 9110 section 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Counts the gateways that forwarded a call. */
export const hopHeader = 'x-behalf-hop';

/**
 * Headers that neither the configuration nor a caller may set. Framing headers would allow request smuggling.
 * `host` would select another virtual server than the one whose address was checked.
 */
export const reservedHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  hopHeader,
]);

/** The problem with the name of a configured header; undefined if it is valid. */
export function checkHeaderName(name: string): string | undefined {
  if (!TOKEN.test(name)) return 'is not a valid header name';
  const lower = name.toLowerCase();
  if (reservedHeaders.has(lower)) return 'belongs to the connection or the gateway and cannot be configured';
  if (lower.startsWith('mcp-')) return 'belongs to the MCP protocol and cannot be configured';
  return undefined;
}
