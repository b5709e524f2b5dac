import type { JsonObject } from '@behalf/gateway';
import type { FastExchange } from '../http/routes.ts';
import { endpointKey, type ClientEndpoint } from './clientEndpoint.ts';
import { isObject, type RpcRequest } from './rpcMessage.ts';
import { serverCapabilities, type ServerInfoParts } from './methods/discover.ts';
import { rpcResultText, RpcFault, rpcCode } from './rpcFault.ts';
import type { McpSessions } from './session/sessions.ts';
import { isLegacyVersion, legacyVersions, URL_ELICITATION_VERSION } from './versions.ts';

export interface InitializeParts extends ServerInfoParts {
  readonly sessions: Pick<McpSessions, 'begin'>;
}

export type Initialize = (
  exchange: FastExchange,
  endpoint: ClientEndpoint,
  request: RpcRequest,
) => Promise<void>;

/** How a legacy client begins: what it speaks, what it can, and a session for both. */
export function createInitialize({ sessions, results, info, instructions }: InitializeParts): Initialize {
  return async ({ caller, json }, endpoint, { id, params }) => {
    const { protocolVersion, capabilities } = params;
    if (typeof protocolVersion !== 'string' || !isObject(capabilities)) {
      throw new RpcFault(
        rpcCode.invalidParams,
        'params.protocolVersion must be a string and params.capabilities an object',
        { status: 400 },
      );
    }
    const version = isLegacyVersion(protocolVersion) ? protocolVersion : legacyVersions[0];
    const negotiated = { version, capabilities: pickSupported(capabilities, version) };
    const session = sessions.begin(caller, endpointKey(endpoint), negotiated);
    const text = instructions(caller, endpoint);
    const result = results.fromGateway('legacy', {
      protocolVersion: version,
      capabilities: version >= '2025-03-26' ? serverCapabilities : withoutCompletions(serverCapabilities),
      serverInfo: info,
      ...(text !== undefined && { instructions: text }),
    });
    json(200, rpcResultText(id, result), ['Mcp-Session-Id', session.id]);
  };
}

/** What can be made use of. The rest would only make the id longer, which is sent with every request. */
function pickSupported({ elicitation, sampling, roots }: JsonObject, version: string): JsonObject {
  return {
    ...(isObject(elicitation) && {
      elicitation: pickFlags(elicitation, version >= URL_ELICITATION_VERSION ? ['form', 'url'] : ['form']),
    }),
    ...(isObject(sampling) && { sampling: pickFlags(sampling, ['context', 'tools']) }),
    ...(isObject(roots) && { roots: {} }),
  };
}

function pickFlags(declared: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => isObject(declared[name])).map((name) => [name, {}]));
}

function withoutCompletions({ completions: _, ...others }: JsonObject): JsonObject {
  return others;
}
