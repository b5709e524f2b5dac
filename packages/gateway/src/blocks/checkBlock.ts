import type { CheckedBlock, Diagnostic } from '@behalf/contracts';
import { within } from '@behalf/kernel';
import type { CatalogTool } from '../catalog/catalog.ts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { decideTool } from '../policy/decideTool.ts';
import { prepareCredential } from '../toolcall/sendToServer.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { checkAccess, type Allowed } from '../toolcall/checkAccess.ts';
import { loadTools } from '../toolcall/loadTools.ts';
import { connectPagePath, getSignInReason } from '../toolcall/signInRequirement.ts';
import { toGatewayError } from '../toolcall/toGatewayError.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import type { Checked } from './checkBlocks.ts';
import { gatherInputs, missingInputs } from './gatherInputs.ts';
import type { RunBlockParts } from './parts.ts';
import { knownTool } from './runBlock.ts';
import { savedProblems } from './savedInputs.ts';
import { schemaDrift } from './schemaDrift.ts';
import type { Block } from './sealedBlocks.ts';
import { serverOf } from './serverOf.ts';
import { standingOf, type Need, type Standing } from './standing.ts';

/** How long one server may take before the answer goes out without its tools. */
const PATIENCE_MS = 5_000;

/** What a run would bring. */
export interface Brought {
  readonly given: JsonObject;
  /** The names of inputs whose values earlier steps will bring: they are not missing, and cannot be judged yet. */
  readonly promised?: readonly string[];
}

/** One block, by the questions that its run would ask, in their order. */
export async function checkBlock(
  parts: RunBlockParts,
  inbound: Inbound,
  block: Block,
  { given, promised = [] }: Brought,
): Promise<Checked> {
  const { principal } = inbound;
  const { id, title, tool: toolName } = block;
  const known = { id, title, tool: toolName, server: serverOf(parts, principal, block) };
  const ended = (rest: Pick<CheckedBlock, 'state'> & Partial<CheckedBlock>): Checked => ({
    shown: { ...known, ...rest, runs: false },
    ...{ inputs: [], waiting: [] },
  });
  const found = parts.registry.get(principal.tenant, block.serverId);
  if (!found) return ended({ state: 'server_gone', code: 'BLOCK_SERVER_GONE' });
  if (!parts.acl.sees(principal, found)) return ended({ state: 'no_access', code: 'BLOCK_SERVER_FORBIDDEN' });
  const server = checkAccess(parts.asking, principal, found, 'BLOCK_SERVER_FORBIDDEN');

  let args: JsonObject;
  let standing: Standing;
  try {
    args = gatherInputs(block, given);
    standing = await standingOf(parts.standing, server, principal, inbound.credential);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, errors } = error;
    return ended({ state: 'broken', code, ...(errors && { errors: [...errors] }) });
  }

  const missing = ({ inputSchema }: Pick<Block, 'inputSchema'>) =>
    missingInputs(id, inputSchema, args).filter(({ name }) => !promised.includes(name));
  const before = knownTool(parts, server, principal, block);
  const needs: Need[] = [...standing.needs];
  let tool = before;
  let failure: GatewayError | undefined;
  if (needs.length === 0 && missing(before ?? block).length === 0) {
    const looked = await lookAt(
      parts,
      server,
      { ...inbound, credential: standing.selected ?? undefined },
      block,
    );
    if (looked.kind === 'tools') tool = looked.tool;
    else if (looked.kind === 'sign_in') needs.push(looked.need);
    else failure = looked.failure;
    if (looked.kind === 'tools' && !(tool && isOffered(parts, inbound, server, tool))) {
      return ended({ state: 'tool_gone', code: 'MCP_TOOL_NOT_FOUND' });
    }
  }

  const inputs = missing(tool ?? block);
  const isWaiting = inputs.length > 0 || needs.length > 0;
  const isPartial = isWaiting || promised.length > 0;
  const errors = tool && problemsOf(parts, server, block, tool, { args, isPartial });
  const state = errors ? 'broken' : isWaiting ? 'incomplete' : failure ? 'unknown' : 'ready';
  const drift = tool && driftOf(block, tool);
  const { choices, selected, mayGoWithout } = standing;
  return {
    shown: {
      ...known,
      state,
      runs: state === 'ready',
      ...(state === 'unknown' && failure && { code: failure.code }),
      ...(errors && { errors }),
      ...(drift && { drift }),
      credentials: { choices: [...choices], selected, mayGoWithout },
    },
    inputs,
    waiting: needs.map((need) => ({ block: id, server, need })),
  };
}

type Looked =
  | { readonly kind: 'tools'; readonly tool: CatalogTool | undefined }
  | { readonly kind: 'sign_in'; readonly need: Need }
  | { readonly kind: 'failed'; readonly failure: GatewayError };

/** The list of tools, asked for only when it is not known or was for too long. */
async function lookAt(
  { asking }: RunBlockParts,
  server: Allowed,
  inbound: Inbound,
  block: Block,
): Promise<Looked> {
  const purse = createTokenRequestBudget();
  const obtain = (signal = inbound.signal) =>
    prepareCredential(asking, server, { ...inbound, signal }, { budget: purse });
  try {
    const list = await within(asking.clock, PATIENCE_MS, loadTools(asking, server, obtain, inbound), () => {
      throw new UpstreamError('connect_timeout');
    });
    return { kind: 'tools', tool: list.find(block.tool) };
  } catch (error) {
    if (inbound.signal.aborted) throw error;
    const reason = getSignInReason(error, server);
    if (reason !== undefined) {
      const { name, settings } = server;
      const about = { server: name, title: settings.title ?? name, connectUrl: connectPagePath(server) };
      return { kind: 'sign_in', need: { kind: 'sign_in', ...about, reason } };
    }
    const failure = toGatewayError(error, server.name);
    if (failure instanceof GatewayError) return { kind: 'failed', failure };
    throw failure;
  }
}

function isOffered({ asking }: RunBlockParts, { principal }: Inbound, server: Allowed, tool: CatalogTool) {
  const verdict = decideTool(asking.policy(), principal, server, tool);
  // A program has nobody who could approve.
  return verdict !== 'absent' && (verdict !== 'ask' || principal.kind === 'user');
}

/** Whether what is saved, and what was given besides, still fits the tool. */
function problemsOf(
  { asking }: RunBlockParts,
  server: Allowed,
  block: Block,
  tool: CatalogTool,
  { args, isPartial }: { readonly args: JsonObject; readonly isPartial: boolean },
): Diagnostic[] | undefined {
  const identity = { serverId: server.id, toolName: tool.name };
  const saved = savedProblems(asking.arguments, identity, tool.inputSchema, block.inputs);
  const all = isPartial ? null : asking.arguments.validate(identity, tool.inputSchema, args);
  return saved ?? all ?? undefined;
}

function driftOf(block: Block, tool: CatalogTool): CheckedBlock['drift'] {
  const input = schemaDrift(block.inputSchema, tool.inputSchema);
  const output = schemaDrift(block.outputSchema, tool.outputSchema);
  return input || output ? { ...(input && { input }), ...(output && { output }) } : undefined;
}
