import { ToolCallRequest } from '@behalf/contracts';
import { callTool, GatewayError, shapeResult, type CallParts } from '@behalf/gateway';
import type { FastRoute } from '../../http/routes.ts';
import { parseBody } from '../../middleware/body.ts';
import { rawText, type ServerResponder } from './serverResponder.ts';

const FORMATS = ['raw', 'openai', 'anthropic'] as const;
type Format = (typeof FORMATS)[number];

export function callToolRoute(parts: CallParts, respond: ServerResponder): FastRoute {
  return {
    method: 'post',
    path: '/api/mcp/servers/:serverName/tools/:toolName/call',
    access: 'caller',
    scope: 'mcp',
    handleFast(exchange) {
      const { serverName: server = '', toolName: tool = '' } = exchange.params;
      const format = readFormat(exchange.query);
      const { arguments: args, request } = readCall(exchange.body);
      return respond(exchange, {
        server,
        operation: `tool ${tool}`,
        request,
        work: (inbound) => callTool(parts, { server, tool, args }, inbound),
        serialize: (response) =>
          format === 'raw' ? rawText(response) : JSON.stringify(shapeResult(response.result, format)),
      });
    },
  };
}

function readFormat(query: string): Format {
  if (query === '') return 'raw';
  const requested = new URLSearchParams(query).get('format') ?? 'raw';
  const format = FORMATS.find((known) => known === requested);
  if (format) return format;
  throw new GatewayError('REQUEST_INVALID', {
    errors: [{ path: 'format', code: 'wrong_value', message: `must be one of ${FORMATS.join(', ')}` }],
  });
}

/** The schema copies what it checks; the usual body is plain enough to be seen at a glance. */
function readCall(body: unknown): ToolCallRequest {
  if (isObject(body) && isObject(body['arguments'])) {
    let hasOnlyArguments = true;
    for (const key in body) if (key !== 'arguments') hasOnlyArguments = false;
    if (hasOnlyArguments) return { arguments: body['arguments'] };
  }
  return parseBody(body, ToolCallRequest);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
