import {
  type AllowedServer,
  ENTERPRISE_MANAGED,
  type EndpointParts,
  type JsonObject,
  type Principal,
  endpointServers,
  getServerInstructions,
  tasksCapability,
} from '@behalf/gateway';
import { isObject } from '@behalf/kernel';
import type { FastExchange } from '../../../http/route.ts';
import { type ClientEndpoint, endpointKey } from '../endpoint.ts';
import { MODERN_VERSION, URL_ELICITATION_VERSION, isLegacyVersion, legacyVersions } from '../era.ts';
import type { Method } from '../request.ts';
import type { ResultJson, ServerInfo } from '../results.ts';
import { RpcFault, type RpcRequest, rpcCode, rpcResultText } from '../rpc.ts';
import type { McpSessions } from '../session/sessions.ts';
import { CALL_TOOL, SEARCH_TOOL } from './searchTools.ts';

/** Every endpoint declares all capabilities. Whether a server supports a method is known only when it is called. */
const serverCapabilities: JsonObject = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};

interface ServerInfoParts {
  readonly results: ResultJson;
  readonly info: ServerInfo;
  readonly instructions: Instructions;
  /** Whether the authorization server of the gateway accepts identity assertions (ID-JAG) of an identity provider. */
  readonly acceptsIdJags: boolean;
}

/** `server/discover` (MCP 2026-07-28). The instructions depend on the servers that the caller may use, so the result is private. */
export function discoverMethod({ results, instructions, acceptsIdJags }: ServerInfoParts): Method {
  const { extensions } = tasksCapability as { extensions: JsonObject };
  const allExtensions = acceptsIdJags ? { ...extensions, [ENTERPRISE_MANAGED]: {} } : extensions;
  return (mcpRequest) => {
    const text = instructions(mcpRequest.caller, mcpRequest.endpoint);
    return results.fromGateway('modern', {
      supportedVersions: [MODERN_VERSION],
      capabilities: { ...serverCapabilities, extensions: allExtensions },
      ...(text !== undefined && { instructions: text }),
      ttlMs: 0,
      cacheScope: 'private',
    });
  };
}

export type Initialize = (
  exchange: FastExchange,
  endpoint: ClientEndpoint,
  request: RpcRequest,
) => Promise<void>;

/** `initialize` of legacy revisions: negotiates the revision and the capabilities, and starts a session. */
export function createInitialize({
  sessions,
  results,
  info,
  instructions,
}: ServerInfoParts & { readonly sessions: Pick<McpSessions, 'begin'> }): Initialize {
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
    const session = sessions.begin(caller, endpointKey(endpoint), {
      version,
      capabilities: pickSupported(capabilities, version),
    });
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

/** The client capabilities that the gateway uses. The session id contains them, and clients send it with every request. */
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

/** The `instructions` of an endpoint. Undefined if no server has any. */
type Instructions = (caller: Principal, endpoint: ClientEndpoint) => string | undefined;

const MAX_LENGTH = 16_000;
const MAX_SERVER_TEXT_LENGTH = 2_500;
const MAX_LINE_LENGTH = 120;
const MAX_SERVER_LIST_LENGTH = 6_000;

/**
 * Joins the instructions of all servers: the text of the operator, or of the server itself. Each line of a server's text is
 * quoted, so that a server cannot imitate the text of the operator or of another server (prompt injection).
 */
export function createInstructions(parts: EndpointParts): Instructions {
  return (caller, endpoint) => {
    const servers = endpointServers(parts, caller, endpoint);
    const texts = servers.flatMap((server) => {
      const serverText = getServerInstructions(parts, caller, server);
      if (!serverText) return [];
      if (endpoint.kind === 'one') return [serverText.text];
      if (serverText.source === 'operator') return [`## ${server.name}\n${serverText.text}`];
      return [`## ${server.name} (text provided by that server)\n${quoteLines(serverText.text)}`];
    });
    if (endpoint.search) texts.unshift(searchInstructions(servers));
    const joined = texts.join('\n\n').slice(0, MAX_LENGTH);
    return joined === '' ? undefined : joined;
  };
}

function quoteLines(text: string): string {
  return text.replace(/^/gm, '> ').slice(0, MAX_SERVER_TEXT_LENGTH);
}

/** In search mode a model sees two tools only. The instructions list the servers whose tools it can find. */
function searchInstructions(servers: readonly AllowedServer[]): string {
  const lines: string[] = [];
  let length = 0;
  for (const { name, source, settings } of servers) {
    const summary = source === 'user' ? undefined : settings.description?.split('\n', 1)[0];
    const line = summary ? `- ${name}: ${summary.slice(0, MAX_LINE_LENGTH)}` : `- ${name}`;
    length += line.length;
    if (length > MAX_SERVER_LIST_LENGTH) break;
    lines.push(line);
  }
  const omitted = servers.length - lines.length;
  return [
    `The tools of the servers below are not listed. Find them with ${SEARCH_TOOL}: describe what you want to do, and name the server if you know it.`,
    `Then run one with ${CALL_TOOL}, using the name from the result and arguments that match its inputSchema. Search again with different words or a larger limit before you conclude that something cannot be done.`,
    ...['', 'Servers:', ...lines, ...(omitted > 0 ? [`and ${omitted} more`] : [])],
  ].join('\n');
}
