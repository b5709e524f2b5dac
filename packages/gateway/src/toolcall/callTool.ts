/**
 * The pipeline of one tool call: resolve, authorize, find the tool, check the arguments, require approval, obtain the
 * credential, send, retry, outcome, audit. Steps that can refuse the call without cost run first.
 */
import type { Diagnostic } from '@behalf/contracts';
import type { AllowedServer } from '../access/allowedServer.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type EnforceParts, enforceApproval } from '../tools/approvals.ts';
import { type CatalogTool, ownerKey } from '../tools/catalog.ts';
import { type PolicyParts, decideTool, isToolAvailable } from '../tools/policy.ts';
import { toGatewayError } from '../upstream/toGatewayError.ts';
import type { HeaderValues, JsonObject } from '../upstream/upstream.ts';
import { UpstreamError, needsClientInput } from '../upstream/upstreamError.ts';
import type { ArgumentValidator } from './arguments.ts';
import { type AuditContext, type AuditParts, recordAudit, reserveAuditSlot } from './audit.ts';
import {
  type PrepareTarget,
  type PreparedTarget,
  type SendParts,
  createPrepareTarget,
  resolveAllowedServer,
} from './credential.ts';
import type { Inbound } from './inbound.ts';
import { type LoadToolsOptions, type LoadToolsParts, loadTools } from './list.ts';
import {
  type CallOutcome,
  type ServerOutcome,
  getSignInReason,
  toAuthRequired,
  toToolErrorResult,
} from './outcome.ts';
import { canRetry } from './retry.ts';
import { type UpstreamRequest, sendToServer } from './send.ts';

export interface CallParts extends SendParts, LoadToolsParts, AuditParts, PolicyParts, EnforceParts {
  readonly arguments: ArgumentValidator;
}

export interface ToolInvocation {
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** All `mcp-param-*` headers of the caller. */
  readonly paramHeaders?: HeaderValues;
  /** The expected id. The call fails if another server now has the name. */
  readonly serverId?: string;
}

/** Calls a tool and records one audit event. */
export function callTool(parts: CallParts, call: ToolInvocation, inbound: Inbound): Promise<CallOutcome> {
  const { server, tool, args } = call;
  return recordAudit(parts, inbound, { action: 'tool.call', server, tool, args }, (auditContext) =>
    executeCall(parts, call, inbound, auditContext),
  );
}

/** Calls a tool. The caller of this function records the audit event. */
export async function executeCall(
  parts: CallParts,
  call: ToolInvocation,
  inbound: Inbound,
  auditContext: AuditContext,
): Promise<CallOutcome> {
  const server = resolveAllowedServer(parts, inbound, call.server, 'MCP_TOOL_NOT_FOUND');
  if (call.serverId !== undefined && server.id !== call.serverId)
    throw new GatewayError('MCP_TOOL_NOT_FOUND');
  auditContext.server = server;
  reserveAuditSlot(parts, server, auditContext);
  // A listing during the call prepares the credential too. The call uses the latest one.
  let prepared: Promise<PreparedTarget> | undefined;
  const prepareTarget = createPrepareTarget(parts, server, inbound);
  const obtain: PrepareTarget = (signal) => (prepared = prepareTarget(signal));
  const context = { parts, server, call, inbound, obtain };
  try {
    const tool = peekTool(context) ?? (await findTool(context, { refresh: 'if-old' }));
    const approval = requireApproval(context, tool);
    if (approval) await approval;
    const target = await (prepared ?? obtain());
    auditContext.isPrepared = true;
    return await sendCall(context, target, tool);
  } catch (error) {
    return toAuthRequired(error, server);
  }
}

interface ToolCallContext {
  readonly parts: CallParts;
  readonly server: AllowedServer;
  readonly call: ToolInvocation;
  readonly inbound: Inbound;
  readonly obtain: PrepareTarget;
}

/** The cached tool, if it is available and the arguments are valid. Then the call needs no listing. */
function peekTool(context: ToolCallContext): CatalogTool | undefined {
  const { parts, server, call, inbound } = context;
  const tool = parts.catalog.peek(server, ownerKey(server, inbound.principal))?.find(call.tool);
  return tool && isAvailable(context, tool) && !findArgumentErrors(context, tool) ? tool : undefined;
}

/** Lists the tools first: the tool may be new, its schema may have changed, or this is the first call. */
async function findTool(context: ToolCallContext, options: LoadToolsOptions): Promise<CatalogTool> {
  const { parts, server, call, inbound, obtain } = context;
  const list = await loadTools(parts, server, obtain, inbound, options).catch((error: unknown) => {
    // A JSON-RPC error of `tools/list` must not become a failed tool result.
    throw getSignInReason(error, server) === undefined ? toGatewayError(error, server.name) : error;
  });
  const tool = list.find(call.tool);
  if (!tool || !isAvailable(context, tool)) throw new GatewayError('MCP_TOOL_NOT_FOUND');
  const errors = findArgumentErrors(context, tool);
  if (errors) throw new GatewayError('MCP_ARGUMENTS_INVALID', { errors });
  return tool;
}

function isAvailable({ parts, server, inbound }: ToolCallContext, tool: CatalogTool): boolean {
  return isToolAvailable(parts.policy(), inbound.principal, server, tool);
}

/** Rejects unless the user approved this call, if the policy requires approval. */
function requireApproval(
  { parts, server, call, inbound }: ToolCallContext,
  tool: CatalogTool,
): Promise<void> | undefined {
  const { principal, door } = inbound;
  if (decideTool(parts.policy(), principal, server, tool) !== 'ask') return undefined;
  // Service principals have no user who can approve.
  if (principal.kind !== 'user') throw new GatewayError('MCP_TOOL_NOT_FOUND');
  return enforceApproval(parts, { principal, server, tool, args: call.args, door });
}

function findArgumentErrors(
  { parts, server, call }: ToolCallContext,
  tool: CatalogTool,
): Diagnostic[] | null {
  return parts.arguments.validate({ serverId: server.id, toolName: tool.name }, tool.inputSchema, call.args);
}

async function sendCall(
  context: ToolCallContext,
  prepared: PreparedTarget,
  tool: CatalogTool,
): Promise<ServerOutcome> {
  const { parts, server, call, inbound } = context;
  const toRequest = (currentTool: CatalogTool): UpstreamRequest => ({
    method: 'tools/call',
    params: { name: currentTool.name, arguments: call.args },
    mirroredHeaders: currentTool.mirror?.(call.args),
    passedHeaders: call.paramHeaders && withoutMirrored(currentTool, call.paramHeaders),
  });
  try {
    return await sendToServer(parts, prepared, toRequest(tool), inbound, async (error) => {
      if (canRetry(error, server, tool)) return toRequest(tool);
      // The tool declares other parameter headers than the cached definition: list again and repeat the call.
      if (!isHeaderMismatch(error)) return undefined;
      const changedTool = await findTool(context, { refresh: true });
      // An approval covers the definition that the user saw.
      await requireApproval(context, changedTool);
      return toRequest(changedTool);
    });
  } catch (error) {
    const errorResult = toToolErrorResult(error, prepared);
    if (errorResult) return errorResult;
    throw error;
  }
}

/** The gateway writes the headers that repeat arguments itself and forwards only the other ones. */
function withoutMirrored({ mirror }: CatalogTool, paramHeaders: HeaderValues): HeaderValues {
  return mirror
    ? Object.fromEntries(Object.entries(paramHeaders).filter(([name]) => !mirror.headers.has(name)))
    : paramHeaders;
}

function isHeaderMismatch(error: unknown): boolean {
  return error instanceof UpstreamError && error.reason === 'header_mismatch' && !needsClientInput(error);
}
