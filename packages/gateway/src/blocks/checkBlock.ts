import type { CheckedBlock, Diagnostic } from '@behalf/contracts';
import { withTimeout } from '@behalf/kernel';
import type { CatalogTool } from '../catalog/catalog.ts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { decideTool } from '../policy/decideTool.ts';
import { prepareCredential } from '../toolcall/sendToServer.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { checkAccess, type AllowedServer } from '../toolcall/checkAccess.ts';
import { loadTools } from '../toolcall/loadTools.ts';
import { connectPagePath, getSignInReason } from '../toolcall/signInRequirement.ts';
import { toGatewayError } from '../toolcall/toGatewayError.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import type { BlockCheckResult } from './checkBlocks.ts';
import { gatherInputs, findMissingInputs } from './gatherInputs.ts';
import type { RunBlockParts } from './parts.ts';
import { findCachedTool } from './runBlock.ts';
import { validateSavedInputs } from './savedInputs.ts';
import { findSchemaDrift } from './findSchemaDrift.ts';
import type { SavedBlock } from './sealedBlocks.ts';
import { describeBlockServer } from './blockServer.ts';
import {
  getCredentialReadiness,
  type Prerequisite,
  type CredentialReadiness,
} from './credentialReadiness.ts';

/** How long one server may take before the answer goes out without its tools. */
const LIST_TIMEOUT_MS = 5_000;

/** What a run would bring. */
export interface ProvidedInputs {
  readonly provided: JsonObject;
  /** The names of inputs whose values earlier steps will bring: they are not missing, and cannot be judged yet. */
  readonly deferred?: readonly string[];
}

/** One block, by the questions that its run would ask, in their order. */
export async function checkBlock(
  parts: RunBlockParts,
  inbound: Inbound,
  block: SavedBlock,
  { provided, deferred = [] }: ProvidedInputs,
): Promise<BlockCheckResult> {
  const { principal } = inbound;
  const { id, title, tool: toolName } = block;
  const identity = { id, title, tool: toolName, server: describeBlockServer(parts, principal, block) };
  const stopWith = (rest: Pick<CheckedBlock, 'state'> & Partial<CheckedBlock>): BlockCheckResult => ({
    view: { ...identity, ...rest, runs: false },
    ...{ inputs: [], prerequisites: [] },
  });
  const knownServer = parts.registry.get(principal.tenant, block.serverId);
  if (!knownServer) return stopWith({ state: 'server_gone', code: 'BLOCK_SERVER_GONE' });
  if (!parts.acl.canUse(principal, knownServer))
    return stopWith({ state: 'no_access', code: 'BLOCK_SERVER_FORBIDDEN' });
  const server = checkAccess(parts.callParts, principal, knownServer, 'BLOCK_SERVER_FORBIDDEN');

  let args: JsonObject;
  let readiness: CredentialReadiness;
  try {
    args = gatherInputs(block, provided);
    readiness = await getCredentialReadiness(parts.readinessParts, server, principal, inbound.credential);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, errors } = error;
    return stopWith({ state: 'broken', code, ...(errors && { errors: [...errors] }) });
  }

  const findMissing = ({ inputSchema }: Pick<SavedBlock, 'inputSchema'>) =>
    findMissingInputs(id, inputSchema, args).filter(({ name }) => !deferred.includes(name));
  const cachedTool = findCachedTool(parts, server, principal, block);
  const prerequisites: Prerequisite[] = [...readiness.missing];
  let tool = cachedTool;
  let failure: GatewayError | undefined;
  if (prerequisites.length === 0 && findMissing(cachedTool ?? block).length === 0) {
    const lookup = await lookUpTool(
      parts,
      server,
      { ...inbound, credential: readiness.selected ?? undefined },
      block,
    );
    if (lookup.kind === 'tools') tool = lookup.tool;
    else if (lookup.kind === 'sign_in') prerequisites.push(lookup.prerequisite);
    else failure = lookup.failure;
    if (lookup.kind === 'tools' && !(tool && isAvailableToCaller(parts, inbound, server, tool))) {
      return stopWith({ state: 'tool_gone', code: 'MCP_TOOL_NOT_FOUND' });
    }
  }

  const inputs = findMissing(tool ?? block);
  const isWaiting = inputs.length > 0 || prerequisites.length > 0;
  const isPartial = isWaiting || deferred.length > 0;
  const errors = tool && findProblems(parts, server, block, tool, { args, isPartial });
  const state = errors ? 'broken' : isWaiting ? 'incomplete' : failure ? 'unknown' : 'ready';
  const drift = tool && findDrift(block, tool);
  const { choices, selected, mayGoWithout } = readiness;
  return {
    view: {
      ...identity,
      state,
      runs: state === 'ready',
      ...(state === 'unknown' && failure && { code: failure.code }),
      ...(errors && { errors }),
      ...(drift && { drift }),
      credentials: { choices: [...choices], selected, mayGoWithout },
    },
    inputs,
    prerequisites: prerequisites.map((prerequisite) => ({ block: id, server, prerequisite })),
  };
}

type ToolLookup =
  | { readonly kind: 'tools'; readonly tool: CatalogTool | undefined }
  | { readonly kind: 'sign_in'; readonly prerequisite: Prerequisite }
  | { readonly kind: 'failed'; readonly failure: GatewayError };

/** The list of tools, asked for only when it is not known or was for too long. */
async function lookUpTool(
  { callParts }: RunBlockParts,
  server: AllowedServer,
  inbound: Inbound,
  block: SavedBlock,
): Promise<ToolLookup> {
  const budget = createTokenRequestBudget();
  const obtain = (signal = inbound.signal) =>
    prepareCredential(callParts, server, { ...inbound, signal }, { budget });
  try {
    const list = await withTimeout(
      callParts.clock,
      LIST_TIMEOUT_MS,
      loadTools(callParts, server, obtain, inbound),
      () => {
        throw new UpstreamError('connect_timeout');
      },
    );
    return { kind: 'tools', tool: list.find(block.tool) };
  } catch (error) {
    if (inbound.signal.aborted) throw error;
    const reason = getSignInReason(error, server);
    if (reason !== undefined) {
      const { name, settings } = server;
      const serverFields = {
        server: name,
        title: settings.title ?? name,
        connectUrl: connectPagePath(server),
      };
      return { kind: 'sign_in', prerequisite: { kind: 'sign_in', ...serverFields, reason } };
    }
    const failure = toGatewayError(error, server.name);
    if (failure instanceof GatewayError) return { kind: 'failed', failure };
    throw failure;
  }
}

function isAvailableToCaller(
  { callParts }: RunBlockParts,
  { principal }: Inbound,
  server: AllowedServer,
  tool: CatalogTool,
) {
  const decision = decideTool(callParts.policy(), principal, server, tool);
  // A program has nobody who could approve.
  return decision !== 'absent' && (decision !== 'ask' || principal.kind === 'user');
}

/** Whether what is saved, and what was given besides, still fits the tool. */
function findProblems(
  { callParts }: RunBlockParts,
  server: AllowedServer,
  block: SavedBlock,
  tool: CatalogTool,
  { args, isPartial }: { readonly args: JsonObject; readonly isPartial: boolean },
): Diagnostic[] | undefined {
  const identity = { serverId: server.id, toolName: tool.name };
  const savedErrors = validateSavedInputs(callParts.arguments, identity, tool.inputSchema, block.inputs);
  const argumentErrors = isPartial ? null : callParts.arguments.validate(identity, tool.inputSchema, args);
  return savedErrors ?? argumentErrors ?? undefined;
}

function findDrift(block: SavedBlock, tool: CatalogTool): CheckedBlock['drift'] {
  const input = findSchemaDrift(block.inputSchema, tool.inputSchema);
  const output = findSchemaDrift(block.outputSchema, tool.outputSchema);
  return input || output ? { ...(input && { input }), ...(output && { output }) } : undefined;
}
