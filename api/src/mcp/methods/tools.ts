import {
  callTool,
  GatewayError,
  listEndpointTools,
  routeTool,
  type EndpointList,
  type JsonObject,
  type ToolInvocation,
} from '@behalf/gateway';
import type { Asked, Method } from '../asked.ts';
import { mcpInbound } from '../mcpInbound.ts';
import { isObject } from '../message.ts';
import { checkParams, sentParams } from '../paramHeaders.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import { createCallMethod } from './callMethod.ts';
import { listResult } from './listResult.ts';
import type { MethodParts } from './methodParts.ts';
import { createSearching } from './searching.ts';
import { CALL_TOOL, SEARCH_TOOL, searchingTools } from './searchingTools.ts';

export function toolMethods(parts: MethodParts): Readonly<Record<string, Method>> {
  const { servers, results, requestIds } = parts;
  const calling = createCallMethod(parts);
  const searching = createSearching(parts);

  /** Runs the tool of this name; `asked` stays what the client sent, whoever named the tool. */
  async function call(
    asked: Asked,
    { name, arguments: args = {} }: JsonObject,
    direct = true,
  ): Promise<string> {
    const { endpoint, era } = asked;
    if (typeof name !== 'string') throw new RpcFault(rpcCode.invalidParams, 'params.name must be a string');
    if (!isObject(args)) throw new RpcFault(rpcCode.invalidParams, 'params.arguments must be an object');
    const given = calling.inboundOf(asked);
    const routing = routeTool(servers, given.inbound, endpoint, name);
    const routed = routing instanceof Promise ? await routing : routing;
    // Headers repeat what the client itself called: what is called through another tool has none.
    if (direct && era === 'modern' && routed.tool?.mirror) checkParams(asked, routed.tool.mirror, args);
    const params = direct && era === 'modern' ? sentParams(asked.headers) : undefined;
    const tool: ToolInvocation = {
      server: routed.server,
      tool: routed.name,
      args,
      ...(params && { paramHeaders: params }),
    };
    try {
      return await calling.run(
        asked,
        { server: routed.server, what: `tool ${routed.name}` },
        given,
        (inbound) => callTool(servers, tool, inbound),
      );
    } catch (error) {
      if (error instanceof GatewayError && isResult(error, era)) return results.own(era, failed(error));
      throw error;
    }
  }

  async function callOrSearch(asked: Asked): Promise<string> {
    const { params, era } = asked;
    const named = params['name'];
    if (named !== SEARCH_TOOL && named !== CALL_TOOL) return call(asked, params);
    try {
      if (named === SEARCH_TOOL) return await searching.search(asked, params['arguments'] ?? {});
      return await call(asked, searching.wantedBy(params), false);
    } catch (error) {
      if (error instanceof GatewayError && isOurs(error)) return results.own(era, failed(error));
      throw error;
    }
  }

  return {
    async 'tools/list'(asked) {
      if (asked.endpoint.search) return listResult(parts, asked, 'tools', OURS);
      const listed = await listEndpointTools(servers, mcpInbound(asked, requestIds()), asked.endpoint);
      const items = asked.era === 'legacy' ? listed.items.map(asBefore) : listed.items;
      return listResult(parts, asked, 'tools', { ...listed, items });
    },
    'tools/call': (asked) => (asked.endpoint.search ? callOrSearch(asked) : call(asked, asked.params)),
  };
}

/** They are always the same. */
const OURS: EndpointList = { items: searchingTools, missing: [], hasChangeNotifications: true };

/** Of a tool of ours the name of another is an argument, which a model can put right like any other. */
function isOurs({ code }: GatewayError): boolean {
  return code === 'MCP_ARGUMENTS_INVALID' || code === 'MCP_TOOL_NOT_FOUND';
}

/**
 * A model can put wrong arguments right, and a user of a client that cannot be asked has to know why nothing happens: both
 * are told as a failed tool tells it. The modern era has errors for what a client cannot be asked.
 */
function isResult({ code }: GatewayError, era: Asked['era']): boolean {
  return code === 'MCP_ARGUMENTS_INVALID' || (code === 'MCP_DIALOGUE_UNSUPPORTED' && era === 'legacy');
}

function failed({ code, detail, errors = [] }: GatewayError): JsonObject {
  const lines = errors.map(({ path, message }) => `${path === '' ? 'arguments' : path}: ${message}`);
  return {
    content: [{ type: 'text', text: [detail, ...lines].join('\n') }],
    isError: true,
    _meta: { 'behalf/error': { code, errors } },
  };
}

/** A schema of a result that is no object is of the modern era. */
function asBefore(tool: JsonObject): JsonObject {
  const { outputSchema, ...rest } = tool;
  return isObject(outputSchema) && outputSchema['type'] === 'object' ? tool : rest;
}
