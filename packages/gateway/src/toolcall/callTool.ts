import type { Diagnostic } from '@behalf/contracts';
import type { Catalog, CatalogTool, ToolList } from '../catalog/catalog.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Answer, Json } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { ask, enter, prepare, type AskParts } from './askServer.ts';
import type { Inbound } from './call.ts';
import type { Question } from './callUpstream.ts';
import type { Allowed } from './checkAccess.ts';
import { holderKey, isOffered, loadTools, type LoadOptions, type LoadParts } from './loadTools.ts';
import type { Ready } from './obtainCredential.ts';
import { mayRepeat } from './recoverFromRefusal.ts';
import { failedResult } from './rpcResult.ts';
import { reasonToSignIn, signInNeeded } from './signInNeeded.ts';
import { toGatewayError } from './toGatewayError.ts';
import type { ArgumentValidator } from './validateArguments.ts';

export interface CallParts extends AskParts, LoadParts {
  readonly catalog: Catalog;
  readonly arguments: ArgumentValidator;
}

export interface ToolCall {
  readonly server: string;
  readonly tool: string;
  readonly args: Json;
}

/**
 * The walk of a tool call: may they, does it exist, do the arguments fit, with which credential, over which
 * connection, and what came back. Nothing is spent before the steps that can refuse for free.
 */
export async function callTool(parts: CallParts, call: ToolCall, inbound: Inbound): Promise<Answer> {
  const server = enter(parts, inbound, call.server, 'MCP_TOOL_NOT_FOUND');
  let ready: Promise<Ready> | undefined;
  const walk = { parts, server, call, inbound, prepared: () => (ready ??= prepare(parts, server, inbound)) };
  try {
    const tool = peekTool(walk) ?? (await findTool(walk, { refresh: 'if-old' }));
    return await run(walk, await walk.prepared(), tool);
  } catch (error) {
    const reason = reasonToSignIn(error, server);
    if (reason !== undefined) return signInNeeded(server, reason);
    throw toGatewayError(error, server.name);
  }
}

/** One call on its way. */
interface Walk {
  readonly parts: CallParts;
  readonly server: Allowed;
  readonly call: ToolCall;
  readonly inbound: Inbound;
  /** What this caller presents: obtained when it is first needed, and once. */
  readonly prepared: () => Promise<Ready>;
}

/** The tool, when it is known and the arguments fit it: then nothing but the call itself is asked of the server. */
function peekTool(walk: Walk): CatalogTool | undefined {
  const { parts, server, call, inbound } = walk;
  const tool = parts.catalog.peek(server, holderKey(server, inbound.principal))?.find(call.tool);
  return tool && isOffered(server, tool) && !problemsOf(walk, tool) ? tool : undefined;
}

/** Not known, or not like this: it may be new there, it may have changed, or this may be the first call. */
async function findTool(walk: Walk, options: LoadOptions): Promise<CatalogTool> {
  const { server, call } = walk;
  const tool = (await listed(walk, options)).find(call.tool);
  if (!tool || !isOffered(server, tool)) throw new GatewayError('MCP_TOOL_NOT_FOUND');
  const errors = problemsOf(walk, tool);
  if (errors) throw new GatewayError('MCP_ARGUMENTS_INVALID', { errors });
  return tool;
}

async function listed({ parts, server, inbound, prepared }: Walk, options: LoadOptions): Promise<ToolList> {
  try {
    return await loadTools(parts, server, prepared, inbound, options);
  } catch (error) {
    // What a server answers to a list is no answer of a tool: here it must not become a result.
    throw reasonToSignIn(error, server) === undefined ? toGatewayError(error, server.name) : error;
  }
}

function problemsOf({ parts, server, call }: Walk, tool: CatalogTool): Diagnostic[] | null {
  return parts.arguments.validate({ serverId: server.id, toolName: tool.name }, tool.inputSchema, call.args);
}

async function run(walk: Walk, ready: Ready, tool: CatalogTool): Promise<Answer> {
  const { parts, server, call, inbound } = walk;
  const question = (current: CatalogTool): Question => ({
    method: 'tools/call',
    params: { name: current.name, arguments: call.args },
    mirrored: current.mirror?.(call.args),
  });
  try {
    return await ask(parts, ready, question(tool), inbound, async (error) => {
      if (mayRepeat(error, server, tool)) return question(tool);
      // What its arguments are mirrored into has changed since we last looked: look again, then once more.
      return isMismatch(error) ? question(await findTool(walk, { refresh: true })) : undefined;
    });
  } catch (error) {
    const failed = failedResult(error);
    if (failed) return failed;
    throw error;
  }
}

function isMismatch(error: unknown): boolean {
  return error instanceof UpstreamError && error.reason === 'header_mismatch';
}
