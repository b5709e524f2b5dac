import { ToolCallRequest } from '@behalf/contracts';
import { callTool, GatewayError, shapeResult, type CallParts } from '@behalf/gateway';
import type { HotRoute } from '../../http.ts';
import { parseBody } from '../../middleware/body.ts';
import { rawText, type Answering } from './answering.ts';

const FORMATS = ['raw', 'openai', 'anthropic'] as const;
type Format = (typeof FORMATS)[number];

export function callToolRoute(parts: CallParts, answering: Answering): HotRoute {
  return {
    method: 'post',
    path: '/api/mcp/servers/:serverName/tools/:toolName/call',
    access: 'caller',
    scope: 'mcp',
    hot(exchange) {
      const { serverName: server = '', toolName: tool = '' } = exchange.params;
      const format = readFormat(exchange.query);
      const { arguments: args, request } = readCall(exchange.body);
      return answering(exchange, {
        server,
        what: `tool ${tool}`,
        request,
        work: (inbound) => callTool(parts, { server, tool, args }, inbound),
        write: (answer) =>
          format === 'raw' ? rawText(answer) : JSON.stringify(shapeResult(answer.result, format)),
      });
    },
  };
}

function readFormat(query: string): Format {
  if (query === '') return 'raw';
  const given = new URLSearchParams(query).get('format') ?? 'raw';
  const format = FORMATS.find((known) => known === given);
  if (format) return format;
  throw new GatewayError('REQUEST_INVALID', {
    errors: [{ path: 'format', code: 'wrong_value', message: `must be one of ${FORMATS.join(', ')}` }],
  });
}

/** The schema copies what it checks; the usual body is plain enough to be seen at a glance. */
function readCall(body: unknown): ToolCallRequest {
  if (isObject(body) && isObject(body['arguments'])) {
    let only = true;
    for (const key in body) if (key !== 'arguments') only = false;
    if (only) return { arguments: body['arguments'] };
  }
  return parseBody(body, ToolCallRequest);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
