import {
  callTool,
  GatewayError,
  listEndpointTools,
  routeTool,
  type EndpointList,
  type JsonObject,
  type ToolInvocation,
} from '@behalf/gateway';
import type { McpRequest, Method } from '../mcpRequest.ts';
import { createMcpInbound } from '../mcpInbound.ts';
import { isObject } from '../rpcMessage.ts';
import { checkParamHeaders, forwardedParams } from '../paramHeaders.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import { createServerCallRunner } from './serverCallRunner.ts';
import { listResult } from './listResult.ts';
import type { MethodParts } from './methodParts.ts';
import { createSearchTools } from './searchTools.ts';
import { CALL_TOOL, SEARCH_TOOL, searchToolDefinitions } from './searchToolDefinitions.ts';

export function toolMethods(parts: MethodParts): Readonly<Record<string, Method>> {
  const { servers, results, requestIds } = parts;
  const runner = createServerCallRunner(parts);
  const searchTools = createSearchTools(parts);

  /** Runs the tool of this name; `asked` stays what the client sent, whoever named the tool. */
  async function runTool(
    mcpRequest: McpRequest,
    { name, arguments: args = {} }: JsonObject,
    isDirect = true,
  ): Promise<string> {
    const { endpoint, era } = mcpRequest;
    if (typeof name !== 'string') throw new RpcFault(rpcCode.invalidParams, 'params.name must be a string');
    if (!isObject(args)) throw new RpcFault(rpcCode.invalidParams, 'params.arguments must be an object');
    const input = runner.toInbound(mcpRequest);
    const routing = routeTool(servers, input.inbound, endpoint, name);
    const routed = routing instanceof Promise ? await routing : routing;
    // Headers repeat what the client itself called: what is called through another tool has none.
    if (isDirect && era === 'modern' && routed.tool?.mirror)
      checkParamHeaders(mcpRequest, routed.tool.mirror, args);
    const params = isDirect && era === 'modern' ? forwardedParams(mcpRequest.headers) : undefined;
    const tool: ToolInvocation = {
      server: routed.server,
      tool: routed.name,
      args,
      ...(params && { paramHeaders: params }),
    };
    try {
      return await runner.run(
        mcpRequest,
        { server: routed.server, operation: `tool ${routed.name}` },
        input,
        (inbound) => callTool(servers, tool, inbound),
      );
    } catch (error) {
      if (error instanceof GatewayError && isErrorResult(error, era))
        return results.fromGateway(era, errorResult(error));
      throw error;
    }
  }

  async function callOrSearch(mcpRequest: McpRequest): Promise<string> {
    const { params, era } = mcpRequest;
    const toolName = params['name'];
    if (toolName !== SEARCH_TOOL && toolName !== CALL_TOOL) return runTool(mcpRequest, params);
    try {
      if (toolName === SEARCH_TOOL) return await searchTools.search(mcpRequest, params['arguments'] ?? {});
      return await runTool(mcpRequest, searchTools.readCall(params), false);
    } catch (error) {
      if (error instanceof GatewayError && isToolError(error))
        return results.fromGateway(era, errorResult(error));
      throw error;
    }
  }

  return {
    async 'tools/list'(mcpRequest) {
      if (mcpRequest.endpoint.search) return listResult(parts, mcpRequest, 'tools', SEARCH_TOOLS_LIST);
      const list = await listEndpointTools(
        servers,
        createMcpInbound(mcpRequest, requestIds()),
        mcpRequest.endpoint,
      );
      const items = mcpRequest.era === 'legacy' ? list.items.map(withoutModernSchema) : list.items;
      return listResult(parts, mcpRequest, 'tools', { ...list, items });
    },
    'tools/call': (mcpRequest) =>
      mcpRequest.endpoint.search ? callOrSearch(mcpRequest) : runTool(mcpRequest, mcpRequest.params),
  };
}

/** They are always the same. */
const SEARCH_TOOLS_LIST: EndpointList = {
  items: searchToolDefinitions,
  missing: [],
  hasChangeNotifications: true,
};

/** Of a tool of ours the name of another is an argument, which a model can put right like any other. */
function isToolError({ code }: GatewayError): boolean {
  return code === 'MCP_ARGUMENTS_INVALID' || code === 'MCP_TOOL_NOT_FOUND';
}

/**
 * A model can put wrong arguments right, and a user of a client that cannot be asked has to know why nothing happens: both
 * are told as a failed tool tells it. The modern era has errors for what a client cannot be asked.
 */
function isErrorResult({ code }: GatewayError, era: McpRequest['era']): boolean {
  return code === 'MCP_ARGUMENTS_INVALID' || (code === 'MCP_DIALOGUE_UNSUPPORTED' && era === 'legacy');
}

function errorResult({ code, detail, errors = [] }: GatewayError): JsonObject {
  const lines = errors.map(({ path, message }) => `${path === '' ? 'arguments' : path}: ${message}`);
  return {
    content: [{ type: 'text', text: [detail, ...lines].join('\n') }],
    isError: true,
    _meta: { 'behalf/error': { code, errors } },
  };
}

/** A schema of a result that is no object is of the modern era. */
function withoutModernSchema(tool: JsonObject): JsonObject {
  const { outputSchema, ...rest } = tool;
  return isObject(outputSchema) && outputSchema['type'] === 'object' ? tool : rest;
}
