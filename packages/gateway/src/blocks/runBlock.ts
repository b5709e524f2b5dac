import type { MissingParts } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { SubjectSource } from '../credentials/obo/subject.ts';
import type { UserVariables } from '../credentials/variables/userVariables.ts';
import type { CredentialVault } from '../credentials/vault/vault.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { Registry } from '../servers/registry.ts';
import { type AuditContext, recordAudit } from '../toolcall/audit.ts';
import { type CallParts, executeCall } from '../toolcall/callTool.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { ListToolsParts } from '../toolcall/list.ts';
import type { CallOutcome } from '../toolcall/outcome.ts';
import { type CatalogTool, ownerKey } from '../tools/catalog.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { collectSavedValues, findMissingInputs, gatherInputs } from './inputs.ts';
import { requireOutput } from './output.ts';
import { getCredentialReadiness, groupPrerequisites } from './readiness.ts';
import { type SavedCollection, type SavedParts, requireVersion } from './saved.ts';
import type { SavedBlock } from './store.ts';
import { requireBlockServer } from './view.ts';

/** The dependencies of blocks. */
export interface BlockParts extends SavedParts {
  readonly blocks: SavedCollection<SavedBlock>;
  readonly registry: Pick<Registry, 'get' | 'origin'>;
  readonly callParts: CallParts & ListToolsParts;
  readonly readinessParts: CredentialReadinessParts;
}

/** The state of the caller's credentials. Nothing of it opens or refreshes a token. */
export interface CredentialReadinessParts {
  readonly vault: Pick<CredentialVault, 'list'>;
  readonly variables: Pick<UserVariables, 'readSetFlags'>;
  readonly subjects: Pick<SubjectSource, 'checkSubject'>;
  readonly clock: Clock;
}

interface BlockRunCall {
  readonly id: string;
  /** Null if the block does not exist or is not visible to the caller. */
  readonly block: SavedBlock | null;
  readonly inputs: JsonObject;
  /** The label of one of the caller's credentials. */
  readonly credential?: string | undefined;
  /** The `If-Match` header: the version that the caller has read. */
  readonly ifMatch?: string | undefined;
}

/** The block as the caller sees it. Adapters need its server before the run. */
export async function findBlockToRun(
  { blocks }: BlockParts,
  principal: Principal,
  id: string,
): Promise<SavedBlock | null> {
  return (await blocks.find(principal, id))?.resource ?? null;
}

/**
 * Runs a block as the caller: with the caller's access and credential, never those of the author. All missing prerequisites
 * are reported together before the gateway opens, refreshes or sends anything. After that, the run is a normal call.
 */
export function runBlock(parts: BlockParts, request: BlockRunCall, inbound: Inbound): Promise<CallOutcome> {
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
  parts: BlockParts,
  request: BlockRunCall & { readonly block: SavedBlock },
  inbound: Inbound,
  auditContext: AuditContext,
): Promise<CallOutcome> {
  const { block } = request;
  const { principal } = inbound;
  // An editor of the block can change its fixed inputs. The caller runs, or approves, only the version that they read.
  requireVersion(request.ifMatch, block.version);
  const server = requireBlockServer(parts, principal, block);
  auditContext.server = server;
  const args = gatherInputs(block, request.inputs);

  /** Reads the cached tool and the stored credentials; contacts no server. */
  async function requireComplete(): Promise<{ credential: string | undefined }> {
    const inputSchema = findCachedTool(parts, server, principal, block)?.inputSchema ?? block.inputSchema;
    const readiness = await getCredentialReadiness(
      parts.readinessParts,
      server,
      principal,
      request.credential,
    );
    const prerequisites = readiness.missing.map((prerequisite) => ({
      block: block.id,
      server,
      prerequisite,
    }));
    const missing: MissingParts = {
      inputs: findMissingInputs(block.id, inputSchema, args),
      credentials: groupPrerequisites(parts, principal, prerequisites),
    };
    if (missing.inputs.length + missing.credentials.length > 0)
      throw new GatewayError('BLOCK_INCOMPLETE', { missing });
    // The call presents the credential that was checked, even if another one becomes the default in between.
    return { credential: readiness.selected ?? request.credential };
  }

  const { credential } = await requireComplete();
  const call = { server: server.name, serverId: server.id, tool: block.tool, args };
  let outcome: CallOutcome;
  try {
    outcome = await executeCall(parts.callParts, call, { ...inbound, credential }, auditContext);
  } catch (error) {
    // The call listed the tools, and the tool has changed since it was saved: new required inputs are missing.
    if (error instanceof GatewayError && error.code === 'MCP_ARGUMENTS_INVALID') await requireComplete();
    throw error;
  }
  if (outcome.kind !== 'result') return outcome;
  const identity = { serverId: server.id, toolName: block.tool };
  const tool = findCachedTool(parts, server, principal, block);
  requireOutput(parts.callParts.arguments, identity, tool?.outputSchema, outcome);
  return outcome;
}

/** The tool from the catalog cache. Does not contact the server. */
export function findCachedTool(
  { callParts }: BlockParts,
  server: ServerSnapshot,
  principal: Principal,
  block: SavedBlock,
): CatalogTool | undefined {
  return callParts.catalog.peek(server, ownerKey(server, principal))?.find(block.tool);
}
