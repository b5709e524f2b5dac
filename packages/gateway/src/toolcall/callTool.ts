import type { Diagnostic } from '@behalf/contracts';
import type { Catalog, CatalogTool, ToolList } from '../tools/catalog.ts';
import { createTokenRequestBudget } from '../credentials/obo/bearer.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { enforceApproval, type EnforceParts } from '../tools/approvals.ts';
import { isToolAvailable, decideTool, type PolicyParts } from '../tools/policy.ts';
import type { HeaderValues, JsonObject } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import {
  type SendParts,
  type UpstreamRequest,
  prepareCredential,
  resolveAllowedServer,
  sendToServer,
} from './send.ts';
import type { Inbound } from './inbound.ts';
import type { AllowedServer } from '../access/allowedServer.ts';
import {
  ownerKey,
  loadTools,
  type LoadToolsOptions,
  type LoadToolsParts,
  type PrepareTarget,
} from './list.ts';
import type { PreparedTarget } from './credential.ts';
import { recordAudit, reserveAuditSlot, type AuditParts, type AuditContext } from './audit.ts';
import { canRetry } from './retry.ts';
import { needsClientInput } from './dialogue.ts';
import {
  type CallOutcome,
  type ServerOutcome,
  getSignInReason,
  toAuthRequired,
  toToolErrorResult,
} from './outcome.ts';
import { toGatewayError } from '../upstream/toGatewayError.ts';
import type { ArgumentValidator } from './arguments.ts';

export interface CallParts extends SendParts, LoadToolsParts, AuditParts, PolicyParts, EnforceParts {
  readonly catalog: Catalog;
  readonly arguments: ArgumentValidator;
}

export interface ToolInvocation {
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** `mcp-param-*` that the caller sent, whether or not the tool knows them. */
  readonly paramHeaders?: HeaderValues;
  /** Of the server that is meant: one that was made anew under the same name is another. */
  readonly serverId?: string;
}

/**
 * The walk of a tool call: may they, does it exist, do the arguments fit, has its user approved it, with which
 * credential, over which connection, and what came back. Nothing is spent before the steps that can refuse for free.
 */
export function callTool(parts: CallParts, call: ToolInvocation, inbound: Inbound): Promise<CallOutcome> {
  const { server, tool, args } = call;
  return recordAudit(parts, inbound, { action: 'tool.call', server, tool, args }, (auditContext) =>
    executeCall(parts, call, inbound, auditContext),
  );
}

/** The same for whoever writes it down themselves. */
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
  let prepared: Promise<PreparedTarget> | undefined;
  const budget = createTokenRequestBudget();
  const obtain = (signal = inbound.signal) =>
    (prepared = prepareCredential(parts, server, { ...inbound, signal }, { budget }));
  const context = { parts, server, call, inbound, obtain, getPrepared: () => prepared ?? obtain() };
  try {
    const tool = peekTool(context) ?? (await findTool(context, { refresh: 'if-old' }));
    const approval = requireApproval(context, tool);
    if (approval) await approval;
    const target = await context.getPrepared();
    auditContext.isPrepared = true;
    return await sendCall(context, target, tool);
  } catch (error) {
    return toAuthRequired(error, server);
  }
}

/** One call on its way. */
interface ToolCallContext {
  readonly parts: CallParts;
  readonly server: AllowedServer;
  readonly call: ToolInvocation;
  readonly inbound: Inbound;
  /** What this caller presents: obtained when it is first needed, and anew for each listing. */
  readonly getPrepared: () => Promise<PreparedTarget>;
  readonly obtain: PrepareTarget;
}

/** The tool, when it is known and the arguments fit it: then nothing but the call itself is asked of the server. */
function peekTool(context: ToolCallContext): CatalogTool | undefined {
  const { parts, server, call, inbound } = context;
  const tool = parts.catalog.peek(server, ownerKey(server, inbound.principal))?.find(call.tool);
  return tool && isAvailable(context, tool) && !findArgumentErrors(context, tool) ? tool : undefined;
}

/** Not known, or not like this: it may be new there, it may have changed, or this may be the first call. */
async function findTool(context: ToolCallContext, options: LoadToolsOptions): Promise<CatalogTool> {
  const tool = (await loadToolList(context, options)).find(context.call.tool);
  if (!tool || !isAvailable(context, tool)) throw new GatewayError('MCP_TOOL_NOT_FOUND');
  const errors = findArgumentErrors(context, tool);
  if (errors) throw new GatewayError('MCP_ARGUMENTS_INVALID', { errors });
  return tool;
}

function isAvailable({ parts, server, inbound }: ToolCallContext, tool: CatalogTool): boolean {
  return isToolAvailable(parts.policy(), inbound.principal, server, tool);
}

/** Nothing is done for a call that its user has not approved, where the policy wants that. */
function requireApproval(
  { parts, server, call, inbound }: ToolCallContext,
  tool: CatalogTool,
): Promise<void> | undefined {
  const { principal, door } = inbound;
  if (decideTool(parts.policy(), principal, server, tool) !== 'ask') return undefined;
  // A program has nobody who could approve: for it such a tool is absent.
  if (principal.kind !== 'user') throw new GatewayError('MCP_TOOL_NOT_FOUND');
  return enforceApproval(parts, { principal, server, tool, args: call.args, door });
}

async function loadToolList(
  { parts, server, inbound, obtain }: ToolCallContext,
  options: LoadToolsOptions,
): Promise<ToolList> {
  try {
    return await loadTools(parts, server, obtain, inbound, options);
  } catch (error) {
    // What a server answers to a list is no answer of a tool: here it must not become a result.
    throw getSignInReason(error, server) === undefined ? toGatewayError(error, server.name) : error;
  }
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
      // What its arguments are mirrored into has changed since we last looked: look again, then once more.
      if (!isHeaderMismatch(error)) return undefined;
      const changedTool = await findTool(context, { refresh: true });
      // What was approved was the tool as it was.
      await requireApproval(context, changedTool);
      return toRequest(changedTool);
    });
  } catch (error) {
    const errorResult = toToolErrorResult(error, prepared);
    if (errorResult) return errorResult;
    throw error;
  }
}

/** What repeats an argument is written by us, from the arguments; what does not is for whoever knows it. */
function withoutMirrored({ mirror }: CatalogTool, paramHeaders: HeaderValues): HeaderValues {
  return mirror
    ? Object.fromEntries(Object.entries(paramHeaders).filter(([name]) => !mirror.headers.has(name)))
    : paramHeaders;
}

function isHeaderMismatch(error: unknown): boolean {
  return error instanceof UpstreamError && error.reason === 'header_mismatch' && !needsClientInput(error);
}
