import type { IncomingHttpHeaders } from 'node:http';
import {
  type CatalogTool,
  type EndpointList,
  GatewayError,
  type JsonObject,
  type ToolInvocation,
  callTool,
  listEndpointTools,
  routeTool,
} from '@behalf/gateway';
import { decodeHeaderValue, headerMismatchFault } from '../era.ts';
import { type McpRequest, type Method, createMcpInbound } from '../request.ts';
import { RpcFault, isObject, rpcCode } from '../rpc.ts';
import { listResult } from './listResult.ts';
import { CALL_TOOL, SEARCH_TOOL, createSearchTools, searchToolDefinitions } from './searchTools.ts';
import { type MethodParts, createServerCallRunner } from './serverCallRunner.ts';

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

type Mirror = NonNullable<CatalogTool['mirror']>;

/** What a tool wants repeated in headers has to be there and to be the same. Decided is by the body alone. */
function checkParamHeaders({ headers }: Pick<McpRequest, 'headers'>, mirror: Mirror, args: JsonObject): void {
  for (const [name, encoded] of Object.entries(mirror(args))) {
    const headerValue = headers[name];
    if (typeof headerValue !== 'string') throw headerMismatchFault(`${name} is missing`);
    const value = decodeHeaderValue(encoded);
    const decoded = decodeHeaderValue(headerValue);
    if (decoded === undefined) throw headerMismatchFault(`${name} is not encoded correctly`);
    if (decoded !== value && !isSameNumber(decoded, value))
      throw headerMismatchFault(`${name} does not match the body`);
  }
  // Somebody may have acted on it already, and the server would act on something else.
  for (const name of mirror.listAbsent(args))
    if (headers[name] !== undefined)
      throw headerMismatchFault(`${name} repeats an argument that is not in the body`);
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

function isSameNumber(a: string, b = ''): boolean {
  return DECIMAL.test(a) && DECIMAL.test(b) && Number(a) === Number(b);
}

/** A token after the prefix (RFC 9110, section 5.6.2), in the lower case of Node. */
const NAME_PATTERN = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;
/** What a value of these may consist of; base64 is of it too. */
const VALUE_PATTERN = /^[\x20-\x7e\t]*$/;
const MAX_PARAMS = 32;
const MAX_VALUE_LENGTH = 4_096;

/**
 * The `mcp-param-*` of a request, to be sent on where a tool does not know them. By their prefix they are nothing else: no
 * credential, and nothing that the protocol itself or what carries it reads. What could not be one, or is too much, stays here.
 */
function forwardedParams(headers: IncomingHttpHeaders): Readonly<Record<string, string>> | undefined {
  let params: Record<string, string> | undefined;
  let remaining = MAX_PARAMS;
  for (const name in headers) {
    if (!name.startsWith('mcp-param-')) continue;
    const value = headers[name];
    if (
      typeof value !== 'string' ||
      value.length > MAX_VALUE_LENGTH ||
      !NAME_PATTERN.test(name) ||
      !VALUE_PATTERN.test(value)
    )
      continue;
    if (remaining <= 0) break;
    remaining -= 1;
    params = { ...params, [name]: value };
  }
  return params;
}
