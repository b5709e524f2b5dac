import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '@behalf/gateway';
import { RpcFault, type RpcNotification, type RpcRequest, isObject, rpcCode } from './rpc.ts';

/** What a modern request says of its client, each time anew. */
export interface ModernEnvelope {
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
}

/**
 * Which era a message is of: by what stands in its body, never by who sends it. The headers repeat the body for those
 * who stand between; where they disagree nobody can say which one somebody has already acted on, so it is refused.
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
  // Of a revision before this one: that it says so here means nothing there.
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
  // One that nobody knows would stand below all others: its client would hear everything.
  if (logLevel !== undefined && !isLogLevel(logLevel))
    throw invalidEnvelope(`${metaKey.logLevel} is not a log level`);
  return { capabilities, logLevel };
}

const EMPTY_ENVELOPE: ModernEnvelope = { capabilities: {}, logLevel: undefined };

/** Which field of a request `Mcp-Name` repeats. */
const nameFieldByMethod: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** Of notifications the revision does not say which headers they have: what is there has to be right. */
function checkMethodHeader(headers: IncomingHttpHeaders, { method }: { method: string }): void {
  const methodHeader = singleHeader(headers, 'mcp-method');
  if (methodHeader !== undefined && methodHeader !== method)
    throw headerMismatchFault('Mcp-Method does not match the method in the body');
}

/** Of a request all of them have to be there. */
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

/** Two of one name are no value that anybody could agree on. */
export function singleHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  if (Array.isArray(value)) throw headerMismatchFault(`${name} occurs more than once`);
  return value;
}

/** The revision without sessions. */
export const MODERN_VERSION = '2026-07-28';

/** Those with sessions, the newest first. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
export type LegacyVersion = (typeof legacyVersions)[number];

/** The one revision with several messages in one body. */
export const BATCH_VERSION: LegacyVersion = '2025-03-26';

/** The first with sign-ins by address: `elicitation.url` and -32042. */
export const URL_ELICITATION_VERSION: LegacyVersion = '2025-11-25';

export function isLegacyVersion(version: string): version is LegacyVersion {
  return (legacyVersions as readonly string[]).includes(version);
}

/** Revisions are dates: whatever comes after the last legacy one is of the modern era, known to us or not. */
function isModernVersion(version: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= MODERN_VERSION;
}

const MCP_PREFIX = 'io.modelcontextprotocol/';

/** Where modern messages say what used to be said once for a session. */
export const metaKey = {
  version: `${MCP_PREFIX}protocolVersion`,
  capabilities: `${MCP_PREFIX}clientCapabilities`,
  clientInfo: `${MCP_PREFIX}clientInfo`,
  logLevel: `${MCP_PREFIX}logLevel`,
  serverInfo: `${MCP_PREFIX}serverInfo`,
  subscription: `${MCP_PREFIX}subscriptionId`,
} as const;

/** A header value as the body has it: what a header cannot carry comes as base64. Undefined when it is malformed. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!value.startsWith('=?base64?') || !value.endsWith('?=')) return value;
  const encoded = value.slice(9, -2);
  const bytes = Buffer.from(encoded, 'base64');
  // The decoder skips what it does not know: only the one canonical spelling counts.
  if (bytes.toString('base64') !== encoded) return undefined;
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined;
}

/** The levels of RFC 5424, by which clients say how much they want to hear; the least first. */
export const logLevels: readonly string[] = [
  ...['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'],
];

export function isLogLevel(level: unknown): level is string {
  return typeof level === 'string' && logLevels.includes(level);
}
