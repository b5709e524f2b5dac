import type { MissingParts } from '@behalf/contracts';
import type { CatalogTool } from '../catalog/catalog.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { seeSaved } from '../saved/findSaved.ts';
import { requireVersion } from '../saved/writeSaved.ts';
import { executeCall } from '../toolcall/callTool.ts';
import { ownerKey } from '../toolcall/loadTools.ts';
import { recordAudit, type AuditContext } from '../toolcall/recordAudit.ts';
import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';
import { gatherInputs, missingInputs } from './gatherInputs.ts';
import { groupNeeds } from './groupNeeds.ts';
import type { RunBlockParts } from './parts.ts';
import { requireOutput } from './requireOutput.ts';
import { savedValues } from './savedInputs.ts';
import { blockShelf, type Block } from './sealedBlocks.ts';
import { requireServer } from './serverOf.ts';
import { standingOf } from './standing.ts';

export interface BlockRun {
  readonly id: string;
  /** As the caller sees it; null: there is none for them. */
  readonly block: Block | null;
  readonly inputs: JsonObject;
  /** The label of one of the runner's own credentials. */
  readonly credential?: string | undefined;
  /** The `If-Match` of the request: the version whose inputs the runner has seen. */
  readonly ifMatch?: string | undefined;
}

/** The block that somebody wants to run, for those who have to know of it before it runs. */
export async function blockToRun(
  parts: RunBlockParts,
  principal: Principal,
  id: string,
): Promise<Block | null> {
  return (await seeSaved(parts, blockShelf(parts), principal, id))?.thing ?? null;
}

/**
 * Runs a block as whoever asks for it: with their access and their credential, never those of who made or shared it. What is
 * missing is named together before anything is opened, renewed or sent; then it is a call like any other.
 */
export async function runBlock(
  parts: RunBlockParts,
  run: BlockRun,
  inbound: Inbound,
): Promise<UpstreamResponse> {
  return (await runStep(parts, run, inbound)).answer;
}

export interface Ran {
  readonly answer: UpstreamResponse;
  /** Nothing was asked of the server: the answer is our own, and says what its user has to do first. */
  readonly isRefused: boolean;
}

/** The same for who has to tell our own words from those of a server. */
export async function runStep(parts: RunBlockParts, run: BlockRun, inbound: Inbound): Promise<Ran> {
  const { block } = run;
  let isRefused = false;
  const asked = {
    action: 'tool.call',
    subject: run.id,
    server: block?.serverName,
    tool: block?.tool,
    args: block ? { ...savedValues(block.inputs), ...run.inputs } : run.inputs,
  } as const;
  const answer = await recordAudit(parts.asking, inbound, asked, async (trail) => {
    if (!block) throw new GatewayError('BLOCK_NOT_FOUND');
    const result = await walk(parts, { ...run, block }, inbound, trail);
    isRefused = trail.refusalCode !== undefined;
    return result;
  });
  return { answer, isRefused };
}

async function walk(
  parts: RunBlockParts,
  run: BlockRun & { readonly block: Block },
  inbound: Inbound,
  trail: AuditContext,
): Promise<UpstreamResponse> {
  const { block } = run;
  const { principal } = inbound;
  // Whoever may edit it decides what it fixes: who read one version does not run, or approve, another.
  requireVersion(run.ifMatch, block.version);
  const server = requireServer(parts, principal, block);
  trail.server = server;
  const args = gatherInputs(block, run.inputs);
  const { credential, missing } = await lookAround(parts, run, server, args, principal);
  if (isMissing(missing)) throw incomplete(missing);
  const call = { server: server.name, serverId: server.id, tool: block.tool, args };
  let answer: UpstreamResponse;
  try {
    answer = await executeCall(parts.asking, call, { ...inbound, credential }, trail);
  } catch (error) {
    throw await explained(error);
  }
  const identity = { serverId: server.id, toolName: block.tool };
  const tool = knownTool(parts, server, principal, block);
  requireOutput(parts.asking.arguments, identity, tool?.outputSchema, answer);
  return answer;

  /** The tool wants something else than when it was saved, which was found out on the way: it is missing like the rest. */
  async function explained(error: unknown): Promise<unknown> {
    if (!(error instanceof GatewayError) || error.code !== 'MCP_ARGUMENTS_INVALID') return error;
    const now = await lookAround(parts, run, server, args, principal);
    return isMissing(now.missing) ? incomplete(now.missing) : error;
  }
}

/** Both kinds of missing things, from what is known here. */
async function lookAround(
  parts: RunBlockParts,
  run: BlockRun & { readonly block: Block },
  server: ServerSnapshot,
  args: JsonObject,
  principal: Principal,
): Promise<{ credential: string | undefined; missing: MissingParts }> {
  const { block } = run;
  const schema = knownTool(parts, server, principal, block)?.inputSchema ?? block.inputSchema;
  const standing = await standingOf(parts.standing, server, principal, run.credential);
  const waiting = standing.needs.map((need) => ({ block: block.id, server, need }));
  return {
    // What was looked at is what is presented, also when another one becomes the default meanwhile.
    credential: standing.selected ?? run.credential,
    missing: {
      inputs: missingInputs(block.id, schema, args),
      credentials: groupNeeds(parts, principal, waiting),
    },
  };
}

/** As it was last seen; asks nobody. */
export function knownTool(
  { asking }: Pick<RunBlockParts, 'asking'>,
  server: ServerSnapshot,
  principal: Principal,
  block: Block,
): CatalogTool | undefined {
  return asking.catalog.peek(server, ownerKey(server, principal))?.find(block.tool);
}

export function isMissing({ inputs, credentials }: MissingParts): boolean {
  return inputs.length > 0 || credentials.length > 0;
}

function incomplete(missing: MissingParts): GatewayError {
  return new GatewayError('BLOCK_INCOMPLETE', { missing });
}
