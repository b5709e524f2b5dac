import type { JsonObject } from '@behalf/gateway';
import type { HotExchange } from '../http.ts';
import { endpointKey, type DoorEndpoint } from './doorEndpoint.ts';
import { isObject, type RpcRequest } from './message.ts';
import { serverCapabilities, type OpeningParts } from './methods/opening.ts';
import { resultText, RpcFault, rpcCode } from './rpcFault.ts';
import type { McpSessions } from './session/sessions.ts';
import { isLegacyVersion, legacyVersions, URL_ELICITATION_VERSION } from './versions.ts';

export interface InitializeParts extends OpeningParts {
  readonly sessions: Pick<McpSessions, 'begin'>;
}

export type Initialize = (
  exchange: HotExchange,
  endpoint: DoorEndpoint,
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
    const agreed = { version, capabilities: known(capabilities, version) };
    const session = sessions.begin(caller, endpointKey(endpoint), agreed);
    const text = instructions(caller, endpoint);
    const result = results.own('legacy', {
      protocolVersion: version,
      capabilities: version >= '2025-03-26' ? serverCapabilities : withoutCompletions(serverCapabilities),
      serverInfo: info,
      ...(text !== undefined && { instructions: text }),
    });
    json(200, resultText(id, result), ['Mcp-Session-Id', session.id]);
  };
}

/** What can be made use of. The rest would only make the id longer, which is sent with every request. */
function known({ elicitation, sampling, roots }: JsonObject, version: string): JsonObject {
  return {
    ...(isObject(elicitation) && {
      elicitation: flags(elicitation, version >= URL_ELICITATION_VERSION ? ['form', 'url'] : ['form']),
    }),
    ...(isObject(sampling) && { sampling: flags(sampling, ['context', 'tools']) }),
    ...(isObject(roots) && { roots: {} }),
  };
}

function flags(said: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => isObject(said[name])).map((name) => [name, {}]));
}

function withoutCompletions({ completions: _, ...others }: JsonObject): JsonObject {
  return others;
}
