/** RFC 9110 section 5.6.2: what a field name may consist of. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Counts how many gateways in a row forwarded a call. */
export const hopHeader = 'x-behalf-hop';

/**
 * Headers that belong to the connection or to the gateway: neither a configuration nor a caller sets them. Framing ones
 * would break or smuggle requests. `host` above all: another name than the judged one would choose another virtual
 * server, or another TLS name, behind the checked address.
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

/** What is wrong with the name of a configured header, or nothing. */
export function checkHeaderName(name: string): string | undefined {
  if (!TOKEN.test(name)) return 'is not a valid header name';
  const lower = name.toLowerCase();
  if (reservedHeaders.has(lower)) return 'belongs to the connection or the gateway and cannot be configured';
  if (lower.startsWith('mcp-')) return 'belongs to the MCP protocol and cannot be configured';
  return undefined;
}
