import { callTool, GatewayError, listEndpointTools, routeTool, type Json } from '@behalf/gateway';
import type { Asked, Method } from '../asked.ts';
import { mismatch } from '../era.ts';
import { decodeHeaderValue } from '../headerValue.ts';
import { mcpInbound } from '../mcpInbound.ts';
import { isObject } from '../message.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import { createCallMethod } from './callMethod.ts';
import { listResult } from './listResult.ts';
import type { MethodParts } from './methodParts.ts';

export function toolMethods(parts: MethodParts): Readonly<Record<string, Method>> {
  const { servers, results, requestIds } = parts;
  const calling = createCallMethod(parts);
  return {
    async 'tools/list'(asked) {
      const listed = await listEndpointTools(servers, mcpInbound(asked, requestIds()), asked.endpoint);
      const items = asked.era === 'legacy' ? listed.items.map(asBefore) : listed.items;
      return listResult(parts, asked, 'tools', { ...listed, items });
    },
    async 'tools/call'(asked) {
      const { endpoint, params, era } = asked;
      const { name, arguments: args = {} } = params;
      if (typeof name !== 'string') throw new RpcFault(rpcCode.invalidParams, 'params.name must be a string');
      if (!isObject(args)) throw new RpcFault(rpcCode.invalidParams, 'params.arguments must be an object');
      const given = calling.inboundOf(asked);
      const routing = routeTool(servers, given.inbound, endpoint, name);
      const routed = routing instanceof Promise ? await routing : routing;
      if (era === 'modern' && routed.tool?.mirror) checkParams(asked, routed.tool.mirror(args));
      try {
        return await calling.run(
          asked,
          { server: routed.server, what: `tool ${routed.name}` },
          given,
          (inbound) => callTool(servers, { server: routed.server, tool: routed.name, args }, inbound),
        );
      } catch (error) {
        if (error instanceof GatewayError && isResult(error, era)) return results.own(era, failed(error));
        throw error;
      }
    },
  };
}

/**
 * A model can put wrong arguments right, and a user of a client that cannot be asked has to know why nothing happens: both
 * are told as a failed tool tells it. The modern era has errors for what a client cannot be asked.
 */
function isResult({ code }: GatewayError, era: Asked['era']): boolean {
  return code === 'MCP_ARGUMENTS_INVALID' || (code === 'MCP_DIALOGUE_UNSUPPORTED' && era === 'legacy');
}

function failed({ code, detail, errors = [] }: GatewayError): Json {
  const lines = errors.map(({ path, message }) => `${path === '' ? 'arguments' : path}: ${message}`);
  return {
    content: [{ type: 'text', text: [detail, ...lines].join('\n') }],
    isError: true,
    _meta: { 'behalf/error': { code, errors } },
  };
}

/** What a tool wants repeated in headers has to be there and to be the same. Decided is by the body alone. */
function checkParams({ headers }: Asked, expected: Readonly<Record<string, string>>): void {
  for (const [name, encoded] of Object.entries(expected)) {
    const said = headers[name];
    if (typeof said !== 'string') throw mismatch(`${name} is missing`);
    const value = decodeHeaderValue(encoded);
    const given = decodeHeaderValue(said);
    if (given === undefined) throw mismatch(`${name} is not encoded as it should be`);
    if (given !== value && !sameNumber(given, value)) throw mismatch(`${name} is not what the body says`);
  }
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

function sameNumber(one: string, other = ''): boolean {
  return DECIMAL.test(one) && DECIMAL.test(other) && Number(one) === Number(other);
}

/** A schema of a result that is no object is of the modern era. */
function asBefore(tool: Json): Json {
  const { outputSchema, ...rest } = tool;
  return isObject(outputSchema) && outputSchema['type'] === 'object' ? tool : rest;
}
