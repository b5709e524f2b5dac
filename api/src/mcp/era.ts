import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '@behalf/gateway';
import { decodeHeaderValue } from './headerValue.ts';
import { isLogLevel } from './logLevels.ts';
import { isObject, type RpcNotification, type RpcRequest } from './message.ts';
import { RpcFault, rpcCode } from './rpcFault.ts';
import { isModernVersion, metaKey, MODERN_VERSION } from './versions.ts';

/** What a modern request says of its client, each time anew. */
export interface ModernClaim {
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
): ModernClaim | 'legacy' {
  const meta = message.params['_meta'];
  const said = header(headers, 'mcp-protocol-version');
  const saysModern = said !== undefined && isModernVersion(said);
  const claims = isObject(meta) && Object.hasOwn(meta, metaKey.version);
  if (!claims) {
    if (!saysModern) return 'legacy';
    if (message.kind === 'notification') return (checkMethod(headers, message), noClaim);
    if (message.method === 'initialize')
      throw mismatch('initialize belongs to the revisions before this one');
    const missing = isObject(meta) ? [metaKey.version] : ['_meta'];
    throw invalidEnvelope(`MCP-Protocol-Version names ${MODERN_VERSION}; missing: ${missing.join(', ')}`);
  }
  const version = meta[metaKey.version];
  if (typeof version !== 'string') throw invalidEnvelope(`${metaKey.version} must be a string`);
  // Of a revision before this one: that it says so here means nothing there.
  if (message.method === 'initialize' && !isModernVersion(version)) return 'legacy';
  if (said !== undefined && said !== version)
    throw mismatch('MCP-Protocol-Version is not the version in the body');
  if (version !== MODERN_VERSION) {
    throw new RpcFault(rpcCode.versionUnsupported, `This endpoint does not speak ${version.slice(0, 40)}`, {
      data: { supported: [MODERN_VERSION], requested: version },
      status: 400,
    });
  }
  checkMethod(headers, message);
  if (message.kind === 'notification') return noClaim;
  checkMirrored(headers, message);
  const { [metaKey.capabilities]: capabilities, [metaKey.logLevel]: logLevel } = meta;
  if (!isObject(capabilities)) throw invalidEnvelope(`${metaKey.capabilities} must be an object`);
  // One that nobody knows would stand below all others: its client would hear everything.
  if (logLevel !== undefined && !isLogLevel(logLevel))
    throw invalidEnvelope(`${metaKey.logLevel} is no level`);
  return { capabilities, logLevel };
}

const noClaim: ModernClaim = { capabilities: {}, logLevel: undefined };

/** Which field of a request `Mcp-Name` repeats. */
const named: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** Of notifications the revision does not say which headers they have: what is there has to be right. */
function checkMethod(headers: IncomingHttpHeaders, { method }: { method: string }): void {
  const said = header(headers, 'mcp-method');
  if (said !== undefined && said !== method) throw mismatch('Mcp-Method is not the method in the body');
}

/** Of a request all of them have to be there. */
function checkMirrored(headers: IncomingHttpHeaders, { method, params }: RpcRequest): void {
  if (header(headers, 'mcp-protocol-version') === undefined)
    throw mismatch('MCP-Protocol-Version is missing');
  if (header(headers, 'mcp-method') === undefined) throw mismatch('Mcp-Method is missing');
  const field = named.get(method);
  if (field === undefined) return;
  const value = params[field];
  const said = header(headers, 'mcp-name');
  if (said === undefined) {
    if (typeof value === 'string') throw mismatch(`Mcp-Name is missing, the body has params.${field}`);
    return;
  }
  const decoded = decodeHeaderValue(said);
  if (decoded === undefined) throw mismatch('Mcp-Name is not encoded as it should be');
  if (decoded !== value) throw mismatch(`Mcp-Name is not params.${field} of the body`);
}

export function mismatch(what: string): RpcFault {
  return new RpcFault(rpcCode.headerMismatch, `The headers do not fit the body: ${what}`, { status: 400 });
}

function invalidEnvelope(what: string): RpcFault {
  return new RpcFault(rpcCode.invalidParams, `Invalid _meta: ${what}`, { status: 400 });
}

/** Two of one name are no value that anybody could agree on. */
export function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  if (Array.isArray(value)) throw mismatch(`${name} is there twice`);
  return value;
}
