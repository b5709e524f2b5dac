import { type ServerToolsView, ToolCallRequest, type ToolsView } from '@behalf/contracts';
import {
  type CallParts,
  GatewayError,
  type ListToolsParts,
  type ServerTools,
  type SingleServerTools,
  authorityOf,
  callTool,
  listDeclaredVariables,
  listServerTools,
  listTools,
  shapeResult,
} from '@behalf/gateway';
import { isObject } from '@behalf/kernel';
import { inboundOf } from '../../http/inbound.ts';
import { parseBody } from '../../http/request.ts';
import { type FastRoute, type Route, callerRoute } from '../../http/route.ts';
import type { Logger } from '../../runtime/logger.ts';
import { type ServerResponder, rawText } from './serverResponder.ts';

/** The caller's tools, grouped by server. A server that fails reports its state and does not affect the others. */
export function toolsRoute(parts: ListToolsParts, logger: Logger): Route {
  return callerRoute('get', '/api/mcp/tools', 'mcp', async (req, res, caller) => {
    const servers = await listTools(parts, inboundOf(req, res, caller));
    warnUnreachable(logger, servers);
    const view: ToolsView = {
      servers: Object.fromEntries(servers.map((entry) => [entry.server.name, serverView(entry)])),
    };
    res.json(view);
  });
}

function serverView({ server, state, code, tools, incomplete }: ServerTools): ToolsView['servers'][string] {
  return {
    name: server.name,
    title: server.settings.title ?? server.name,
    icon: server.settings.iconPath ?? '',
    authenticated: state !== 'needs_configuration' && state !== 'needs_authorization',
    authConfig: listDeclaredVariables(server.settings).map((authField) => {
      const {
        title = 'API key',
        description = '',
        sensitive = true,
      } = server.settings.customUserVars?.[authField] ?? {};
      return { authField, label: title, description, sensitive };
    }),
    tools: tools.map(({ name, title, publicName, description = '' }) => ({
      name,
      ...(title !== undefined && { title }),
      pluginKey: publicName,
      description,
      serverToolName: name,
    })),
    state,
    ...(code !== undefined && { code }),
    ...(incomplete !== undefined && { incomplete: true }),
  };
}

/** The caller's tools of one server with their schemas, as an input form needs them. */
export function serverToolsRoute(parts: ListToolsParts, logger: Logger): Route {
  return callerRoute('get', '/api/mcp/servers/:serverName/tools', 'mcp', async (req, res, caller) => {
    const serverTools = await listServerTools(parts, inboundOf(req, res, caller), req.params.serverName);
    warnUnreachable(logger, [serverTools]);
    res.json(toolsView(serverTools));
  });
}

function toolsView({
  server,
  state,
  code,
  incomplete,
  tools,
  requiringApproval,
}: SingleServerTools): ServerToolsView {
  return {
    serverName: server.name,
    title: server.settings.title ?? server.name,
    state,
    ...(code !== undefined && { code }),
    ...(incomplete !== undefined && { incomplete: true }),
    authority: authorityOf(server),
    tools: tools.map(({ name, publicName, title, description = '', ...tool }) => ({
      name,
      publicName,
      ...(title !== undefined && { title }),
      description,
      inputSchema: tool.inputSchema,
      ...(tool.outputSchema && { outputSchema: tool.outputSchema }),
      ...(tool.annotations && { annotations: tool.annotations }),
      asksFirst: requiringApproval.has(name),
    })),
  };
}

/** Callers see unreachable servers in the response; the log line is for the operator. */
function warnUnreachable(logger: Logger, servers: readonly ServerTools[]): void {
  for (const { server, state, code } of servers) {
    if (state === 'unreachable')
      logger.warn('A server cannot be reached', { server: server.name, code: code ?? '' });
  }
}

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

/** Hot path: a body with only `arguments` is accepted directly, because validation by the schema copies it. */
function readCall(body: unknown): ToolCallRequest {
  if (isObject(body) && isObject(body['arguments'])) {
    let hasOnlyArguments = true;
    for (const key in body) if (key !== 'arguments') hasOnlyArguments = false;
    if (hasOnlyArguments) return { arguments: body['arguments'] };
  }
  return parseBody(body, ToolCallRequest);
}
