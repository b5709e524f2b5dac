import type { Diagnostic } from '@behalf/contracts';
import type { Catalog, CatalogTool, ToolList } from '../catalog/catalog.ts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { enforceApproval, type EnforceParts } from '../policy/enforceApproval.ts';
import { toolOffered, toolVerdict, type PolicyParts } from '../policy/toolOffered.ts';
import type { UpstreamResponse, HeaderValues, JsonObject } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { ask, enter, prepare, type AskParts } from './askServer.ts';
import type { Inbound } from './call.ts';
import type { Question } from './callUpstream.ts';
import type { Allowed } from './checkAccess.ts';
import { holderKey, loadTools, type LoadOptions, type LoadParts, type Obtain } from './loadTools.ts';
import type { Ready } from './obtainCredential.ts';
import { recordAudit, requireRoom, type AuditParts, type Trail } from './recordAudit.ts';
import { mayRepeat } from './recoverFromRefusal.ts';
import { wantsDialogue } from './dialogue.ts';
import { failedResult } from './rpcResult.ts';
import { reasonToSignIn, signInNeeded, signInResult } from './signInNeeded.ts';
import { toGatewayError } from './toGatewayError.ts';
import type { ArgumentValidator } from './validateArguments.ts';

export interface CallParts extends AskParts, LoadParts, AuditParts, PolicyParts, EnforceParts {
  readonly catalog: Catalog;
  readonly arguments: ArgumentValidator;
}

export interface ToolCall {
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** `mcp-param-*` that the caller sent, whether or not the tool knows them. */
  readonly params?: HeaderValues;
  /** Of the server that is meant: one that was made anew under the same name is another. */
  readonly serverId?: string;
}

/**
 * The walk of a tool call: may they, does it exist, do the arguments fit, has its user approved it, with which
 * credential, over which connection, and what came back. Nothing is spent before the steps that can refuse for free.
 */
export function callTool(parts: CallParts, call: ToolCall, inbound: Inbound): Promise<UpstreamResponse> {
  const { server, tool, args } = call;
  return recordAudit(parts, inbound, { action: 'tool.call', server, tool, args }, (trail) =>
    walkTo(parts, call, inbound, trail),
  );
}

/** The same for whoever writes it down themselves. */
export async function walkTo(
  parts: CallParts,
  call: ToolCall,
  inbound: Inbound,
  trail: Trail,
): Promise<UpstreamResponse> {
  const server = enter(parts, inbound, call.server, 'MCP_TOOL_NOT_FOUND');
  if (call.serverId !== undefined && server.id !== call.serverId)
    throw new GatewayError('MCP_TOOL_NOT_FOUND');
  trail.server = server;
  requireRoom(parts, server, trail);
  let ready: Promise<Ready> | undefined;
  const purse = createTokenRequestBudget();
  const obtain = (signal = inbound.signal) =>
    (ready = prepare(parts, server, { ...inbound, signal }, { purse }));
  const walk = { parts, server, call, inbound, obtain, prepared: () => ready ?? obtain() };
  try {
    const tool = peekTool(walk) ?? (await findTool(walk, { refresh: 'if-old' }));
    const asking = askFirst(walk, tool);
    if (asking) await asking;
    const presented = await walk.prepared();
    trail.isPrepared = true;
    return await run(walk, presented, tool);
  } catch (error) {
    const needed = signInNeeded(error, server);
    if (!needed) throw toGatewayError(error, server.name);
    trail.refused = needed.code;
    if (needed.refusal) throw needed.refusal;
    return signInResult(needed);
  }
}

/** One call on its way. */
interface Walk {
  readonly parts: CallParts;
  readonly server: Allowed;
  readonly call: ToolCall;
  readonly inbound: Inbound;
  /** What this caller presents: obtained when it is first needed, and anew for each listing. */
  readonly prepared: () => Promise<Ready>;
  readonly obtain: Obtain;
}

/** The tool, when it is known and the arguments fit it: then nothing but the call itself is asked of the server. */
function peekTool(walk: Walk): CatalogTool | undefined {
  const { parts, server, call, inbound } = walk;
  const tool = parts.catalog.peek(server, holderKey(server, inbound.principal))?.find(call.tool);
  return tool && isOffered(walk, tool) && !problemsOf(walk, tool) ? tool : undefined;
}

/** Not known, or not like this: it may be new there, it may have changed, or this may be the first call. */
async function findTool(walk: Walk, options: LoadOptions): Promise<CatalogTool> {
  const tool = (await listed(walk, options)).find(walk.call.tool);
  if (!tool || !isOffered(walk, tool)) throw new GatewayError('MCP_TOOL_NOT_FOUND');
  const errors = problemsOf(walk, tool);
  if (errors) throw new GatewayError('MCP_ARGUMENTS_INVALID', { errors });
  return tool;
}

function isOffered({ parts, server, inbound }: Walk, tool: CatalogTool): boolean {
  return toolOffered(parts.policy(), inbound.principal, server, tool);
}

/** Nothing is done for a call that its user has not approved, where the policy wants that. */
function askFirst({ parts, server, call, inbound }: Walk, tool: CatalogTool): Promise<void> | undefined {
  const { principal, door } = inbound;
  if (toolVerdict(parts.policy(), principal, server, tool) !== 'ask') return undefined;
  // A program has nobody who could approve: for it such a tool is absent.
  if (principal.kind !== 'user') throw new GatewayError('MCP_TOOL_NOT_FOUND');
  return enforceApproval(parts, { principal, server, tool, args: call.args, door });
}

async function listed({ parts, server, inbound, obtain }: Walk, options: LoadOptions): Promise<ToolList> {
  try {
    return await loadTools(parts, server, obtain, inbound, options);
  } catch (error) {
    // What a server answers to a list is no answer of a tool: here it must not become a result.
    throw reasonToSignIn(error, server) === undefined ? toGatewayError(error, server.name) : error;
  }
}

function problemsOf({ parts, server, call }: Walk, tool: CatalogTool): Diagnostic[] | null {
  return parts.arguments.validate({ serverId: server.id, toolName: tool.name }, tool.inputSchema, call.args);
}

async function run(walk: Walk, ready: Ready, tool: CatalogTool): Promise<UpstreamResponse> {
  const { parts, server, call, inbound } = walk;
  const question = (current: CatalogTool): Question => ({
    method: 'tools/call',
    params: { name: current.name, arguments: call.args },
    mirrored: current.mirror?.(call.args),
    passed: call.params && unknownTo(current, call.params),
  });
  try {
    return await ask(parts, ready, question(tool), inbound, async (error) => {
      if (mayRepeat(error, server, tool)) return question(tool);
      // What its arguments are mirrored into has changed since we last looked: look again, then once more.
      if (!isMismatch(error)) return undefined;
      const changed = await findTool(walk, { refresh: true });
      // What was approved was the tool as it was.
      await askFirst(walk, changed);
      return question(changed);
    });
  } catch (error) {
    const failed = failedResult(error, ready);
    if (failed) return failed;
    throw error;
  }
}

/** What repeats an argument is written by us, from the arguments; what does not is for whoever knows it. */
function unknownTo({ mirror }: CatalogTool, params: HeaderValues): HeaderValues {
  return mirror
    ? Object.fromEntries(Object.entries(params).filter(([name]) => !mirror.headers.has(name)))
    : params;
}

function isMismatch(error: unknown): boolean {
  return error instanceof UpstreamError && error.reason === 'header_mismatch' && !wantsDialogue(error);
}
