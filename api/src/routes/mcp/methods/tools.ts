import type { IncomingHttpHeaders } from 'node:http';
import {
  type CatalogTool,
  type EndpointList,
  type Era,
  GatewayError,
  type JsonObject,
  type ToolInvocation,
  callTool,
  listEndpointTools,
  routeTool,
} from '@behalf/gateway';
import { isObject } from '@behalf/kernel';
import { decodeHeaderValue, headerMismatchFault } from '../era.ts';
import { type McpRequest, type Method, createMcpInbound } from '../request.ts';
import { invalidParams } from '../rpc.ts';
import { listResult } from './listResult.ts';
import { CALL_TOOL, SEARCH_TOOL, createSearchTools, searchToolDefinitions } from './searchTools.ts';
import { type MethodParts, createServerCallRunner } from './serverCallRunner.ts';

/** `tools/list` and `tools/call`, also for endpoints in search mode. */
export function toolMethods(parts: MethodParts): Readonly<Record<string, Method>> {
  const { servers, results, requestIds } = parts;
  const runner = createServerCallRunner(parts);
  const searchTools = createSearchTools(parts);

  /** Runs a tool by its public name. `isDirect`: the client called it itself, not through `call_tool`. */
  async function runTool(
    mcpRequest: McpRequest,
    { name, arguments: args = {} }: JsonObject,
    isDirect = true,
  ): Promise<string> {
    const { endpoint, era } = mcpRequest;
    if (typeof name !== 'string') throw invalidParams('params.name must be a string');
    if (!isObject(args)) throw invalidParams('params.arguments must be an object');
    const input = runner.toInbound(mcpRequest);
    const routing = routeTool(servers, input.inbound, endpoint, name);
    const routed = routing instanceof Promise ? await routing : routing;
    // The headers repeat the arguments of `call_tool` itself, not those of the tool that it runs.
    const hasParamHeaders = isDirect && era === 'modern';
    if (hasParamHeaders && routed.tool?.mirror) checkParamHeaders(mcpRequest, routed.tool.mirror, args);
    const params = hasParamHeaders ? forwardedParams(mcpRequest.headers) : undefined;
    const tool: ToolInvocation = {
      server: routed.server,
      tool: routed.name,
      args,
      ...(params && { paramHeaders: params }),
    };
    const target = { server: routed.server, operation: `tool ${routed.name}` };
    return withErrorResult(era, isCallError, () =>
      runner.run(mcpRequest, target, input, (inbound) => callTool(servers, tool, inbound)),
    );
  }

  async function callOrSearch(mcpRequest: McpRequest): Promise<string> {
    const { params, era } = mcpRequest;
    const toolName = params['name'];
    if (toolName !== SEARCH_TOOL && toolName !== CALL_TOOL) return runTool(mcpRequest, params);
    return withErrorResult(era, isSearchError, async () => {
      if (toolName === SEARCH_TOOL) return searchTools.search(mcpRequest, params['arguments'] ?? {});
      return runTool(mcpRequest, searchTools.readCall(params), false);
    });
  }

  /** Converts some errors to failed tool results, so that the model reads them. */
  async function withErrorResult(
    era: Era,
    isErrorResult: (error: GatewayError, era: Era) => boolean,
    work: () => Promise<string>,
  ): Promise<string> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof GatewayError && isErrorResult(error, era))
        return results.fromGateway(era, errorResult(error));
      throw error;
    }
  }

  return {
    async 'tools/list'(mcpRequest) {
      const { endpoint, era } = mcpRequest;
      if (endpoint.search) return listResult(parts, mcpRequest, 'tools', SEARCH_TOOLS_LIST);
      const inbound = createMcpInbound(mcpRequest, requestIds());
      const list = await listEndpointTools(servers, inbound, endpoint);
      const items = era === 'legacy' ? list.items.map(withoutModernSchema) : list.items;
      return listResult(parts, mcpRequest, 'tools', { ...list, items });
    },
    'tools/call': (mcpRequest) =>
      mcpRequest.endpoint.search ? callOrSearch(mcpRequest) : runTool(mcpRequest, mcpRequest.params),
  };
}

/** The list of an endpoint in search mode never changes. */
const SEARCH_TOOLS_LIST: EndpointList = {
  items: searchToolDefinitions,
  missing: [],
  hasChangeNotifications: true,
};

/** For `call_tool`, the tool name is an argument, which a model can correct like any other. */
function isSearchError({ code }: GatewayError): boolean {
  return code === 'MCP_ARGUMENTS_INVALID' || code === 'MCP_TOOL_NOT_FOUND';
}

/**
 * A model can correct invalid arguments. The user of a legacy client that supports no dialogue learns why the call failed; the
 * modern era has an error code for missing client capabilities.
 */
function isCallError({ code }: GatewayError, era: Era): boolean {
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

/** Removes an output schema that is no object schema: only the modern era allows it. */
function withoutModernSchema(tool: JsonObject): JsonObject {
  const { outputSchema, ...rest } = tool;
  return isObject(outputSchema) && outputSchema['type'] === 'object' ? tool : rest;
}

type Mirror = NonNullable<CatalogTool['mirror']>;

/**
 * Checks the `Mcp-Param-*` headers that a tool requires against the arguments (MCP 2026-07-28). A proxy may already have acted on
 * a header that differs from the body. The gateway itself uses only the body.
 */
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
  for (const name of mirror.listAbsent(args))
    if (headers[name] !== undefined)
      throw headerMismatchFault(`${name} repeats an argument that is not in the body`);
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

function isSameNumber(a: string, b = ''): boolean {
  return DECIMAL.test(a) && DECIMAL.test(b) && Number(a) === Number(b);
}

/** The prefix and a token (RFC 9110 section 5.6.2), lowercased by Node. */
const NAME_PATTERN = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;
/** Printable ASCII and tabs, which include base64. */
const VALUE_PATTERN = /^[\x20-\x7e\t]*$/;
const MAX_PARAMS = 32;
const MAX_VALUE_LENGTH = 4_096;

/**
 * The `Mcp-Param-*` headers of a request, which the gateway forwards to the server. The prefix excludes credentials and headers
 * with a meaning for HTTP or MCP. Malformed and excess headers are dropped.
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
