import type { MissingParts } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { Acl } from '../access/acl.ts';
import type { SubjectSource } from '../credentials/obo/subject.ts';
import type { UserVariables } from '../credentials/variables/userVariables.ts';
import type { CredentialVault } from '../credentials/vault/vault.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../servers/definition.ts';
import type { Registry } from '../servers/registry.ts';
import { type AuditContext, recordAudit } from '../toolcall/audit.ts';
import { type CallParts, executeCall } from '../toolcall/callTool.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { type ListToolsParts, ownerKey } from '../toolcall/list.ts';
import type { CallOutcome } from '../toolcall/outcome.ts';
import type { CatalogTool } from '../tools/catalog.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { collectSavedValues, findMissingInputs, gatherInputs } from './inputs.ts';
import { requireOutput } from './output.ts';
import { getCredentialReadiness, groupPrerequisites } from './readiness.ts';
import { findVisibleSaved, requireVersion } from './saved.ts';
import {
  type ReadSavedParts,
  type SavedBlock,
  type SavedBlocks,
  type WriteSavedParts,
  getBlockCollection,
} from './store.ts';
import { requireBlockServer } from './view.ts';

/** What reading about blocks needs. */
export interface ReadBlockParts extends ReadSavedParts {
  readonly blocks: SavedBlocks;
  readonly acl: Pick<Acl, 'canUse' | 'getSavedBits' | 'listSavedBits'>;
  readonly registry: Pick<Registry, 'get'>;
}

/** What saving and sharing them needs. */
export interface SaveBlockParts extends Omit<ReadBlockParts, 'acl' | 'roles'>, WriteSavedParts {
  /** How the caller's tools are listed, and values checked against a schema. */
  readonly callParts: CallParts & ListToolsParts;
}

/** How it stands with the caller's own credentials, without opening or renewing any. */
export interface CredentialReadinessParts {
  readonly vault: Pick<CredentialVault, 'list'>;
  readonly variables: Pick<UserVariables, 'readSetFlags'>;
  /** Whether the caller has a sign-in of their own that could be exchanged. */
  readonly subjects: Pick<SubjectSource, 'checkSubject'>;
  readonly clock: Clock;
}

/** What running and checking them needs. */
export interface RunBlockParts extends ReadBlockParts {
  readonly acl: Pick<Acl, 'canUse' | 'getSavedBits' | 'listSavedBits' | 'getManageBits'>;
  readonly registry: Pick<Registry, 'get' | 'origin'>;
  readonly callParts: CallParts & ListToolsParts;
  readonly readinessParts: CredentialReadinessParts;
}

interface BlockRunCall {
  readonly id: string;
  /** As the caller sees it; null: there is none for them. */
  readonly block: SavedBlock | null;
  readonly inputs: JsonObject;
  /** The label of one of the runner's own credentials. */
  readonly credential?: string | undefined;
  /** The `If-Match` of the request: the version whose inputs the runner has seen. */
  readonly ifMatch?: string | undefined;
}

/** The block that somebody wants to run, for those who have to know of it before it runs. */
export async function findBlockToRun(
  parts: RunBlockParts,
  principal: Principal,
  id: string,
): Promise<SavedBlock | null> {
  return (await findVisibleSaved(parts, getBlockCollection(parts), principal, id))?.resource ?? null;
}

/**
 * Runs a block as the caller: with the caller's access and credential, never those of the author. All missing prerequisites
 * are reported together before the gateway opens, renews or sends anything. After that, the run is a normal call.
 */
export function runBlock(
  parts: RunBlockParts,
  request: BlockRunCall,
  inbound: Inbound,
): Promise<CallOutcome> {
  const { block } = request;
  const auditedRequest = {
    action: 'tool.call',
    subject: request.id,
    server: block?.serverName,
    tool: block?.tool,
    args: block ? { ...collectSavedValues(block.inputs), ...request.inputs } : request.inputs,
  } as const;
  return recordAudit(parts.callParts, inbound, auditedRequest, async (auditContext) => {
    if (!block) throw new GatewayError('BLOCK_NOT_FOUND');
    return executeBlock(parts, { ...request, block }, inbound, auditContext);
  });
}

async function executeBlock(
  parts: RunBlockParts,
  request: BlockRunCall & { readonly block: SavedBlock },
  inbound: Inbound,
  auditContext: AuditContext,
): Promise<CallOutcome> {
  const { block } = request;
  const { principal } = inbound;
  // Whoever may edit it decides what it fixes: who read one version does not run, or approve, another.
  requireVersion(request.ifMatch, block.version);
  const server = requireBlockServer(parts, principal, block);
  auditContext.server = server;
  const args = gatherInputs(block, request.inputs);
  const { credential, missing } = await findMissing(parts, request, server, args, principal);
  if (hasMissing(missing)) throw createIncompleteError(missing);
  const call = { server: server.name, serverId: server.id, tool: block.tool, args };
  let outcome: CallOutcome;
  try {
    outcome = await executeCall(parts.callParts, call, { ...inbound, credential }, auditContext);
  } catch (error) {
    throw await explainError(error);
  }
  if (outcome.kind !== 'result') return outcome;
  const identity = { serverId: server.id, toolName: block.tool };
  const tool = findCachedTool(parts, server, principal, block);
  requireOutput(parts.callParts.arguments, identity, tool?.outputSchema, outcome);
  return outcome;

  /** The tool wants something else than when it was saved, which was found out on the way: it is missing like the rest. */
  async function explainError(error: unknown): Promise<unknown> {
    if (!(error instanceof GatewayError) || error.code !== 'MCP_ARGUMENTS_INVALID') return error;
    const current = await findMissing(parts, request, server, args, principal);
    return hasMissing(current.missing) ? createIncompleteError(current.missing) : error;
  }
}

/** Both kinds of missing things, from what is known here. */
async function findMissing(
  parts: RunBlockParts,
  request: BlockRunCall & { readonly block: SavedBlock },
  server: ServerSnapshot,
  args: JsonObject,
  principal: Principal,
): Promise<{ credential: string | undefined; missing: MissingParts }> {
  const { block } = request;
  const inputSchema = findCachedTool(parts, server, principal, block)?.inputSchema ?? block.inputSchema;
  const readiness = await getCredentialReadiness(parts.readinessParts, server, principal, request.credential);
  const prerequisites = readiness.missing.map((prerequisite) => ({ block: block.id, server, prerequisite }));
  return {
    // What was looked at is what is presented, also when another one becomes the default meanwhile.
    credential: readiness.selected ?? request.credential,
    missing: {
      inputs: findMissingInputs(block.id, inputSchema, args),
      credentials: groupPrerequisites(parts, principal, prerequisites),
    },
  };
}

/** As it was last seen; asks nobody. */
export function findCachedTool(
  { callParts }: Pick<RunBlockParts, 'callParts'>,
  server: ServerSnapshot,
  principal: Principal,
  block: SavedBlock,
): CatalogTool | undefined {
  return callParts.catalog.peek(server, ownerKey(server, principal))?.find(block.tool);
}

function hasMissing({ inputs, credentials }: MissingParts): boolean {
  return inputs.length > 0 || credentials.length > 0;
}

function createIncompleteError(missing: MissingParts): GatewayError {
  return new GatewayError('BLOCK_INCOMPLETE', { missing });
}
