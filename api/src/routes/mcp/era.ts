import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '@behalf/gateway';
import { isObject } from '@behalf/kernel';
import { RpcFault, type RpcNotification, type RpcRequest, rpcCode } from './rpc.ts';

/** The declarations of a modern request about its client (MCP 2026-07-28, `_meta`). */
export interface ModernEnvelope {
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
}

/**
 * Determines the era of a message from its body. The headers `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` repeat the body
 * for proxies (MCP 2026-07-28, Streamable HTTP). If they disagree, a proxy may have acted on another value, so the gateway refuses
 * the message.
 */
export function readEra(
  headers: IncomingHttpHeaders,
  message: RpcRequest | RpcNotification,
): ModernEnvelope | 'legacy' {
  const meta = message.params['_meta'];
  const versionHeader = singleHeader(headers, 'mcp-protocol-version');
  const isModernHeader = versionHeader !== undefined && isModernVersion(versionHeader);
  const hasVersion = isObject(meta) && Object.hasOwn(meta, metaKey.version);
  if (!hasVersion) {
    if (!isModernHeader) return 'legacy';
    if (message.kind === 'notification') return (checkMethodHeader(headers, message), EMPTY_ENVELOPE);
    if (message.method === 'initialize')
      throw headerMismatchFault('initialize belongs to earlier protocol revisions');
    const missing = isObject(meta) ? [metaKey.version] : ['_meta'];
    throw invalidEnvelope(`MCP-Protocol-Version names ${MODERN_VERSION}; missing: ${missing.join(', ')}`);
  }
  const version = meta[metaKey.version];
  if (typeof version !== 'string') throw invalidEnvelope(`${metaKey.version} must be a string`);
  // `_meta` of a legacy initialize request has no defined meaning.
  if (message.method === 'initialize' && !isModernVersion(version)) return 'legacy';
  if (versionHeader !== undefined && versionHeader !== version)
    throw headerMismatchFault('MCP-Protocol-Version does not match the version in the body');
  if (version !== MODERN_VERSION) {
    throw new RpcFault(
      rpcCode.versionUnsupported,
      `This endpoint does not support protocol version ${version.slice(0, 40)}`,
      {
        data: { supported: [MODERN_VERSION], requested: version },
        status: 400,
      },
    );
  }
  checkMethodHeader(headers, message);
  if (message.kind === 'notification') return EMPTY_ENVELOPE;
  checkMirroredHeaders(headers, message);
  const { [metaKey.capabilities]: capabilities, [metaKey.logLevel]: logLevel } = meta;
  if (!isObject(capabilities)) throw invalidEnvelope(`${metaKey.capabilities} must be an object`);
  // An unknown level would compare below all others and enable every log message.
  if (logLevel !== undefined && !isLogLevel(logLevel))
    throw invalidEnvelope(`${metaKey.logLevel} is not a log level`);
  return { capabilities, logLevel };
}

const EMPTY_ENVELOPE: ModernEnvelope = { capabilities: {}, logLevel: undefined };

/** The parameter that `Mcp-Name` repeats, by method. */
const nameFieldByMethod: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** MCP 2026-07-28 does not define the headers of notifications, so a missing header is allowed and a wrong one is refused. */
function checkMethodHeader(headers: IncomingHttpHeaders, { method }: { method: string }): void {
  const methodHeader = singleHeader(headers, 'mcp-method');
  if (methodHeader !== undefined && methodHeader !== method)
    throw headerMismatchFault('Mcp-Method does not match the method in the body');
}

/** A request must have all mirrored headers. */
function checkMirroredHeaders(headers: IncomingHttpHeaders, { method, params }: RpcRequest): void {
  if (singleHeader(headers, 'mcp-protocol-version') === undefined)
    throw headerMismatchFault('MCP-Protocol-Version is missing');
  if (singleHeader(headers, 'mcp-method') === undefined) throw headerMismatchFault('Mcp-Method is missing');
  const field = nameFieldByMethod.get(method);
  if (field === undefined) return;
  const value = params[field];
  const nameHeader = singleHeader(headers, 'mcp-name');
  if (nameHeader === undefined) {
    if (typeof value === 'string')
      throw headerMismatchFault(`Mcp-Name is missing; the body has params.${field}`);
    return;
  }
  const decoded = decodeHeaderValue(nameHeader);
  if (decoded === undefined) throw headerMismatchFault('Mcp-Name is not encoded correctly');
  if (decoded !== value) throw headerMismatchFault(`Mcp-Name is not params.${field} of the body`);
}

export function headerMismatchFault(detail: string): RpcFault {
  return new RpcFault(rpcCode.headerMismatch, `The headers do not match the body: ${detail}`, {
    status: 400,
  });
}

function invalidEnvelope(detail: string): RpcFault {
  return new RpcFault(rpcCode.invalidParams, `Invalid _meta: ${detail}`, { status: 400 });
}

/** Refuses a header that occurs twice: proxies and the gateway could read different values. */
export function singleHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  if (Array.isArray(value)) throw headerMismatchFault(`${name} occurs more than once`);
  return value;
}

/** The stateless revision. */
export const MODERN_VERSION = '2026-07-28';

/** The revisions with sessions, newest first. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
export type LegacyVersion = (typeof legacyVersions)[number];

/** The only revision with JSON-RPC batches. */
export const BATCH_VERSION: LegacyVersion = '2025-03-26';

/** The first revision with URL elicitation and the error -32042. */
export const URL_ELICITATION_VERSION: LegacyVersion = '2025-11-25';

export function isLegacyVersion(version: string): version is LegacyVersion {
  return (legacyVersions as readonly string[]).includes(version);
}

/** Revisions are dates. Every revision from 2026-07-28 on is of the modern era, also an unknown one. */
function isModernVersion(version: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= MODERN_VERSION;
}

const MCP_PREFIX = 'io.modelcontextprotocol/';

/** The `_meta` keys that replace the session state of legacy revisions. */
export const metaKey = {
  version: `${MCP_PREFIX}protocolVersion`,
  capabilities: `${MCP_PREFIX}clientCapabilities`,
  clientInfo: `${MCP_PREFIX}clientInfo`,
  logLevel: `${MCP_PREFIX}logLevel`,
  serverInfo: `${MCP_PREFIX}serverInfo`,
  subscription: `${MCP_PREFIX}subscriptionId`,
} as const;

/** Decodes a mirrored header. Values with characters outside of header syntax are base64-encoded. Undefined if malformed. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!value.startsWith('=?base64?') || !value.endsWith('?=')) return value;
  const encoded = value.slice(9, -2);
  const bytes = Buffer.from(encoded, 'base64');
  // `Buffer.from` skips invalid characters, so only the canonical encoding is accepted.
  if (bytes.toString('base64') !== encoded) return undefined;
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined;
}

/** The severity levels of RFC 5424 section 6.2.1, least severe first. */
export const logLevels: readonly string[] = [
  ...['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'],
];

export function isLogLevel(level: unknown): level is string {
  return typeof level === 'string' && logLevels.includes(level);
}
